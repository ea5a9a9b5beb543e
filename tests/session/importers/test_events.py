from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.context.assembly import Frame, assemble
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.codec import from_line, to_line
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState, fold
from gh_tui.events.values import ToolCall
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import new_turn
from gh_tui.providers.wire import validate_order
from gh_tui.session.importers.events import NO_RESULT, Stamped, to_events
from gh_tui.session.importers.turns import ImportedTurn

START = datetime(2026, 3, 1, tzinfo=UTC)

TURNS = st.builds(
    ImportedTurn,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    text=st.text(max_size=6),
    calls=st.lists(
        st.builds(ToolCall, st.sampled_from(["a", "b", "a-2", ""]), st.just("ls"), st.just({})),
        max_size=3,
    ).map(tuple),
    call_id=st.none() | st.sampled_from(["a", "b", "a-2", ""]),
    time=st.none() | st.text(max_size=5) | st.floats() | st.just("2026-03-01T10:00:00+02:00"),
    ok=st.none() | st.booleans(),
)


def converted(turns: Iterable[ImportedTurn]) -> list[Stamped]:
    return list(to_events(turns, "s-1", source="Codex", start=START))


def recorded(stamped: list[Stamped]) -> list[Envelope]:
    """Through the bytes of a recording and back."""
    envelopes = [Envelope(n, s.time, "s-1", s.event) for n, s in enumerate(stamped, 1)]
    return [from_line(to_line(envelope)) for envelope in envelopes]


def folded(turns: Iterable[ImportedTurn]) -> SessionState:
    return fold(recorded(converted(turns)))


def says(role: str, text: str, *calls: str, **more: object) -> ImportedTurn:
    asked = tuple(ToolCall(name, "ls", {"path": name}) for name in calls)
    return ImportedTurn(role=role, text=text, calls=asked, **more)  # type: ignore[arg-type]


@given(st.lists(TURNS, max_size=12))
def test_any_sequence_of_turns_becomes_a_session_in_valid_order(turns: list[ImportedTurn]) -> None:
    stamped = converted(turns)
    state = fold(recorded(stamped))
    assert state.ended
    assert not state.running
    assert state.queued == {}
    assert all(tool.status in ("done", "failed") for tool in state.tools.values())
    assert all(a.time <= b.time for a, b in pairwise(stamped))
    memory = L1Session()
    for event in (s.event for s in stamped):
        if isinstance(event, ev.TurnAdded):
            turn = new_turn(
                event.iri,
                event.role,
                event.text,
                created_at=0.0,
                calls=event.calls,
                call_id=event.call_id,
            )
            memory.add(turn)
    frame = Frame("system", 10_000)
    messages = assemble(memory, frame).messages
    if len(messages) > 1 and messages[-1].role != "assistant":
        validate_order(messages)
    assert all(message.text != "[no result: the call was cut short]" for message in messages)


def test_a_session_reads_as_it_was() -> None:
    state = folded(
        [
            says("system", "You are an agent.", time="2026-02-28T23:00:00"),
            says("user", "Fix the clock.", time="2026-03-01T10:00:00+02:00"),
            says("assistant", "I look.", "c1", "c2", time="2026-03-01T08:00:05Z"),
            says("tool", "tick = 1", call_id="c2", time=1772352010.0),
            says("tool", "no such file", call_id="c1", ok=False, time=1772352011000.0),
            says("assistant", "Done.", time="nonsense"),
            says("user", "Thanks."),
        ]
    )
    assert state.task is not None
    assert state.task.what == "Fix the clock."
    assert [(t.role, t.text) for t in state.turns.values()] == [
        ("user", "Fix the clock."),
        ("assistant", "I look."),
        ("tool", "tick = 1"),
        ("tool", "no such file"),
        ("assistant", "Done."),
        ("user", "Thanks."),
    ]
    assert [tool.status for tool in state.tools.values()] == ["failed", "done"]
    assert list(state.turns) == [f"iri://session/s-1/turn/{n}" for n in range(1, 7)]
    assert [turn.time for turn in state.turns.values()] == [
        "2026-03-01T08:00:00.000Z",
        "2026-03-01T08:00:05.000Z",
        "2026-03-01T08:00:10.000Z",
        "2026-03-01T08:00:11.000Z",
        "2026-03-01T08:00:11.000Z",
        "2026-03-01T08:00:11.000Z",
    ]
    assert (state.outcome, state.answer) == ("done", "Done.")


def test_a_session_begins_when_its_first_turn_was_said() -> None:
    old, untimed = says("user", "Go.", time="2025-01-01T00:00:00Z"), says("user", "Go.")
    assert {s.time for s in converted([old])} == {"2025-01-01T00:00:00.000Z"}
    assert {s.time for s in converted([untimed])} == {"2026-03-01T00:00:00.000Z"}
    assert [type(s.event) for s in converted([])] == [ev.SessionStarted, ev.SessionEnded]


def test_a_call_without_a_result_gets_one_before_anything_else() -> None:
    state = folded([says("user", "Go."), says("assistant", "", "c1", "c2"), says("user", "Stop.")])
    assert [turn.role for turn in state.turns.values()] == [
        *("user", "assistant", "tool", "tool", "user")
    ]
    assert [t.text for t in state.turns.values() if t.role == "tool"] == [NO_RESULT] * 2


def test_a_result_that_comes_late_is_moved_up_to_its_call() -> None:
    state = folded(
        [
            says("user", "Go."),
            says("assistant", "One.", "c1"),
            says("assistant", "Two.", "c2", "c3"),
            says("tool", "first", call_id="c1"),
            says("tool", "second", call_id="c2"),
            says("user", "Stop."),
            says("tool", "third", call_id="c3"),
        ]
    )
    assert [(t.role, t.text) for t in state.turns.values()] == [
        ("user", "Go."),
        ("assistant", "One."),
        ("tool", "first"),
        ("assistant", "Two."),
        ("tool", "second"),
        ("tool", "third"),
        ("user", "Stop."),
    ]


def test_a_result_without_a_call_is_kept_as_a_result() -> None:
    answered = says("tool", "first", call_id="c1")
    late = says("tool", "late", call_id="c1", name="ls")
    state = folded([says("user", "Go."), says("assistant", "", "c1"), answered, late])
    *_, call, result = state.turns.values()
    assert (call.role, call.calls[0].name, result.text) == ("assistant", "ls", "late")
    assert result.call_id == call.calls[0].id == "c1-2"


def test_a_call_id_that_is_used_again_belongs_to_the_latest_call() -> None:
    state = folded(
        [says("assistant", "", "c1"), says("assistant", "", "c1"), says("tool", "x", call_id="c1")]
    )
    assert [(t.text, t.call_id) for t in state.turns.values() if t.role == "tool"] == [
        (NO_RESULT, "c1"),
        ("x", "c1-2"),
    ]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        *(("9999-12-31T23:59:59Z", place) for place in range(4)),
        *((time, place) for time in ("0001-01-01T00:00:00Z", 0.0) for place in (2, 3, 4)),
    ],
)
def test_one_wrong_clock_costs_its_own_time_only(wrong: str | float, place: int) -> None:
    times: list[str | float] = [f"2026-03-01T08:00:0{second}Z" for second in range(4)]
    said = [says("user", "Go.", time=time) for time in times]
    said.insert(place, says("user", "Go.", time=wrong))
    turns = [s.time for s in converted(said) if isinstance(s.event, ev.TurnAdded)]
    del turns[place]
    assert turns == [f"2026-03-01T08:00:0{second}.000Z" for second in range(4)]


def test_many_calls_with_one_id_are_named_in_linear_time() -> None:
    said = [says("assistant", "", "f") for _ in range(3000)]
    began = perf_counter()
    names = [s.event.call for s in converted(said) if isinstance(s.event, ev.ToolRequested)]
    assert names == ["f", *(f"f-{number}" for number in range(2, 3001))]
    assert perf_counter() - began < 5


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 101, "a\nb", "a b"])
def test_only_a_plain_name_becomes_an_id(name: str) -> None:
    with pytest.raises(UsageError, match="id of a session"):
        to_events([], name, source="Codex", start=START)
