"""The app on a real session and a real server on loopback."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from gh_tui.events.state import SessionState
from gh_tui.journal.disk import Disk
from gh_tui.runtime import Session
from gh_tui.session.player import Player
from gh_tui.settings.model import ProviderSettings, Settings
from gh_tui.settings.paths import Paths
from gh_tui.tui.app import GlidingHorseApp
from gh_tui.tui.screens.approval import GUARD_SECONDS, ApprovalScreen
from tests.tui.looking import enter, live, screen_text, until

Replies = Sequence[dict[str, Any]]


@asynccontextmanager
async def real(
    tmp_path: Path, replies: Replies, disk: Disk | None = None
) -> AsyncIterator[tuple[GlidingHorseApp, Pilot[int], Session]]:
    workspace = tmp_path / "work"
    workspace.mkdir(parents=True)
    script = tmp_path / "script.json"
    script.write_text(json.dumps(replies), encoding="utf-8")
    settings = replace(Settings(), provider=ProviderSettings(name="scripted", script=script))
    home = tmp_path / "home"
    session = Session(settings, Paths(home, home), workspace, interactive=True, disk=disk)

    async def open_session() -> Session:
        return session

    app = GlidingHorseApp(open_session)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: session.state.started or disk)
        yield app, pilot, session


async def test_a_supplement_typed_while_the_agent_works_reaches_the_model(tmp_path: Path) -> None:
    replies: Replies = [
        {"text": "I look.", "calls": [{"name": "list_files", "arguments": {"path": "."}}]},
        {"text": "a slow answer in many words " * 4, "chunk_delay": 0.05},
        {"text": "As you said: short."},
    ]
    async with real(tmp_path, replies) as (app, pilot, session):
        await enter(pilot, "look around")
        await until(pilot, lambda: "a slow answer" in screen_text(app))
        assert "Enter: supplement" in screen_text(app)
        await enter(pilot, "be short")
        await until(pilot, lambda: "pending" in screen_text(app))
        await until(pilot, lambda: "As you said: short." in screen_text(app))
        await until(pilot, lambda: not session.busy)
        await until(pilot, lambda: "injected" in screen_text(app))
        entry = next(iter(live(app).state.supplements.values()))
        assert entry.status == "injected"
        await until(pilot, lambda: live(app).state == session.state)


async def test_escape_stops_a_real_agent_and_returns_the_text(tmp_path: Path) -> None:
    replies: Replies = [{"text": "word " * 400, "chunk_delay": 0.05}, {"text": "again"}]
    async with real(tmp_path, replies) as (app, pilot, session):
        await enter(pilot, "write much")
        await until(pilot, lambda: "word word" in screen_text(app))
        await enter(pilot, "stop at ten")
        await until(pilot, lambda: "pending" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: live(app).composer.box.text == "stop at ten")
        await until(pilot, lambda: "the reply is not complete" in screen_text(app))
        assert not session.busy


async def test_a_file_is_written_only_after_the_question(tmp_path: Path) -> None:
    call = {"name": "write_file", "arguments": {"path": "note.md", "content": "hello\n"}}
    replies: Replies = [{"text": "I write.", "calls": [call]}, {"text": "Written."}]
    async with real(tmp_path, replies) as (app, pilot, _):
        note = tmp_path / "work" / "note.md"
        await enter(pilot, "write a note")
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await until(pilot, lambda: "hello" in screen_text(app))
        assert not note.exists()
        await pilot.pause(GUARD_SECONDS + 0.1)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: "Written." in screen_text(app))
        assert note.read_text() == "hello\n"


async def test_a_failing_server_is_told_and_the_box_goes_on(tmp_path: Path) -> None:
    replies: Replies = [
        {"status": 400, "error": {"message": "no [/x] thanks"}},
        {"text": "now it works"},
    ]
    async with real(tmp_path, replies) as (app, pilot, session):
        await enter(pilot, "hello")
        await until(pilot, lambda: "no [/x] thanks" in screen_text(app))
        await until(pilot, lambda: not session.busy)
        await enter(pilot, "again")
        await until(pilot, lambda: "now it works" in screen_text(app))


class FullDisk(Disk):
    """Takes nothing while it is full."""

    def __init__(self) -> None:
        self.full = True

    def write(self, descriptor: int, data: bytes) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)


async def test_a_disk_that_is_full_at_the_start_is_told_and_tried_again(tmp_path: Path) -> None:
    disk = FullDisk()
    async with real(tmp_path, [{"text": "now it works"}], disk) as (app, pilot, _):
        await until(pilot, lambda: "No space left" in screen_text(app))
        await enter(pilot, "hello")
        await until(pilot, lambda: "not accepted" in screen_text(app))
        assert live(app).composer.box.text == "hello"
        disk.full = False
        await pilot.press("enter")
        await until(pilot, lambda: "now it works" in screen_text(app))
    async with real(tmp_path / "other", [{"text": "unused"}], FullDisk()) as (app, pilot, _):
        await until(pilot, lambda: "No space left" in screen_text(app))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert app.return_code == 1


async def test_the_recording_replays_to_the_same_state(tmp_path: Path) -> None:
    replies: Replies = [
        {"text": "I look.", "calls": [{"name": "list_files", "arguments": {"path": "."}}]},
        {"text": "There is nothing."},
    ]
    async with real(tmp_path, replies) as (_, pilot, session):
        await enter(pilot, "look around")
        await until(pilot, lambda: session.state.outcome == "done" and not session.busy)
        await session.close()
        assert session.recording is not None
        player = Player(session.recording)
    player.set_speed(64)
    app = GlidingHorseApp(player=player)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: player.position == player.total)
        await until(pilot, lambda: "There is nothing." in screen_text(app))

        def shown() -> SessionState:
            state: SessionState = app.screen.state  # type: ignore[attr-defined]
            return state

        await until(pilot, lambda: shown() == session.state)
