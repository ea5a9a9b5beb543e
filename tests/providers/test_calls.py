"""Case P5: tool calls from fragments, never merged, never run as `{}`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.providers.calls import CallAssembler

if TYPE_CHECKING:
    from gh_tui.events.values import ToolCall


def piece(
    arguments: Any = None, *, index: int | None = None, call: Any = None, name: Any = None
) -> dict[str, Any]:
    made: dict[str, Any] = {"function": {}}
    if index is not None:
        made["index"] = index
    if call is not None:
        made["id"] = call
    if name is not None:
        made["function"]["name"] = name
    if arguments is not None:
        made["function"]["arguments"] = arguments
    return made


def assemble(*fragments: dict[str, Any], cut: bool = False) -> tuple[ToolCall, ...]:
    assembler = CallAssembler()
    for fragment in fragments:
        assembler.add(fragment)
    return assembler.result(cut=cut)


def brief(*fragments: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    return [(c.name, c.arguments, c.error is None) for c in assemble(*fragments)]


READ_A = ("read", {"path": "a"}, True)
READ_B = ("read", {"path": "b"}, True)

SHAPES = {
    "index, id only first": [
        piece("", index=0, call="1", name="read"),
        piece('{"path":', index=0),
        piece(' "a"}', index=0),
        piece('{"path": "b"}', index=1, call="2", name="read"),
    ],
    "interleaved by index": [
        piece('{"path":', index=0, call="1", name="read"),
        piece('{"path":', index=1, call="2", name="read"),
        piece('"a"}', index=0),
        piece('"b"}', index=1),
    ],
    "interleaved by id, no index": [
        piece('{"path":', call="1", name="read"),
        piece('{"path":', call="2", name="read"),
        piece('"a"}', call="1"),
        piece('"b"}', call="2"),
    ],
    "no index, id only first": [
        piece('{"path":', call="1", name="read"),
        piece('"a"}'),
        piece('{"path":', call="2", name="read"),
        piece('"b"}'),
    ],
    "no index, no id": [
        piece('{"path": "a"}', name="read"),
        piece('{"path": "b"}', name="read"),
    ],
    "the same index for both": [
        piece('{"path": "a"}', index=0, call="1", name="read"),
        piece('{"path": "b"}', index=0, call="2", name="read"),
    ],
    "the same index, no id": [
        piece('{"path": "a"}', index=0, name="read"),
        piece('{"path": "b"}', index=0, name="read"),
    ],
    "a new id in each fragment": [
        piece('{"path":', index=0, call="1", name="read"),
        piece('"a"}', index=0, call="x"),
        piece('{"path":', index=1, call="2", name="read"),
        piece('"b"}', index=1, call="y"),
    ],
    "empty id and name in later fragments": [
        piece("", index=0, call="1", name="read"),
        piece('{"path": "a"}', index=0, call="", name=""),
        piece('{"path": "b"}', index=1, call="2", name="read"),
    ],
    "the name in each fragment": [
        piece('{"path":', index=0, call="1", name="read"),
        piece('"a"}', index=0, call="1", name="read"),
        piece('{"path": "b"}', index=1, call="2", name="read"),
    ],
    "the id after the name": [
        piece("", index=0, name="read"),
        piece('{"path": "a"}', index=0, call="1"),
        piece('{"path": "b"}', index=1, call="2", name="read"),
    ],
    "arguments as an object": [
        piece({"path": "a"}, index=0, call="1", name="read"),
        piece({"path": "b"}, index=1, call="2", name="read"),
    ],
    "one id for two indexes": [
        piece('{"path": "a"}', index=0, call="1", name="read"),
        piece('{"path": "b"}', index=1, call="1", name="read"),
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_two_calls(shape: str) -> None:
    calls = assemble(*SHAPES[shape])
    assert [(c.name, c.arguments, c.error is None) for c in calls] == [READ_A, READ_B]
    assert len({c.id for c in calls}) == 2
    assert all(c.id for c in calls)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "without arguments"),
        ("", "without arguments"),
        ('{"path": "a"', "not one JSON object"),
        ('{"path": "a"}{"path": "b"}', "not one JSON object"),
        ("[1]", "not one JSON object"),
        ("null", "not one JSON object"),
        ('"text"', "not one JSON object"),
        ('{"n": NaN}', "not one JSON object"),
        ('{"path": "\\ud83d"}', "not one JSON object"),
        ("[" * 100_000, "not one JSON object"),
    ],
)
def test_arguments_that_are_no_object_are_an_error(raw: str | None, words: str) -> None:
    (call,) = assemble(piece(raw, index=0, call="1", name="read"))
    assert call.error is not None
    assert words in call.error
    assert len(call.error) < 200
    assert call.arguments == {}


def test_an_empty_name_is_an_error_of_its_own_call() -> None:
    first, second = assemble(
        piece('{"path": "a"}', index=0, call="1", name="read"),
        piece('{"path": "b"}', index=0, call="2", name=""),
    )
    assert (first.arguments, first.error) == ({"path": "a"}, None)
    assert (second.name, second.error) == ("", "the tool call has no name")


def test_pieces_that_could_belong_to_either_call_are_an_error_of_both() -> None:
    calls = assemble(
        piece("{", call="1", name="read"),
        piece("{", call="2", name="read"),
        piece('"path": "a"}'),
        piece("}", call="1"),
    )
    assert [call.error is not None for call in calls] == [True, True]
    assert "mixed" in str(calls[0].error)


def test_a_length_limit_inside_the_arguments_is_said() -> None:
    (call,) = assemble(piece('{"path": "a', index=0, call="1", name="read"), cut=True)
    assert "length limit" in str(call.error)


def test_a_surrogate_pair_split_between_fragments_is_whole() -> None:
    fragments = [piece('{"path": "\ud83d', index=0, call="1", name="read")]
    fragments.append(piece('\udc0e"}', index=0))
    assert brief(*fragments) == [("read", {"path": "🐎"}, True)]


@pytest.mark.parametrize(
    "fragment",
    [{}, {"function": None}, {"function": {"name": 7, "arguments": 7}}, {"index": "0", "id": 7}],
)
def test_nonsense_is_an_error_and_no_crash(fragment: dict[str, Any]) -> None:
    (call,) = assemble(fragment)
    assert call.error is not None


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3)


@given(data=st.data(), wanted=st.lists(ARGUMENTS, min_size=1, max_size=4))
def test_any_interleaving_by_index_or_id_gives_each_call_its_own(
    data: st.DataObject, wanted: list[dict[str, str]]
) -> None:
    by_index = data.draw(st.booleans())
    queues: list[list[dict[str, Any]]] = []
    for number, arguments in enumerate(wanted):
        text = json.dumps(arguments)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        same = {"index": number} if by_index else {"call": f"c{number}"}
        queues.append(
            [piece("", index=number if by_index else None, call=f"c{number}", name=f"t{number}")]
            + [piece(part, **same) for part in parts]
        )
    fragments = [queue.pop(0) for queue in queues]
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        fragments.append(queue.pop(0))
    assert brief(*fragments) == [(f"t{n}", arguments, True) for n, arguments in enumerate(wanted)]
