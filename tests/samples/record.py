"""Record the sample sessions anew with the real local model.

    python -m tests.samples.record FOLDER [NAME ...]

Each scenario runs in a live session of its own; its recording is copied to FOLDER.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.memory.turn import number_of
from gh_tui.runtime import Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths
from tests.samples.scenarios import SCENARIOS, Scenario, Step


class _Typist:
    """Types a scenario's steps, at a person's pace."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sent = asyncio.Event()
        session.bus.subscribe(self._see)

    def _see(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, ev.RequestSent):
            self._sent.set()
        if isinstance(event, ev.ReplyFinished):
            sys.stderr.write(f"  {event.outcome}: {event.text[:100]!r}\n")
        if isinstance(event, ev.PassStarted | ev.TopicShiftDetected | ev.Notice):
            sys.stderr.write(f"  {event}\n"[:200] + "\n")

    async def type(self, step: Step, follows: Step | None) -> None:
        """Carry out one step; waits for the end of the task unless a supplement comes next."""
        sys.stderr.write(f"{step.kind}: {step.text}\n")
        if step.kind == "recall_first":
            await self._recall_first()
            return
        self._sent.clear()
        await self._session.submit(step.text)
        if follows is not None and follows.kind == "supplement":
            await self._sent.wait()
            await asyncio.sleep(0.5)
        else:
            await self._session.wait_idle()
            await asyncio.sleep(0.5)

    async def _recall_first(self) -> None:
        for turn in self._session.state.turns.values():
            if turn.fidelity == "archived":
                await self._session.submit(f"/recall {number_of(turn.iri)}")
                return


def _workspace(folder: Path, scenario: Scenario) -> Path:
    workspace = folder / "workspace"
    workspace.mkdir()
    for name, content in scenario.files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return workspace


async def record(scenario: Scenario, target: Path) -> None:
    """Run one scenario and copy its recording."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = _workspace(Path(folder), scenario)
        words = ["provider.name=local", "provider.max_tokens=120", *scenario.settings]
        settings = load_settings(None, {}, words)
        home = Paths(Path(folder), Path(folder))
        session = Session(settings, home, workspace, interactive=False, environ=os.environ)
        typist = _Typist(session)
        await session.start(lambda words: None)
        try:
            for step, follows in zip(scenario.steps, [*scenario.steps[1:], None], strict=True):
                await typist.type(step, follows)
        finally:
            await session.close()
        if session.recording is None:
            raise SystemExit("the session was not recorded")
        records = [record.envelope for record in read_records(session.recording)]
        if fold(envelope for envelope in records if envelope) != session.state:
            raise SystemExit("the recording does not fold to the live state")
        shutil.copyfile(session.recording, target / f"{scenario.name}.jsonl")


async def main(folder: Path, names: list[str]) -> None:
    """Record the named scenarios, or all."""
    for scenario in SCENARIOS:
        if not names or scenario.name in names:
            await record(scenario, folder)


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
