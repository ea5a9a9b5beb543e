from __future__ import annotations

import pytest

from gh_tui.events import types as ev
from gh_tui.events.entries import SupplementState
from gh_tui.tui.widgets.receipts import receipt_words
from tests.tui.harness import ScriptedSession, app_with
from tests.tui.looking import SIZES, enter, live, running, screen_text, until


@pytest.mark.parametrize("size", SIZES)
async def test_the_life_of_a_supplement_is_on_its_line(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.request(1)
        await enter(pilot, "short")
        await until(pilot, lambda: "pending" in screen_text(app))
        assert "0.62" in screen_text(app)
        await session.bus.publish(
            ev.InputClassified(class_="CorrectApproach", group="feedback", by="x", id="s1")
        )
        iri = await session.deliver("s1", cycle=2, request=2)
        await until(pilot, lambda: "injected c2·r2" in screen_text(app))
        await until(pilot, lambda: "correct" in screen_text(app))
        await session.request(3, cycle=3, iris=(iri,))
        await until(pilot, lambda: "seen r2–r3" in screen_text(app))
        await session.bus.publish(
            ev.SupplementDeferred(id="s1", iri=iri, reason="HTTP 500 [/x]\x1b[2J")
        )
        await until(pilot, lambda: "deferred" in screen_text(app))


@pytest.mark.parametrize("size", SIZES)
async def test_a_key_shows_the_message_that_carried_it(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("use the [test] db")
        await session.deliver("s1", cycle=2, request=2)
        await until(pilot, lambda: "injected" in screen_text(app))
        await pilot.press("f5", "enter")
        await until(pilot, lambda: "request 2, cycle 2 · message 2 of 2" in screen_text(app))
        assert "use the [test] db" in screen_text(app)


async def test_editing_takes_it_back_into_the_box() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("one")
        await session.supplement("two")
        await until(pilot, lambda: live(app).state.pending)
        await until(pilot, lambda: "two" in screen_text(app))
        await pilot.press("f5", "up", "e")
        await until(pilot, lambda: live(app).composer.box.text == "one")
        assert session.withdrawn == ["s1"]
        assert live(app).composer.box.has_focus


async def test_a_suggested_class_is_accepted_with_one_key() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("wait a moment")
        await session.bus.publish(
            ev.InputClassified(
                class_="AddContext", group="information", by="x", id="s1", suggested="Pause"
            )
        )
        await until(pilot, lambda: "pause? a" in screen_text(app))
        await pilot.press("f5", "a")
        await until(pilot, lambda: session.submitted == ["/class s1 Pause"])


async def test_a_close_instruction_asks_without_blocking() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (120, 30)) as pilot:
        older = await session.say("use the production database")
        await session.request(1)
        await session.supplement("use the test database")
        await session.bus.publish(
            ev.InputClassified(
                class_="CorrectApproach", group="feedback", by="x", id="s1", related=older
            )
        )
        await until(pilot, lambda: "like #1: r replaces, d adds?" in screen_text(app))
        await until(pilot, lambda: "/replaces s1 or /adds s1?" in screen_text(app))
        assert live(app).composer.box.has_focus
        await pilot.press("f5", "r")
        await until(pilot, lambda: session.submitted == ["/replaces s1"])


async def test_few_lines_while_closed_and_all_when_opened() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("task")
        await session.request(1)
        for index in range(7):
            await session.supplement(f"note {index}")
        await until(pilot, lambda: "note 6" in screen_text(app))
        assert "note 3" not in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: "note 0" in screen_text(app))


async def test_delivered_ones_leave_when_the_next_input_begins() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("short")
        await session.deliver("s1", cycle=2, request=2)
        await session.finish()
        await until(pilot, lambda: "injected" in screen_text(app))
        await session.say("next")
        await until(pilot, lambda: "injected" not in screen_text(app))


def test_words_for_each_state() -> None:
    entry = SupplementState("s1", "text", "t")
    assert receipt_words(entry) == "pending"
    entry.status, entry.deferred = "taken", "HTTP 500"
    assert receipt_words(entry) == "taken, deferred: HTTP 500"
    entry.status, entry.deferred, entry.cycle, entry.request = "injected", None, 2, 5
    entry.last_request = 5
    assert receipt_words(entry) == "injected c2·r5"
    entry.last_request, entry.kept_through = 9, 3
    assert receipt_words(entry) == "seen r5–r9, kept p3"
    entry.status, entry.returned = "returned", "escape"
    assert receipt_words(entry) == "returned (escape)"
