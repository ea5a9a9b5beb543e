"""A large text is offered as an attachment before it is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gh_tui.agent.attachments import Oversize
from tests.tui.harness import ScriptedSession, app_with
from tests.tui.looking import SIZES, enter, live, running, screen_text, until
from tests.tui.test_real import real

both_sizes = pytest.mark.parametrize("size", SIZES)
LARGE = Oversize(5004, 2737, fits=False)
MIDDLING = Oversize(600, 2737, fits=True)


@both_sizes
async def test_enter_offers_and_a_second_enter_attaches(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    session.large = LARGE
    app = app_with(session)
    async with running(app, size) as pilot:
        box = live(app).composer.box
        await enter(pilot, "long")
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        shown = screen_text(app)
        assert "5,004 tokens, 182 % of the budget" in shown
        assert "Esc back" in shown
        assert "Alt+W" not in shown
        assert "its tail" in " ".join(shown.split())
        assert (box.text, session.submitted) == ("long", [])
        await pilot.press("alt+w")
        await pilot.pause()
        assert (box.text, session.submitted) == ("long", [])
        await enter(pilot)
        await until(pilot, lambda: box.text == "")
        assert (session.submitted, session.attached) == (["long"], [True])
        assert "Enter: attach" not in screen_text(app)


@both_sizes
async def test_what_fits_can_be_sent_whole_by_the_way_that_was_asked_for(
    size: tuple[int, int],
) -> None:
    session = ScriptedSession()
    session.large = MIDDLING
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        await pilot.press("x", "alt+q")
        await until(pilot, lambda: "Alt+W whole" in screen_text(app))
        await pilot.press("alt+w")
        await until(pilot, lambda: session.queued == ["x"])
        assert session.attached == [False]
        await pilot.press("y", "alt+q")
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        await enter(pilot)
        await until(pilot, lambda: session.queued == ["x", "y"])
        assert session.attached == [False, True]


@both_sizes
@pytest.mark.parametrize("way", ["escape", "edit"])
async def test_esc_and_editing_go_back_and_stop_nothing(size: tuple[int, int], way: str) -> None:
    session = ScriptedSession()
    session.large = LARGE
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.request(1)
        box = live(app).composer.box
        await enter(pilot, "long")
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        await pilot.press("escape" if way == "escape" else "x")
        await until(pilot, lambda: "Enter: supplement" in screen_text(app))
        assert "its tail" not in screen_text(app)
        assert box.text == ("long" if way == "escape" else "longx")
        assert session.cancelled == 0
        await enter(pilot)
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        assert session.submitted == []
        await pilot.press("escape", "escape")
        await until(pilot, lambda: session.cancelled == 1)


async def test_enter_twice_before_the_model_is_known_is_no_answer_to_the_offer() -> None:
    session = ScriptedSession()
    session.large = LARGE
    session.measuring.clear()
    app = app_with(session)
    async with running(app) as pilot:
        await enter(pilot, "long")
        await until(pilot, lambda: "saving" in screen_text(app))
        await enter(pilot)
        session.measuring.set()
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        await pilot.pause(0.1)
        assert session.submitted == []


async def test_a_text_changed_while_it_was_measured_is_measured_anew() -> None:
    session = ScriptedSession()
    session.large = LARGE
    session.measuring.clear()
    app = app_with(session)
    async with running(app) as pilot:
        await enter(pilot, "long")
        await until(pilot, lambda: "saving" in screen_text(app))
        await enter(pilot, "er")
        session.measuring.set()
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        assert live(app).composer.box.text == "longer"
        await enter(pilot)
        await until(pilot, lambda: session.submitted == ["longer"])


async def test_a_pasted_log_reaches_a_real_model_as_an_attachment(tmp_path: Path) -> None:
    log = "".join(f"line {number} of the log\n" for number in range(2000)) + "the end"
    async with real(tmp_path, [{"text": "I read."}]) as (app, pilot, session):
        box = live(app).composer.box
        box.insert_typed(log)
        await enter(pilot)
        await until(pilot, lambda: "Enter: attach" in screen_text(app))
        assert not session.state.queued
        assert not session.state.turns
        await enter(pilot)
        await until(pilot, lambda: session.state.outcome == "done")
        assert box.text == ""
        turn = next(iter(session.state.turns.values()))
        assert (turn.text, turn.attached) == (log, True)
        assert session.state.request is not None
        entry = next(e for e in session.state.request.manifest if e.iri == turn.iri)
        assert entry.tokens < turn.tokens / 4
        assert not any("goes as" in notice.text for notice in session.state.notices)
