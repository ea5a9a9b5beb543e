"""A whole session with the local model: it streams, and it follows corrections."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths
from tests.benchmarks.corrections import LANGUAGES, read

pytestmark = pytest.mark.model


@asynccontextmanager
async def chat(home: Path, mind: Mind) -> AsyncIterator[tuple[Session, list[Envelope]]]:
    workspace = home / "workspace"
    workspace.mkdir()
    settings = load_settings(None, {}, ["provider.name=local", "provider.max_tokens=120"])
    session = Session(
        settings, Paths(home, home), workspace, interactive=False, mind=mind, environ=os.environ
    )
    seen: list[Envelope] = []
    session.bus.subscribe(seen.append)
    try:
        await session.start()
        yield session, seen
    finally:
        await session.close()


async def say(session: Session, *texts: str) -> None:
    for text in texts:
        await session.submit(text)
        await session.wait_idle()


async def test_an_answer_streams(tmp_path: Path, mind: Mind) -> None:
    async with chat(tmp_path, mind) as (session, seen):
        await say(session, "Name the four seasons of the year in one sentence.")
        texts = [
            e.event.text
            for e in seen
            if isinstance(e.event, ev.ReplyDelta) and e.event.kind == "text"
        ]
        assert session.state.outcome == "done"
        assert len(texts) >= 4
        assert "".join(texts) == session.state.answer
        assert "winter" in session.state.answer.lower()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_correction_holds_after_four_other_turns(
    language: str, tmp_path: Path, mind: Mind
) -> None:
    dialogue = next(d for d in read() if d.language == language and d.before == d.after == 4)
    async with chat(tmp_path, mind) as (session, _):
        await say(session, *(text for text, _ in dialogue.turns), dialogue.question)
        assert session.state.outcome == "done"
        assert dialogue.obeyed(session.state.answer), session.state.answer
