"""Case P6: a tool call written as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.providers.textcalls import calls_in_text

CALL = '{"name": "read", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"  {CALL}\n",
        f"[{CALL}]",
        f"I look.\n<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"[TOOL_CALLS][{CALL}]",
        f"<|python_tag|>{CALL}",
        f"Sure:\n```json\n{CALL}\n```\nThat reads it.",
        f"```\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        '<function=read>{"path": "a"}</function>',
        '{"tool": "read", "args": {"path": "a"}}',
        '{"name": "read", "parameters": {"path": "a"}}',
        '{"type": "function", "function": {"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}}',
        f'<tool_call>{{"name": "unknown", "arguments": {{}}}}</tool_call><tool_call>{CALL}',
    ],
)
def test_p6_calls_are_recognised(text: str) -> None:
    (call,) = calls_in_text(text, {"read", "write"})
    assert (call.name, call.arguments, call.error) == ("read", {"path": "a"}, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Read the file a.",
        f"The call would be {CALL}, I think.",
        f"`{CALL}`",
        '```json\n{"name": "horse", "arguments": {}}\n```',
        '```json\n{"name": "read"}\n```',
        '```json\n{"name": "read", "arguments": [1]}\n```',
        '```python\nread("a")\n```',
        "<tool_call>read a</tool_call>",
        '<tool_call>{"name": "read", "arguments": {"path": </tool_call>',
        '{"name": ["read"], "arguments": {}}',
        "[" * 100_000,
    ],
)
def test_p6_other_text_is_no_call(text: str) -> None:
    assert calls_in_text(text, {"read"}) == ()


def test_p6_several_calls_come_in_order_and_once() -> None:
    other = '{"name": "write", "arguments": {"text": "<tool_call>{}"}}'
    text = f"<tool_call>{CALL}\n{other}</tool_call>\n<tool_call>{CALL}</tool_call>"
    calls = calls_in_text(text, ["read", "write"])
    assert [(call.id, call.name) for call in calls] == [
        ("text-1", "read"),
        ("text-2", "write"),
        ("text-3", "read"),
    ]


@given(st.text(alphabet='{}[]":,`\n <>/_toolcalnmergs=', max_size=60))
def test_p6_no_text_breaks_it(text: str) -> None:
    for call in calls_in_text(text, {"a"}):
        assert call.name == "a"
