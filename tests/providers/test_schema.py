from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.context.prompts import system_prompt
from gh_tui.events.values import ToolCall
from gh_tui.providers.base import Completed, Message, ReasoningDelta, TextDelta, ToolSpec
from gh_tui.providers.schema import ReplyReader, encode_messages, reply_schema
from gh_tui.providers.schema_decoder import ObjectDecoder

# Everything a JSON string can hold, lone surrogates included.
_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_MEMBERS = st.dictionaries(st.sampled_from(["thought", "answer"]) | _TEXT, _VALUE, max_size=4)


def _sound(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


def _read(pieces: list[str], finish: str = "stop") -> tuple[list[Any], Completed]:
    reader = ReplyReader()
    deltas: list[Any] = [delta for piece in pieces for delta in reader.feed(piece)]
    late, completed = reader.finish(None, finish)
    return [*deltas, *late], completed


@given(
    _MEMBERS,
    st.lists(st.integers(0, 500), max_size=12),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_decoder_agrees_with_json_however_it_is_cut(
    members: dict[str, Any], cuts: list[int], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(members, ensure_ascii=ascii_only, indent=indent)
    decoder = ObjectDecoder(frozenset({"thought", "answer"}))
    got: dict[str, str] = {}
    for piece in _cut(text, cuts):
        for name, decoded in decoder.feed(piece):
            assert decoded
            got[name] = got.get(name, "") + decoded
    for name in ("thought", "answer"):
        wanted = json.loads(text).get(name)
        assert got.get(name, "") == (_sound(wanted) if isinstance(wanted, str) else "")


def test_surrogate_pair_cut_between_its_halves() -> None:
    decoder = ObjectDecoder(frozenset({"answer"}))
    pieces = [decoder.feed(part) for part in ('{"answer":"\\ud83', "d", "\\ude", '00!"}')]
    assert pieces == [[], [], [], [("answer", "😀!")]]


def test_answer_streams_before_the_object_ends() -> None:
    reader = ReplyReader()
    assert reader.feed('{"thought":"Hm') == [ReasoningDelta("Hm")]
    assert reader.feed('.","answer":"a\\nb') == [ReasoningDelta("."), TextDelta("a\nb")]


def test_a_call_keeps_its_raw_json() -> None:
    raw = '{"thought":"look","tool":"read_file","args":{"path":"a\\ud800.txt"}}'
    _, completed = _read([raw])
    (call,) = completed.calls
    assert (call.name, call.arguments, call.error) == ("read_file", {"path": "a\ufffd.txt"}, None)
    assert (completed.text, completed.reasoning) == ("", "look")
    (back,) = encode_messages([Message("assistant", "", completed.calls, blocks=completed.blocks)])
    assert (back.text, back.calls) == (raw, ())


@pytest.mark.parametrize(
    ("raw", "text", "names"),
    [
        ('{"thought":"t","answer":"half of', "half of", []),
        ('{"thought":"t","answer":"say \\"tool\\": \\"now\\" and', 'say "tool": "now" and', []),
        ('{"thought":"t","tool":"write_file","args":{"path":"a","cont', "", ["write_file"]),
        ('{"thought":"t","to', "", []),
    ],
)
def test_a_cut_reply_keeps_its_text_and_runs_nothing(raw: str, text: str, names: list[str]) -> None:
    _, completed = _read([raw], finish="length")
    assert completed.text == text
    assert completed.reasoning == "t"
    assert [call.name for call in completed.calls] == names
    assert all(call.error and not call.arguments for call in completed.calls)
    assert completed.blocks == ()


@pytest.mark.parametrize("arguments", ["[]", '"x"', "null"])
def test_arguments_that_are_no_object_do_not_run(arguments: str) -> None:
    _, completed = _read([f'{{"thought":"","tool":"now","args":{arguments}}}'])
    assert completed.calls[0].error


@pytest.mark.parametrize(
    "raw",
    ["Just text.", "```python\nprint(1)\n```", '{"a": 1}', "{not json", "```js\nlet a = {}\n```"],
)
def test_a_reply_without_the_protocol_is_the_answer(raw: str) -> None:
    for pieces in ([raw], list(raw)):
        deltas, completed = _read(pieces)
        assert "".join(delta.text for delta in deltas) == completed.text == raw
        assert not completed.calls
        assert not completed.blocks


def test_a_fenced_reply_is_read() -> None:
    deltas, completed = _read(list('```json\n{"thought":"t","answer":"yes"}\n```'))
    assert completed.text == "yes"
    assert deltas[0] == ReasoningDelta("t")


@given(st.text(max_size=80), st.lists(st.integers(0, 80), max_size=8))
def test_any_text_gives_deltas_that_add_up(text: str, cuts: list[int]) -> None:
    deltas, completed = _read(_cut(text, cuts))
    shown = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert shown == completed.text


def test_only_three_roles_go_on_the_wire_and_results_are_data() -> None:
    call = ToolCall("c1", "now", {})
    wire = encode_messages(
        [
            Message("system", "rules"),
            Message("user", "what time is it"),
            Message("assistant", "", (call,)),
            Message("tool", "12:00", call_id="c1", name="now", iri="iri://session/s/turn/3"),
            Message("user", "in UTC, please"),
            Message("assistant", "12:00 UTC"),
        ]
    )
    assert [message.role for message in wire] == [
        "system",
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]
    assert json.loads(wire[2].text) == {"thought": "", "tool": "now", "args": {}}
    label, mark, result, *_ = wire[3].text.split("\n")
    assert label == "[tool result · now · iri://session/s/turn/3]"
    assert "not instructions" in mark
    assert result == "12:00"
    assert wire[4].text == "in UTC, please"
    assert json.loads(wire[5].text)["answer"] == "12:00 UTC"


def test_the_schema_has_one_form_for_each_tool_in_writing_order() -> None:
    tool = ToolSpec(
        "read_file",
        "the text of a file",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )
    answer, call = reply_schema([tool])["anyOf"]
    assert list(answer["properties"]) == ["thought", "answer"]
    assert list(call["properties"]) == ["thought", "tool", "args"]
    assert call["properties"]["tool"] == {"const": "read_file"}
    assert call["properties"]["args"]["required"] == ["path"]
    assert not call["properties"]["args"]["additionalProperties"]
    assert list(reply_schema([])["properties"]) == ["thought", "answer"]


def test_the_system_prompt_lists_tools_only_in_the_schema_protocol() -> None:
    tool = ToolSpec("now", "the current date and time", {"type": "object", "properties": {}})
    assert "- now(): the current date and time" in system_prompt([tool], "schema")
    assert "now()" not in system_prompt([tool], "native")
