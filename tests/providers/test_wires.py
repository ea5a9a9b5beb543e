"""The wires of Ollama and Anthropic: whatever order is valid here is valid there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import ProviderError
from gh_tui.events.values import ToolCall
from gh_tui.providers.base import Message
from gh_tui.providers.wire import validate_order
from gh_tui.providers.wire_anthropic import NOTHING, check_anthropic, to_anthropic
from gh_tui.providers.wire_ollama import THINKING_BLOCK, check_ollama, to_ollama

SYSTEM = Message("system", "rules")
TASK = Message("user", "the task")
CALLS = (ToolCall("call_1", "read", {"path": "ä"}), ToolCall("call_2", "list", {}))
ASKS = Message("assistant", "Let me look.", calls=CALLS)
FIRST = Message("tool", "one", call_id="call_1", name="read")
SECOND = Message("tool", "two", call_id="call_2", name="list")
EXCHANGE = [ASKS, FIRST, SECOND]
CORRECTION = Message("user", "No, the other file")


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A valid order with exchanges whose results come in any order, and any number of inputs."""
    messages = [SYSTEM, TASK]
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["input", "answer", "exchange"]))
        text = draw(st.sampled_from(["", " ", "a", "b\n"]))
        if kind == "exchange":
            ids = draw(st.lists(st.sampled_from(["1", "2", "ü x", "…"]), min_size=1, unique=True))
            calls = tuple(ToolCall(name, draw(st.sampled_from(["read", "?"])), {}) for name in ids)
            messages.append(Message("assistant", text, calls=calls))
            order = draw(st.permutations(calls))
            messages += [Message("tool", text, call_id=c.id, name=c.name) for c in order]
        else:
            messages.append(Message("user" if kind == "input" else "assistant", text))
    return [*messages, CORRECTION]


@given(conversations())
def test_s6_every_valid_order_is_valid_on_the_other_wires(messages: list[Message]) -> None:
    validate_order(messages)
    check_ollama(to_ollama(messages))
    system, wire = to_anthropic(messages)
    check_anthropic(wire)
    assert system == "rules"
    assert wire[-1]["content"][-1] == {"type": "text", "text": CORRECTION.text}


@given(conversations())
def test_every_input_is_there_byte_equal_and_by_itself(messages: list[Message]) -> None:
    said = [message.text for message in messages if message.role == "user"]
    ollama = [entry["content"] for entry in to_ollama(messages) if entry["role"] == "user"]
    assert ollama == said
    _, wire = to_anthropic(messages)
    blocks = [
        block["text"]
        for message in wire
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]
    assert blocks == [text if text.strip() else NOTHING for text in said]


def test_an_exchange_with_a_correction_on_ollamas_wire() -> None:
    thinking = Message("assistant", "Hm.", blocks=({"type": THINKING_BLOCK, "text": "so"},))
    assert to_ollama([SYSTEM, TASK, ASKS, SECOND, FIRST, CORRECTION, thinking]) == [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "the task"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"function": {"name": "read", "arguments": {"path": "ä"}}},
                {"function": {"name": "list", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "one", "tool_name": "read"},
        {"role": "tool", "content": "two", "tool_name": "list"},
        {"role": "user", "content": "No, the other file"},
        {"role": "assistant", "content": "Hm.", "thinking": "so"},
    ]


def test_an_exchange_with_a_correction_on_anthropics_wire() -> None:
    thinking = {"type": "thinking", "thinking": "so", "signature": "x"}
    asks = Message("assistant", "", calls=CALLS, blocks=(thinking, {"type": "other"}))
    system, wire = to_anthropic([SYSTEM, TASK, asks, SECOND, FIRST, CORRECTION])
    assert system == "rules"
    assert wire == [
        {"role": "user", "content": [{"type": "text", "text": "the task"}]},
        {
            "role": "assistant",
            "content": [
                thinking,
                {"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "ä"}},
                {"type": "tool_use", "id": "call_2", "name": "list", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_2", "content": "two"},
                {"type": "tool_result", "tool_use_id": "call_1", "content": "one"},
                {"type": "text", "text": "No, the other file"},
            ],
        },
    ]


def test_call_ids_that_come_again_are_told_apart() -> None:
    _, wire = to_anthropic([TASK, *EXCHANGE, *EXCHANGE])
    uses = [b["id"] for m in wire for b in m["content"] if b["type"] == "tool_use"]
    results = [b["tool_use_id"] for m in wire for b in m["content"] if b["type"] == "tool_result"]
    assert uses == results == ["call_1", "call_2", "call_1_2", "call_2_2"]


def ollama(role: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": "x", **fields}


READ = {"tool_calls": [{"function": {"name": "read", "arguments": {}}}]}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "nobody"),
        ([ollama("user"), ollama("system"), ollama("user")], "message 2 is a system message"),
        ([ollama("user"), ollama("assistant")], "role assistant"),
        ([ollama("user"), ollama("assistant", **READ)], "result of read is missing"),
        (
            [ollama("user"), ollama("assistant", **READ), ollama("user")],
            "message 3 (user) comes before the result of read",
        ),
        ([ollama("user"), ollama("tool", tool_name="read")], "no call is waiting"),
        (
            [ollama("user"), ollama("assistant", **READ), ollama("tool", tool_name="list")],
            "no call is waiting",
        ),
        ([{"role": "user", "content": None}], "no text"),
    ],
)
def test_an_invalid_order_for_ollama_is_named(messages: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(ProviderError) as caught:
        check_ollama(messages)
    assert words in str(caught.value)
    assert caught.value.kind == "protocol"


def said(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


TEXT = {"type": "text", "text": "x"}
USE = {"type": "tool_use", "id": "1", "name": "read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "1"}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "nothing to send"),
        ([said("assistant", TEXT)], "message 1 is of the role assistant"),
        ([said("user", TEXT), said("user", TEXT)], "message 2 is of the role user"),
        ([said("user", TEXT), said("assistant", TEXT)], "last message"),
        ([said("user")], "message 1 is empty"),
        ([said("user", {"type": "text", "text": " \n"})], "without any letter"),
        ([said("user", TEXT), said("assistant", USE), said("user", TEXT)], "before its results"),
        ([said("user", RESULT)], "no call is waiting"),
        (
            [said("user", TEXT), said("assistant", USE), said("user", RESULT, RESULT)],
            "no call is waiting",
        ),
        (
            [
                *(said("user", TEXT), said("assistant", USE), said("user", RESULT)),
                *(said("assistant", USE), said("user", RESULT)),
            ],
            "was there before",
        ),
    ],
)
def test_an_invalid_order_for_anthropic_is_named(
    messages: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        check_anthropic(messages)
    assert words in str(caught.value)
    assert caught.value.kind == "protocol"
