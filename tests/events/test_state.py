from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState, fold, state_to_wire
from gh_tui.events.values import ManifestEntry
from tests.events.test_codec import EVENTS


def envelopes(*events: ev.Event) -> list[Envelope]:
    return [Envelope(n, "2026-01-01T00:00:00Z", "s", e) for n, e in enumerate(events, 1)]


def turn(iri: str, supplement: str | None = None) -> ev.TurnAdded:
    return ev.TurnAdded(
        iri=iri, role="user", text="t", summary="t", tokens=5, supplement=supplement
    )


def request(number: int, *iris: str) -> ev.RequestSent:
    manifest = tuple(ManifestEntry(iri, "turn", "user", "full", 5) for iri in iris)
    return ev.RequestSent(
        request=number,
        cycle=1,
        purpose="agent",
        manifest=manifest,
        tokens=10,
        tokens_basis="estimated",
        budget=100,
    )


@given(st.lists(EVENTS, max_size=30))
def test_any_order_of_events_folds_and_has_a_json_form(events: list[ev.Event]) -> None:
    stream = envelopes(*events)
    state = fold(stream)
    assert state == fold(stream)
    json.dumps(state_to_wire(state))


def test_the_receipt_of_a_supplement_shows_each_step() -> None:
    state = SessionState()
    steps: list[ev.Event] = [
        ev.SupplementaryInputReceived(id="a", text="use pnpm"),
        turn("i1", "a"),
        request(4, "i1"),
        ev.SupplementInjected(id="a", iri="i1", cycle=2, request=4),
        request(5, "i1"),
        ev.PassFinished(pass_=2, tokens_after=50, prefix_kept=10),
    ]
    statuses = []
    for envelope in envelopes(*steps):
        state.apply(envelope)
        statuses.append((state.supplements["a"].status, len(state.pending)))
    assert statuses == [
        ("pending", 1),
        ("taken", 1),
        ("taken", 1),
        ("injected", 0),
        ("injected", 0),
        ("injected", 0),
    ]
    entry = state.supplements["a"]
    assert (entry.request, entry.last_request, entry.kept_through) == (4, 5, 2)


def test_the_tokens_of_the_context_are_those_that_were_last_counted() -> None:
    undone = ev.TurnFidelityChanged(
        iri="i1", before="archived", after="full", phase="undo", terms={}, tokens_freed=-5
    )
    counted = []
    state = SessionState()
    done = ev.PassFinished(pass_=1, tokens_after=5, prefix_kept=0)
    for envelope in envelopes(turn("i1"), request(1, "i1"), done, undone, request(2, "i1")):
        state.apply(envelope)
        counted.append(state.context_tokens)
    assert counted == [0, 10, 5, 10, 10]


def test_a_queued_input_waits_until_its_turn_or_its_return() -> None:
    state = fold(
        envelopes(
            ev.UserInputReceived(iri="i1", text="one"),
            ev.UserInputReceived(iri="i2", text="two"),
            turn("i1"),
            ev.SupplementReturned(id="i2", text="two", reason="cancel"),
        )
    )
    assert state.queued == {}
    assert list(state.turns) == ["i1"]


def test_what_begins_at_once_does_not_wait_and_after_a_failure_or_a_restart_all_does() -> None:
    state = SessionState()
    steps: list[tuple[ev.Event, list[str]]] = [
        (ev.UserInputReceived(iri="i1", text="one"), []),
        (turn("i1"), []),
        (ev.CycleStarted(cycle=1), []),
        (ev.UserInputReceived(iri="i2", text="two"), ["i2"]),
        (ev.UserInputReceived(iri="i3", text="three"), ["i2", "i3"]),
        (ev.TaskFinished(outcome="done", text=""), ["i3"]),
        (turn("i2"), []),
        (ev.CycleStarted(cycle=2), ["i3"]),
        (ev.TaskFinished(outcome="failed", text="cut"), ["i3"]),
        (ev.UserInputReceived(iri="i4", text="four"), ["i4"]),
    ]
    for envelope, (event, waiting) in zip(
        envelopes(*[event for event, _ in steps]), steps, strict=True
    ):
        state.apply(envelope)
        assert list(state.waiting) == waiting, event
    start = ev.SessionStarted(
        provider="p",
        model="m",
        window=1,
        window_source="server",
        embedder="native",
        settings={},
    )
    state.apply(envelopes(start)[0])
    assert list(state.waiting) == ["i3", "i4"]


def test_an_instruction_that_was_replaced_came_through_no_pass() -> None:
    gone = ev.TurnFidelityChanged(
        iri="i1", before="full", after="archived", phase="user", terms={}, tokens_freed=5
    )
    state = fold(
        envelopes(
            ev.SupplementaryInputReceived(id="a", text="use pnpm"),
            turn("i1", "a"),
            gone,
            ev.PassFinished(pass_=2, tokens_after=50, prefix_kept=10),
        )
    )
    assert state.supplements["a"].kept_through is None


def test_a_pass_keeps_why_each_turn_changed() -> None:
    change = ev.TurnFidelityChanged(
        iri="i1",
        before="full",
        after="archived",
        phase="threshold",
        terms={"relevance_score": 0.1},
        tokens_freed=5,
        pass_=1,
    )
    state = fold(
        envelopes(
            turn("i1"),
            ev.PassStarted(
                pass_=1,
                trigger="watermark",
                policy="fusion",
                config={},
                now=1.0,
                query_iri=None,
                budget=100,
                tokens_before=90,
            ),
            change,
            ev.PassFinished(pass_=1, tokens_after=50, prefix_kept=10),
        )
    )
    assert state.turns["i1"].fidelity == "archived"
    assert state.turns["i1"].last_change == change
    assert state.passes[1].changes == [change]
    assert state.passes[1].tokens_after == 50


def test_a_reply_that_streams_is_visible_and_leaves_nothing_behind() -> None:
    state = SessionState()
    for envelope in envelopes(
        request(1),
        ev.ReplyDelta(request=1, kind="text", text="Hel"),
        ev.ReplyDelta(request=1, kind="text", text="lo"),
    ):
        state.apply(envelope)
    assert (state.replying, state.reply_text) == (1, "Hello")
    done = ev.ReplyFinished(request=1, outcome="interrupted", text="Hello")
    state.apply(Envelope(9, "t", "s", done))
    assert (state.replying, state.reply_text, state.partial) == (None, "", "Hello")
