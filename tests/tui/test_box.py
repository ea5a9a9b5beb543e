"""The box: what is typed is cleared only when it is safe, and the title tells the truth."""

from __future__ import annotations

import pytest
from textual import events

from gh_tui.agent.command_list import COMMANDS
from tests.tui.harness import ScriptedSession, app_with
from tests.tui.looking import SIZES, enter, live, running, screen_text, until

both_sizes = pytest.mark.parametrize("size", SIZES)
small = pytest.mark.parametrize("size", SIZES[:1])


@both_sizes
async def test_the_text_stays_until_it_is_durable(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.gate.clear()
    app = app_with(session)
    async with running(app, size) as pilot:
        box = live(app).composer.box
        await enter(pilot, "plan it")
        assert box.text == "plan it"
        assert "saving" in screen_text(app)
        await pilot.press("enter", "x")
        session.gate.set()
        await until(pilot, lambda: session.submitted == ["plan it"])
        await until(pilot, lambda: box.text == "x")


@both_sizes
async def test_a_refusal_keeps_the_text_and_says_why(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.refuse = "the disk [/x] is full"
    app = app_with(session)
    async with running(app, size) as pilot:
        await enter(pilot, "plan it")
        await until(pilot, lambda: "the disk [/x] is full" in screen_text(app))
        assert live(app).composer.box.text == "plan it"
        session.refuse = None
        await enter(pilot)
        await until(pilot, lambda: session.submitted == ["plan it"])
        assert live(app).composer.box.text == ""
        assert "disk" not in screen_text(app)


@both_sizes
async def test_the_title_is_true_in_every_state(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.start_gate.clear()
    app = app_with(session)
    async with running(app, size) as pilot:
        await until(pilot, lambda: "it runs when the model is ready" in screen_text(app))
        session.start_gate.set()
        await until(pilot, lambda: "Enter: start a task ─" in screen_text(app))
        await enter(pilot, "go")
        await until(pilot, lambda: "Enter: send ─" in screen_text(app))
        await session.request(1)
        await until(pilot, lambda: "Enter: supplement" in screen_text(app))
        assert "Esc stops" in screen_text(app)
        await pilot.press("slash", "u", "n", "d", "o")
        await until(pilot, lambda: "Enter: run command /undo" in screen_text(app))
        assert "undo the latest pass" in screen_text(app)
        await session.finish()
        await pilot.press(*["backspace"] * 5)
        await until(pilot, lambda: "Enter: send ─" in screen_text(app))


async def test_a_high_terminal_lists_every_command() -> None:
    app = app_with(ScriptedSession())
    async with running(app, (100, 60)) as pilot:
        await pilot.press("slash")
        await until(pilot, lambda: "/compact" in screen_text(app))
        assert all(command.usage in screen_text(app) for command in COMMANDS)


@small
async def test_typing_before_the_session_exists(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.start_gate.clear()
    app = app_with(session)
    async with running(app, size) as pilot:
        await enter(pilot, "early")
        await until(pilot, lambda: session.submitted == ["early"])
        await until(pilot, lambda: "early" in screen_text(app).split("╭")[0])


@small
async def test_the_task_of_the_command_line_is_submitted(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session, task="sort the photos")
    async with running(app, size) as pilot:
        await until(pilot, lambda: session.submitted == ["sort the photos"])
        await until(pilot, lambda: live(app).composer.box.text == "")


@both_sizes
async def test_ctrl_j_makes_a_line_and_alt_q_queues(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        box = live(app).composer.box
        for key, char in (("a", "a"), ("ctrl+j", "\n"), ("b", "b"), ("alt+q", "q")):
            box.post_message(events.Key(key, char))  # all at once, as a fast typist's arrive
        await until(pilot, lambda: session.queued == ["a\nb"])
        await until(pilot, lambda: "after this task      a b" in screen_text(app))
        assert "1 queued" in screen_text(app)
        assert session.submitted == []


@small
async def test_alt_n_stops_the_step_and_delivers(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await enter(pilot, "go")
        await until(pilot, lambda: session.submitted == ["go"])
        await session.request(1)
        await pilot.press("n", "o", "alt+n")
        await until(pilot, lambda: session.submitted == ["go", "/now no"])
        await until(pilot, lambda: live(app).composer.box.text == "")


@both_sizes
async def test_escape_returns_pending_texts_in_front_of_the_draft(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("use the test db")
        await session.supplement("be short")
        await until(pilot, lambda: "pending" in screen_text(app))
        await pilot.press("d", "r", "a", "f", "t", "escape")
        box = live(app).composer.box
        await until(pilot, lambda: box.text == "use the test db\nbe short\ndraft")
        assert session.cancelled == 1
        assert session.submitted == []
        await until(pilot, lambda: "returned (escape)" in screen_text(app))


@small
async def test_escape_without_work_stops_nothing(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await pilot.press("x", "escape")
        await pilot.pause()
        assert session.cancelled == 0
        assert live(app).composer.box.text == "x"


@small
async def test_a_bracketed_paste_is_one_text(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    text = "第一行 😀\r第二行\r\nthird \x1b]52;c;aGk=\x07 line"
    async with running(app, size) as pilot:
        box = live(app).composer.box
        box.post_message(events.Paste(text))
        await until(pilot, lambda: "third" in box.text)
        assert session.submitted == []
        assert box.text == "第一行 😀\n第二行\nthird ␛]52;c;aGk=␇ line"
        await enter(pilot)
        await until(pilot, lambda: len(session.submitted) == 1)


@small
async def test_an_unbracketed_paste_is_one_text(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        box = live(app).composer.box
        for char in "one\rtwo\rthree":
            box.post_message(events.Key("enter" if char == "\r" else char, char))
        await until(pilot, lambda: box.text == "one\ntwo\nthree")
        await pilot.pause(0.1)
        assert session.submitted == []


@small
async def test_the_last_syllable_of_an_input_method_is_not_lost(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        box = live(app).composer.box
        for key, char in (("안", "안"), ("enter", "\r"), ("녕", "녕")):
            box.post_message(events.Key(key, char))
        await until(pilot, lambda: session.submitted == ["안녕"])


@small
async def test_earlier_inputs_come_back_and_the_draft_waits(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        box = live(app).composer.box
        await enter(pilot, "one")
        await until(pilot, lambda: box.text == "")
        await enter(pilot, "two")
        await until(pilot, lambda: box.text == "")
        await pilot.press("d", "up")
        assert box.text == "two"
        await pilot.press("up")
        assert box.text == "one"
        await pilot.press("down", "down")
        assert box.text == "d"


@small
async def test_tab_completes_a_command(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await pilot.press("slash", "u", "n", "d", "tab")
        assert live(app).composer.box.text == "/undo"
        assert live(app).composer.box.has_focus


@small
async def test_an_answer_is_shown_until_the_next_key(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.answer = "3 entries [b] were masked"
    app = app_with(session)
    async with running(app, size) as pilot:
        await enter(pilot, "/compact")
        await until(pilot, lambda: "3 entries [b] were masked" in screen_text(app))
        await pilot.press("x")
        await until(pilot, lambda: "3 entries" not in screen_text(app))


@small
async def test_enter_counts_while_an_earlier_text_is_being_saved(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.gate.clear()
    app = app_with(session)
    async with running(app, size) as pilot:
        await enter(pilot, "one")
        await enter(pilot, "two")
        session.gate.set()
        await until(pilot, lambda: session.submitted == ["one", "two"])
        await until(pilot, lambda: live(app).composer.box.text == "")
