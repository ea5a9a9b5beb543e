"""One life of a session in this process, on a disk that knows what a power cut would leave."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from gh_tui.chaos.oracle import Sent, sent_in
from gh_tui.chaos.stage import Stage
from gh_tui.errors import RecordingError
from gh_tui.events.envelope import Envelope
from gh_tui.journal.disk import Disk
from gh_tui.providers.scripted import ScriptedServer
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths


class WatchedDisk(Disk):
    """Knows how much of the file would outlive a power cut; nothing is really synced."""

    def __init__(self, size: int = 0) -> None:
        self.synced = size
        """Bytes."""

    def sync(self, descriptor: int) -> None:
        """Note the size."""
        self.synced = os.fstat(descriptor).st_size


class Life:
    """From start or resume to a crash or the end."""

    def __init__(
        self,
        stage: Stage,
        home: Path,
        mind: Mind,
        resume: Path | None,
        told: Callable[[Envelope], None],
    ) -> None:
        self.server = ScriptedServer(
            lambda body, number: stage.reply(), alternating=stage.plan.alternating
        )
        self.log: list[Sent] | None = None
        """What the server saw, once it is over."""
        self._disk = WatchedDisk(0 if resume is None else resume.stat().st_size)
        self._stage = stage
        self._home = home
        self._mind = mind
        self._resume = resume
        self._told = told
        self.session: Session

    async def start(self) -> None:
        """Open the session."""
        await self.server.start()
        workspace = self._home / "workspace"
        workspace.mkdir(exist_ok=True)
        self.session = Session(
            load_settings(None, {}, flags_for(self._stage, self.server)),
            Paths(self._home, self._home),
            workspace,
            interactive=False,
            mind=self._mind,
            resume=self._resume,
            environ={},
            disk=self._disk,
        )
        self._leave = self.session.bus.subscribe(self._told)
        await self.session.start()

    @property
    def recording(self) -> Path:
        """The file that this life writes."""
        path = self.session.recording
        if path is None:
            raise RecordingError("the session of a chaos run does not record")
        return path

    def crash(self, folder: Path, chance: random.Random) -> Path:
        """Freeze log and recording in this instant; nothing that happens later counts.

        Returns:
            A copy of the recording in `folder`, cut at a random byte after what was synced.
        """
        self.log = sent_in(self.server.requests)
        self._leave()
        content = self.recording.read_bytes()
        kept = chance.randint(min(self._disk.synced, len(content)), len(content))
        folder.mkdir()
        copy = folder / self.recording.name
        copy.write_bytes(content[:kept])
        return copy

    async def end(self) -> None:
        """Close everything; after a crash this only frees what the system holds."""
        await self.session.close()
        if self.log is None:
            self.log = sent_in(self.server.requests)
        await self.server.aclose()


def flags_for(stage: Stage, server: ScriptedServer) -> list[str]:
    """The settings of a run, as `key=value`."""
    return [
        "provider.name=openai",
        f"provider.base_url={server.base_url}",
        "provider.model=scripted",
        *stage.plan.settings,
    ]
