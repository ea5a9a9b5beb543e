"""A tool is allowed only by a key pressed on purpose, after all of it was seen."""

from __future__ import annotations

import pytest
from textual import events

from gh_tui.events import types as ev
from gh_tui.tui.screens.approval import GUARD_SECONDS, ApprovalScreen
from tests.tui.harness import BOMB, ScriptedSession, app_with
from tests.tui.looking import SIZES, live, running, screen_text, until

QUIET = GUARD_SECONDS + 0.1


def asking(call: str = "c1", *, preview: str = "a.txt (new, 1 line)\n\nhello") -> ev.ToolRequested:
    return ev.ToolRequested(
        call=call,
        name="write_file",
        arguments={"path": "a.txt"},
        needs_approval=True,
        preview=preview,
    )


@pytest.mark.parametrize("size", SIZES)
async def test_keys_typed_into_the_box_never_answer(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        await pilot.press("d", "o")
        typed = [
            events.Key(key, key if len(key) == 1 else None)
            for key in ("n", "e", "enter", "ctrl+y", "escape", "y")
        ]
        await session.bus.publish(asking())
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        for event in typed:  # on their way before the question appeared
            app.post_message(event)
        await until(pilot, lambda: live(app).composer.box.text.endswith("y"))
        assert session.approvals == []
        assert isinstance(app.screen, ApprovalScreen)
        assert live(app).composer.box.text == "doney"
        await pilot.pause(QUIET)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.approvals == [("c1", True)])
        await until(pilot, lambda: app.screen is live(app))
        assert live(app).composer.box.text == "doney"
        assert live(app).composer.box.has_focus


@pytest.mark.parametrize("size", SIZES)
async def test_allowing_waits_until_all_of_it_was_seen(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        hidden = "\n".join(f"line {i}" for i in range(150)) + "\nrm -rf everything"
        await session.bus.publish(asking(preview=hidden))
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        assert "There is more below" in screen_text(app)
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert session.approvals == []
        await pilot.press("end")
        await until(pilot, lambda: "rm -rf everything" in screen_text(app))
        await pilot.press("ctrl+y")
        await pilot.pause(0.1)
        assert session.approvals == [], "the middle was never on the screen"
        await pilot.press("home")
        for _ in range(20):
            await pilot.press("pagedown")
        await until(pilot, lambda: "rm -rf everything" in screen_text(app))
        await pilot.pause(QUIET)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.approvals == [("c1", True)])


@pytest.mark.parametrize("size", [(40, 10), (36, 8), (60, 12)])
async def test_the_keys_can_be_seen_in_a_low_terminal(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        lines = "\n".join(f"line {i}" for i in range(9))
        await session.bus.publish(asking(preview=f"a.txt (new, 9 lines)\n{lines}"))
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        seen: set[int] = set()
        while True:
            assert "Deny · Esc" in screen_text(app)
            assert "Allow · Ctrl+Y" in screen_text(app)
            seen |= {i for i in range(9) if f"line {i}" in screen_text(app)}
            if seen == set(range(9)):
                break
            assert "There is more: PgDn." in screen_text(app)
            await pilot.press("ctrl+y")
            assert session.approvals == []
            await pilot.press("pagedown")
            await pilot.pause(QUIET)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.approvals == [("c1", True)])


async def test_letters_go_on_in_the_draft_and_answer_nothing() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await pilot.press("d", "o")
        await session.bus.publish(asking())
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        assert "Esc denies it; letters go to the box" in screen_text(app)
        for key in "yn":
            await pilot.press(key)
            await pilot.pause(QUIET)
        assert live(app).composer.box.text == "doyn"
        assert session.approvals == []
        assert isinstance(app.screen, ApprovalScreen)
        await pilot.press("escape")
        await until(pilot, lambda: session.approvals == [("c1", False)])
        assert live(app).composer.box.text == "doyn"


@pytest.mark.parametrize("key", ["escape", "n"])
async def test_denying(key: str) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.bus.publish(asking())
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        await pilot.press(key)
        await until(pilot, lambda: session.approvals == [("c1", False)])
        assert session.cancelled == 0


async def test_questions_come_one_after_the_other() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.bus.publish(asking("c1"))
        await session.bus.publish(asking("c2", preview="the second"))
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        await pilot.press("escape")
        await until(pilot, lambda: "the second" in screen_text(app))
        await pilot.press("ctrl+y")
        assert session.approvals == [("c1", False)]
        await pilot.pause(QUIET)
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.approvals == [("c1", False), ("c2", True)])


async def test_a_question_answered_elsewhere_goes_away() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.bus.publish(asking())
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await session.bus.publish(ev.ToolApproval(call="c1", decision="deny", by="timeout"))
        await until(pilot, lambda: app.screen is live(app))
        assert session.approvals == []


async def test_what_would_run_is_literal_and_sanitised() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (120, 40)) as pilot:
        await session.request(1)
        await session.bus.publish(
            ev.ToolRequested(
                call="c1",
                name=f"shell{BOMB}",
                arguments={"command": f"echo {BOMB}"},
                needs_approval=True,
                preview=f"echo [@click=screen.answer(True)]x[/] {BOMB}",
            )
        )
        await until(pilot, lambda: isinstance(app.screen, ApprovalScreen))
        await pilot.pause(QUIET)
        text = screen_text(app)
        assert "[@click=screen.answer(True)]x[/]" in text
        assert "‹U+202E›" in text
        assert "\x1b" not in text
        await pilot.click("#preview", offset=(12, 0))
        await pilot.pause()
        assert session.approvals == []
