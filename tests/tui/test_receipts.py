from __future__ import annotations

import pytest

from gh_tui.events import types as ev
from gh_tui.events.entries import SupplementState
from gh_tui.tui.app import GlidingHorseApp
from gh_tui.tui.screens.text import TextScreen
from gh_tui.tui.widgets.entry import EntryScreen
from gh_tui.tui.widgets.ledger import Ledger
from gh_tui.tui.widgets.receipt_words import receipt_words
from gh_tui.tui.widgets.row import mark_words, marks
from tests.tui.harness import ScriptedSession, app_with
from tests.tui.looking import SIZES, enter, live, running, screen_text, until


def receipt_line(app: GlidingHorseApp, name: str) -> str:
    """The line of the receipt with this short name; empty if there is none."""
    lines = [line for line in screen_text(app).splitlines() if f" {name} " in line[:12]]
    return lines[0] if lines else ""


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
        content = "[The user's standing instructions]\n- no prices\n\nuse the [test] db"
        await session.deliver("s1", cycle=2, request=2, content=content)
        await until(pilot, lambda: "injected" in screen_text(app))
        await pilot.press("f5", "enter")
        await until(pilot, lambda: "request 2, cycle 2 · message 2 of 2" in screen_text(app))
        assert "- no prices" in screen_text(app)
        assert str(app.screen.query_one(".dialog-text").render()) == content
        await pilot.press("escape")
        live(app).set_class(size[0] < 100, "swap")
        live(app).timeline.focus()
        await until(pilot, lambda: live(app).timeline.selected_iri)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EntryScreen))
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert str(app.screen.query_one(".dialog-text").render()) == content


@pytest.mark.parametrize("size", SIZES)
async def test_pin_and_demotion_are_marked_on_the_receipt_and_in_the_timeline(
    size: tuple[int, int],
) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("only the north side")
        await session.bus.publish(
            ev.InputClassified(
                class_="ProvideConstraint", group="information", by="x", id="s1", standing=True
            )
        )
        iri = await session.deliver("s1", cycle=2, request=2)
        constraint = ev.InputClassified(
            class_="ProvideConstraint", group="information", by="x", iri=iri, standing=True
        )
        await session.bus.publish(constraint)
        await until(pilot, lambda: "§ constraint" in receipt_line(app, "s1"))
        assert "§ standing" in mark_words(live(app).state.turns[iri], Ledger())
        await session.bus.publish(ev.TurnPinned(iri=iri))
        await until(pilot, lambda: "◆§ constraint" in receipt_line(app, "s1"))
        await session.bus.publish(ev.TurnUnpinned(iri=iri))
        await until(pilot, lambda: " ordinary " in receipt_line(app, "s1"))
        line = receipt_line(app, "s1")
        assert "only the north" in line
        assert not {"§", "◆"} & set(line)
        assert "constraint" not in line
        assert "§" not in marks(live(app).state.turns[iri], Ledger())


@pytest.mark.parametrize("size", SIZES)
async def test_the_pass_it_came_through_is_on_its_line(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.request(1)
        await session.supplement("only the north side")
        iri = await session.deliver("s1", cycle=12, request=12)
        await session.request(19, cycle=19, iris=(iri,))
        await session.bus.publish(ev.PassFinished(pass_=11, tokens_after=9, prefix_kept=0))
        await until(pilot, lambda: "seen r12–r19, kept p11" in receipt_line(app, "s1"))
        assert "only the north" in receipt_line(app, "s1")


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
        await until(pilot, lambda: "perhaps pause? F5, then a accepts" in screen_text(app))
        assert "context" in receipt_line(app, "s1"), "the suggestion hides the class"
        await pilot.press("f5", "a")
        await until(pilot, lambda: session.submitted == ["/class s1 Pause"])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("key", "answer"), [("r", "replaces"), ("d", "adds"), ("u", "unrelated")])
async def test_a_close_instruction_asks_without_blocking(
    size: tuple[int, int], key: str, answer: str
) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        older = await session.say("use the production database")
        await session.request(1)
        await session.supplement("use the test database")
        await session.bus.publish(
            ev.InputClassified(
                class_="CorrectApproach", group="feedback", by="x", id="s1", related=older
            )
        )
        keys = "r replaces · d adds · u unrelated"
        await until(pilot, lambda: f"F5, then {keys}" in screen_text(app))
        assert "like #1 «use the" in screen_text(app)
        assert "use the test database" in receipt_line(app, "s1")
        assert live(app).composer.box.has_focus
        await pilot.press("f5")
        await until(pilot, lambda: f": {keys}" in screen_text(app))
        await pilot.press(key)
        await until(pilot, lambda: session.submitted == [f"/{answer} s1"])


async def test_few_lines_while_closed_and_all_when_opened() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.say("task")
        await session.request(1)
        for index in range(14):
            await session.supplement(f"note {index} end")
        await until(pilot, lambda: "note 13 end" in screen_text(app))
        assert "note 10 end" not in screen_text(app)
        assert "11 more that wait: F5 shows all" in screen_text(app)
        await pilot.press("f5")
        await until(pilot, lambda: "note 9 end" in screen_text(app))
        await until(pilot, lambda: "8 earlier" in screen_text(app))
        await pilot.press(*["up"] * 13)
        await until(pilot, lambda: "› ○ s1 " in screen_text(app))
        assert "note 0 end" in screen_text(app)
        assert "8 later" in screen_text(app)


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
