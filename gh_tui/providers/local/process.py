"""The parent's side of the model process: start it, know how it ended, stop it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gh_tui.errors import ProviderUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_CHILD: Final = Path(__file__).with_name("child.py")
_LOG_LINES: Final = 40
_LINE_BYTES: Final = 64 * 1024
_PASSED_ON: Final = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP"}
    | {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
)


def child_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The few variables that a Python process needs; keys and tokens are not among them."""
    return {name: value for name, value in environ.items() if name in _PASSED_ON}


class ModelProcess:
    """One running model server; made by `start_process`, never restarted."""

    def __init__(self, process: asyncio.subprocess.Process, token: str) -> None:
        self._process = process
        self.token = token
        """The key that the server asks for; random for each process."""
        self.url = ""
        """Its address on loopback, once it is ready."""
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._reader = asyncio.create_task(self._read_log())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process.returncode is None

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines of the native log."""
        return tuple(self._log)

    async def ended(self) -> str:
        """Wait for the end of a dying process and say in words how it came."""
        code = await self._process.wait()
        if code == -signal.SIGKILL:
            how = "was killed, perhaps because memory ran out"
        elif code == -signal.SIGTERM:
            how = "was ended from outside"
        elif code < 0:
            how = f"crashed ({signal.Signals(-code).name})"
        else:
            how = f"ended with status {code}"
        return f"the local model's process {how}"

    async def wait_ready(self, settings: dict[str, object]) -> None:
        """Hand over `settings` and wait until the model is loaded.

        Raises:
            ProviderUnavailable: it could not be loaded, in the library's own words.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a model process needs pipes")
        with suppress(ConnectionError):
            stdin.write(json.dumps({**settings, "token": self.token}).encode() + b"\n")
            await stdin.drain()
        line = await stdout.readline()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = {"error": await self.ended()}
        if "url" not in answer:
            await self.stop()
            last = f" (last line of its log: {self._log[-1]})" if self._log else ""
            raise ProviderUnavailable(f"the local model did not load: {answer['error']}{last}")
        self.url = answer["url"]

    async def stop(self) -> None:
        """End the process at once, it has nothing to save; may be called twice."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._reader

    async def _read_log(self) -> None:
        """Keep the end of the log: the pipe has to be emptied, the terminal is not its place."""
        stderr = self._process.stderr
        if stderr is None:
            return
        while piece := await stderr.read(_LINE_BYTES):
            lines = piece.decode("utf-8", "replace").splitlines()
            self._log.extend(line for line in lines if line.strip())


async def start_process(model: Path, *, window: int, threads: int) -> ModelProcess:
    """Start a model server and wait until it is ready.

    Args:
        model: a GGUF file.
        window: the context window in tokens.
        threads: how many threads compute, at least 1.

    Raises:
        ProviderUnavailable: it could not be started or loaded.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            # The folder a script is in, or started from, must not shadow modules.
            "-P",
            str(_CHILD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=child_environment(),
            cwd=model.parent,
            # Ctrl+C in the terminal is for the app alone.
            start_new_session=True,
        )
    except OSError as error:
        raise ProviderUnavailable(f"the local model's process did not start: {error}") from error
    running = ModelProcess(process, secrets.token_urlsafe(24))
    try:
        await running.wait_ready({"model": str(model), "window": window, "threads": threads})
    except BaseException:
        await running.stop()
        raise
    return running
