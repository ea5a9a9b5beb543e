"""One life of a session in a process of its own, with a server in this one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gh_tui.chaos.life import flags_for
from gh_tui.chaos.oracle import Sent, sent_in
from gh_tui.chaos.stage import Stage
from gh_tui.errors import GhError
from gh_tui.events.codec import from_line
from gh_tui.events.envelope import Envelope
from gh_tui.providers.local.process import child_environment
from gh_tui.providers.scripted import ScriptedServer

_START_SECONDS = 60.0
_LINE = 1 << 24


class ProcessLife:
    """From `run` or `resume` to a kill or the end."""

    def __init__(
        self, stage: Stage, home: Path, session: str | None, told: Callable[[Envelope], None]
    ) -> None:
        self.server = ScriptedServer(
            lambda body, number: stage.reply(), alternating=stage.plan.alternating
        )
        self.log: list[Sent] = []
        """What the server saw, once it is over."""
        self._stage = stage
        self._home = home
        self._session = session
        self._told = told
        self._opened = asyncio.Event()
        self._heard_at = asyncio.get_running_loop().time()
        self._complaint = bytearray()
        self._process: asyncio.subprocess.Process
        self._readers: list[asyncio.Task[None]] = []
        self._over = False

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.returncode is not None

    @property
    def complaint(self) -> str:
        """The end of what it wrote on stderr."""
        return self._complaint[-2000:].decode("utf-8", "replace")

    @property
    def seconds_quiet(self) -> float:
        """Since its last line."""
        return asyncio.get_running_loop().time() - self._heard_at

    async def start(self) -> None:
        """Start the process; returns when the session is open.

        Raises:
            GhError: it did not open; with what it wrote on stderr.
        """
        await self.server.start()
        workspace = self._home / "workspace"
        workspace.mkdir(exist_ok=True)
        words = ["run"] if self._session is None else ["resume", self._session]
        for flag in flags_for(self._stage, self.server):
            words += ["--set", flag]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gh_tui.cli",
            *words,
            "--json",
            "--workspace",
            str(workspace),
            env={**child_environment(), "GH_TUI_HOME": str(self._home)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LINE,
        )
        self._readers = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._opened.wait(), _START_SECONDS)
        if self.ended and not self._over:
            await self.kill()
            raise GhError(f"the program did not start: {self.complaint}")

    async def say(self, kind: str, text: str) -> None:
        """Give it an input."""
        await self.send({"type": kind, "text": text})

    async def send(self, command: dict[str, Any]) -> None:
        """Write one command; one that comes too late is lost, as a typed key would be."""
        stdin = self._process.stdin
        if stdin is None or self.ended:
            return
        with contextlib.suppress(OSError):
            stdin.write(json.dumps(command).encode() + b"\n")
            await stdin.drain()
            self._heard_at = asyncio.get_running_loop().time()

    def shoot(self) -> None:
        """SIGKILL, and the log of the server as it is in this instant."""
        if self._over:
            return
        self._over = True
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self.log = sent_in(self.server.requests)

    async def kill(self) -> None:
        """Kill it if it lives, hear what it had said, and close the server."""
        self.shoot()
        await self._gone()

    async def stop(self) -> None:
        """Let it end by itself: no more commands will come."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        self._over = True
        self.log = sent_in(self.server.requests)
        await self._gone()

    async def _gone(self) -> None:
        await self._process.wait()
        await asyncio.gather(*self._readers)
        await self.server.aclose()

    async def _read(self) -> None:
        """Every line that it wrote counts, also those that are read after its end."""
        stdout = self._process.stdout
        while stdout is not None and (line := await stdout.readline()):
            if line.endswith(b"\n"):
                self._heard_at = asyncio.get_running_loop().time()
                self._told(from_line(line))
                self._opened.set()
        self._opened.set()

    async def _listen(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (line := await stderr.readline()):
            self._complaint += line
