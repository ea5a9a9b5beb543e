from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import ProviderError
from gh_tui.events.values import ToolCall
from gh_tui.providers.base import Message, ToolSpec
from gh_tui.providers.scripted.manners import order_fault
from gh_tui.providers.wire import FIELDS_BLOCK, to_openai, tools_to_openai, validate_order

SYSTEM = Message("system", "rules")
USER = Message("user", "go")
ANSWER = Message("assistant", "done")
CALLS = Message("assistant", "", calls=(ToolCall("1", "read", {}), ToolCall("2", "read", {})))
FIRST = Message("tool", "one", call_id="1", name="read")
SECOND = Message("tool", "two", call_id="2", name="read")


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER],
        [SYSTEM, USER, USER],
        [USER, ANSWER, USER],
        [USER, CALLS, FIRST, SECOND],
        [USER, CALLS, SECOND, FIRST],
        [USER, CALLS, FIRST, SECOND, USER],
        [USER, CALLS, FIRST, SECOND, CALLS, FIRST, SECOND],
    ],
)
def test_valid_orders_pass(messages: list[Message]) -> None:
    validate_order(messages)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "nothing to send"),
        ([USER, SYSTEM, USER], "message 2 is a system message"),
        ([SYSTEM], "last message"),
        ([USER, ANSWER], "last message"),
        ([USER, CALLS], "result of 1, 2 is missing"),
        ([USER, CALLS, FIRST], "result of 2 is missing"),
        ([USER, CALLS, FIRST, USER, SECOND], "message 4 (user) comes before the result of 2"),
        ([USER, CALLS, FIRST, ANSWER], "message 4 (assistant) comes before the result of 2"),
        ([USER, CALLS, FIRST, FIRST, SECOND], "message 4 is a result for call '1'"),
        ([USER, FIRST], "message 2 is a result"),
        ([USER, CALLS, FIRST, SECOND, FIRST], "message 5 is a result"),
        ([USER, Message("tool", "x")], "call None"),
        ([Message("user", "x", calls=CALLS.calls)], "(user) has tool calls"),
        ([USER, Message("assistant", "", calls=CALLS.calls[:1] * 2), FIRST], "id of their own"),
        ([USER, Message("assistant", "", calls=(ToolCall("", "r", {}),)), FIRST], "id of their"),
    ],
)
def test_s6_invalid_orders_are_named(messages: list[Message], words: str) -> None:
    with pytest.raises(ProviderError) as caught:
        validate_order(messages)
    assert words in str(caught.value)
    assert caught.value.kind == "protocol"


@given(st.lists(st.sampled_from([SYSTEM, USER, ANSWER, CALLS, FIRST, SECOND]), max_size=7))
def test_the_validator_and_a_strict_server_agree(messages: list[Message]) -> None:
    try:
        validate_order(messages)
        accepted = True
    except ProviderError:
        accepted = False
    assert accepted == (order_fault(to_openai(messages), alternating=False) is None)


def test_an_exchange_with_tools_on_the_wire() -> None:
    call = ToolCall("1", "read", {"path": "ä"})
    wire = to_openai(
        [
            SYSTEM,
            Message("user", "go", iri="gh://1"),
            Message("assistant", "", calls=(call,)),
            FIRST,
        ]
    )
    assert wire == [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"path": "ä"}'},
                }
            ],
        },
        {"role": "tool", "content": "one", "tool_call_id": "1"},
    ]


def test_a_name_that_servers_refuse_does_not_poison_the_history() -> None:
    for name in ("", "rm -rf /", "ü"):
        (entry,) = to_openai([Message("assistant", "x", calls=(ToolCall("1", name, {}),))])
        assert entry["tool_calls"][0]["function"]["name"] == "unknown_tool"


def test_supplements_stay_apart_unless_the_server_needs_them_joined() -> None:
    messages = [USER, CALLS, FIRST, SECOND, Message("user", "a"), Message("user", "b")]
    assert [entry["content"] for entry in to_openai(messages)[-2:]] == ["a", "b"]
    joined = to_openai(messages, alternating=True)
    assert joined[-1]["content"].startswith("a\n\n---")
    assert joined[-1]["content"].endswith("---\n\nb")
    assert [entry["role"] for entry in joined] == ["user", "assistant", "tool", "tool", "user"]


def test_only_blocks_of_this_wire_go_back() -> None:
    blocks = ({"type": FIELDS_BLOCK, "reasoning": "hm"}, {"type": "other", "content": "x"})
    message = Message("assistant", "yes", blocks=blocks)
    assert to_openai([message])[0] == {"role": "assistant", "content": "yes"}
    assert to_openai([message], with_blocks=True)[0] == {
        "role": "assistant",
        "content": "yes",
        "reasoning": "hm",
    }


def test_tools_on_the_wire() -> None:
    (entry,) = tools_to_openai([ToolSpec("read", "Read.", {"type": "object"})])
    assert json.loads(json.dumps(entry)) == {
        "type": "function",
        "function": {"name": "read", "description": "Read.", "parameters": {"type": "object"}},
    }
