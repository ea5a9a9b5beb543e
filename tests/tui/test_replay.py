"""A recording in the same screen."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.session.player import Player
from gh_tui.settings.model import ScreenSettings, Settings
from gh_tui.settings.paths import Paths
from gh_tui.tui.app import GlidingHorseApp, replay_app
from gh_tui.tui.screens.approval import ApprovalScreen
from gh_tui.tui.screens.replay import ReplayScreen
from tests.tui.harness import BOMB, ScriptedSession, app_with
from tests.tui.looking import SIZES, live, running, screen_text, until


async def record(path: Path, *, bad: bool = False) -> Path:
    session = ScriptedSession()
    lines: list[bytes] = []

    def keep(envelope: Envelope) -> None:
        if envelope.seq is not None:
            lines.append(to_line(envelope))

    session.bus.subscribe(keep)
    await session.started()
    await session.say("migrate the billing database")
    await session.request(1)
    await session.bus.publish(
        ev.ReplyFinished(
            request=1,
            outcome="complete",
            text="First I look.",
            chunks=((5, 5), (10, 8)),
        )
    )
    await session.turn("assistant", "First I look.")
    await session.tool("c1", "write_file", "", approval=True)
    await session.bus.publish(ev.ToolApproval(call="c1", decision="allow"))
    iri = await session.turn("tool", f"a result {BOMB}", call_id="c1")
    await session.bus.publish(
        ev.TurnFidelityChanged(
            iri=iri, before="full", after="masked", phase="mask", terms={}, tokens_freed=9
        )
    )
    await session.finish("First I look.")
    if bad:
        lines.insert(2, b"not a record\n")
    await asyncio.to_thread(path.write_bytes, b"".join(lines))
    return path


def replay(app: GlidingHorseApp) -> ReplayScreen:
    screen = app.screen
    assert isinstance(screen, ReplayScreen)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_it_plays_to_its_end_in_the_same_panes(size: tuple[int, int], tmp_path: Path) -> None:
    player = Player(await record(tmp_path / "a.jsonl"))
    app = GlidingHorseApp(player=player)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "ended" in screen_text(app))
        await until(pilot, lambda: "First I look." in screen_text(app))
        text = screen_text(app)
        assert "migrate the billing database" in text
        assert f"{player.total}/{player.total}" in text
        assert replay(app).state == player.state
        assert not isinstance(app.screen, ApprovalScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_pause_step_and_speed(size: tuple[int, int], tmp_path: Path) -> None:
    player = Player(await record(tmp_path / "a.jsonl"))
    player.pause()
    app = GlidingHorseApp(player=player)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "paused" in screen_text(app))
        assert player.position == 0
        await pilot.press("right", "full_stop")
        await until(pilot, lambda: f"2/{player.total}" in screen_text(app))
        await pilot.press("plus", "plus")
        await until(pilot, lambda: "4×" in screen_text(app))
        await pilot.press("minus")
        await until(pilot, lambda: "2×" in screen_text(app))
        await pilot.press("space")
        await until(pilot, lambda: "ended" in screen_text(app))


async def test_bad_lines_are_told(tmp_path: Path) -> None:
    app = GlidingHorseApp(player=Player(await record(tmp_path / "a.jsonl", bad=True)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "1 bad line skipped" in screen_text(app))


async def test_pin_and_recall_can_be_tried(tmp_path: Path) -> None:
    player = Player(await record(tmp_path / "a.jsonl"))
    app = GlidingHorseApp(player=player)
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, lambda: "ended" in screen_text(app))
        await pilot.press("tab")
        assert replay(app).timeline.has_focus
        iri = replay(app).timeline.selected_iri
        assert iri is not None
        await pilot.press("p", "r")
        await until(pilot, lambda: replay(app).state.turns[iri].pinned)
        await until(pilot, lambda: replay(app).state.turns[iri].fidelity == "full")
        await pilot.press("r")
        await until(pilot, lambda: "nothing to do here" in screen_text(app))


async def test_leaving_returns_to_the_session(tmp_path: Path) -> None:
    path = await record(tmp_path / "a.jsonl")
    session = ScriptedSession()
    app = app_with(session, samples=lambda: [(path, "the [/x] sample")])
    async with running(app) as pilot:
        await pilot.press("d", "f2")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        await session.say("meanwhile")
        await pilot.press("q")
        await until(pilot, lambda: app.screen is live(app))
        await until(pilot, lambda: "meanwhile" in screen_text(app))
        assert live(app).composer.box.text == "d"
        assert not session.closed


async def test_several_samples_are_listed(tmp_path: Path) -> None:
    path = await record(tmp_path / "a.jsonl")
    readers: list[int] = []

    def samples() -> list[tuple[Path, str]]:
        readers.append(threading.get_ident())
        return [(path, f"one {BOMB}"), (path, "two")]

    app = app_with(ScriptedSession(), samples=samples)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: "one [/x]" in screen_text(app))
        assert threading.get_ident() not in readers, "the screen waits while samples are read"
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))


async def test_no_samples_is_said() -> None:
    app = app_with(ScriptedSession(), samples=list)
    async with running(app) as pilot:
        await pilot.press("f2")
        await until(pilot, lambda: "There are no samples" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is live(app))


async def test_a_replay_knows_the_users_themes(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text('name = "mine"\nprimary = "#336699"\n')
    recording = await record(tmp_path / "r.jsonl")
    settings = Settings(screen=ScreenSettings(theme="mine"))
    app = replay_app(settings, Paths(tmp_path, tmp_path), recording)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "First I look." in screen_text(app))
        assert app.theme == "mine"
