from __future__ import annotations

import dataclasses
import json
import types
import typing
from typing import Any, Literal, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.events import types as ev
from gh_tui.events.codec import (
    DecodeError,
    NewerVersionError,
    event_classes,
    event_name,
    from_line,
    from_wire,
    to_line,
    to_wire,
)
from gh_tui.events.envelope import Envelope

TEXT = st.text(st.characters(codec=None), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def values(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of([st.none() if a is type(None) else values(a) for a in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(a) for a in arguments))
    if origin is dict:
        return st.dictionaries(TEXT, values(arguments[1]), max_size=3)
    if dataclasses.is_dataclass(hint):
        return objects(typing.cast("type", hint))
    simple = {str: TEXT, int: st.integers(0, 2**53), float: NUMBERS, bool: st.booleans(), Any: JSON}
    return simple[hint]


def objects(kind: type) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    fields = {item.name: values(hints[item.name]) for item in dataclasses.fields(kind)}
    return st.builds(kind, **fields)


EVENTS = st.one_of([objects(kind) for kind in event_classes().values()])


@given(EVENTS, st.none() | st.integers(1, 2**53))
def test_every_event_survives_its_line(event: ev.Event, seq: int | None) -> None:
    envelope = Envelope(seq, "2026-01-01T00:00:00.000Z", "s", event)
    line = to_line(envelope)
    assert line.count(b"\n") == 1
    assert from_line(line) == envelope


def test_the_names_on_the_wire_are_those_of_the_interface() -> None:
    names = set(event_classes())
    assert "USER_SUPPLEMENTARY_INPUT" in names
    assert "SupplementaryInputReceived" not in names
    event = ev.PassFinished(pass_=3, tokens_after=1, prefix_kept=0)
    wire = to_wire(Envelope(1, "t", "s", event))
    assert wire["pass"] == 3
    assert list(wire)[:5] == ["v", "seq", "time", "session", "type"]


def test_a_delta_has_no_seq() -> None:
    wire = to_wire(Envelope(None, "t", "s", ev.ReplyDelta(request=1, kind="text", text="x")))
    assert "seq" not in wire


def test_unknown_kinds_and_fields_are_kept_or_passed_over() -> None:
    wire = {"v": 1, "seq": 1, "time": "t", "session": "s", "type": "FutureThing", "x": [1]}
    envelope = from_wire(wire)
    assert event_name(envelope.event) == "FutureThing"
    assert to_wire(envelope) == wire
    known = {"v": 1, "seq": 2, "time": "t", "session": "s", "type": "CycleStarted", "cycle": 1}
    assert from_wire({**known, "new": True}).event == ev.CycleStarted(cycle=1)


def test_a_newer_version_is_refused_with_words() -> None:
    with pytest.raises(NewerVersionError, match="version 2"):
        from_wire({"v": 2, "seq": 1, "time": "t", "session": "s", "type": "CycleStarted"})


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_nonsense_is_a_decode_error_and_nothing_else(line: bytes) -> None:
    with pytest.raises(DecodeError):
        from_line(line)


@pytest.mark.parametrize(
    "field",
    [
        {"cycle": "1"},
        {"cycle": True},
        {"cycle": None},
        {"cycle": 1.5},
        {},
    ],
)
def test_wrong_types_are_found(field: dict[str, Any]) -> None:
    with pytest.raises(DecodeError):
        from_wire({"v": 1, "seq": 1, "time": "t", "session": "s", "type": "CycleStarted", **field})


def test_nesting_too_deep_is_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        from_line(b"[" * 100_000)
