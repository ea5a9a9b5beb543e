"""Lists of chat messages: OpenAI's two forms, and Anthropic's blocks in the same frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.parts import call_of, items, mapping, moment, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Turns

ActionOf = Callable[[dict[str, Any]], tuple[str, str] | None]
"""The thought and the command in an assistant's text, where it gives one."""

_EXIT: Final = re.compile(r"<returncode>(-?\d+)</returncode>")
_ITEMS: Final = {"function_call": "assistant", "function_call_output": "tool"}
"""Items of the Responses form without a role, and whose they are."""


def matches(record: dict[str, Any]) -> bool:
    """Whether an item of a list is a message of this form."""
    item = string(record.get("type")) in _ITEMS or record.get("object") == "response"
    return item or "role" in record


def read(records: Iterable[Any]) -> Turns:
    """Messages with `role` and `content`; calls in `tool_calls`, in blocks or as items."""
    return read_with_actions(records, lambda message: None)


def read_with_actions(records: Iterable[Any], action_of: ActionOf) -> Turns:
    """The same, where a call may be in an assistant's text and its result the next message."""
    acted: ToolCall | None = None
    last: ToolCall | None = None
    number = 0
    for message in map(mapping, records):
        role = _role(message)
        if role == "assistant":
            text, calls = _text(message), tuple(_calls(message))
            action = None if calls else action_of(message)
            acted = None
            if action is not None:
                number += 1
                text, command = action
                acted = ToolCall(f"action-{number}", "bash", {"command": command})
                calls = (acted,)
            last = calls[-1] if calls else None
            yield ImportedTurn(role="assistant", text=text, calls=calls, time=_time(message))
        elif role == "tool" or (role == "user" and acted is not None):
            yield _result(message, acted)
            acted = last = None
        elif role == "exit":  # what the last call, which ended the run, led to
            yield _result(message, last) if last is not None else _told(message)
            acted = last = None
        elif role == "user":
            yield from _said_by_user(message)
        elif role == "system":
            yield _told(message)


def _role(message: dict[str, Any]) -> str:
    if message.get("object") == "response":
        return "assistant"
    role = string(message.get("role")) or _ITEMS.get(string(message.get("type")), "")
    return {"function": "tool", "developer": "system"}.get(role, role)


def _time(message: dict[str, Any]) -> str | float | None:
    return moment(message.get("timestamp", mapping(message.get("extra")).get("timestamp")))


def _text(message: dict[str, Any]) -> str:
    said = [text_of(message.get("content")), string(message.get("refusal"))]
    said += [text_of(item.get("content")) for item in items(message.get("output"))]
    return "\n".join(filter(None, said))


def _told(message: dict[str, Any]) -> ImportedTurn:
    return ImportedTurn(role="system", text=_text(message), time=_time(message))


def _said_by_user(message: dict[str, Any]) -> Turns:
    time = _time(message)
    for block in items(message.get("content")):
        if block.get("type") == "tool_result":
            failed = block.get("is_error")
            yield ImportedTurn(
                role="tool",
                text=text_of(block.get("content")),
                call_id=string(block.get("tool_use_id")),
                time=time,
                ok=not failed if isinstance(failed, bool) else None,
            )
    if text := _text(message):
        yield ImportedTurn(role="user", text=text, time=time)


def _result(message: dict[str, Any], acted: ToolCall | None) -> ImportedTurn:
    text = text_of(message.get("content", message.get("output")))
    name = string(message.get("name")) or None
    call_id = string(message.get("tool_call_id")) or string(message.get("call_id"))
    if not call_id:  # SWE-agent keeps a list; an old function call has its name only
        ids = message.get("tool_call_ids")
        call_id = string(ids[0]) if isinstance(ids, list) and ids else ""
    if acted is not None and not call_id:
        call_id, name = acted.id, acted.name
    code = mapping(message.get("extra")).get("returncode")
    if not isinstance(code, int) and (told := _EXIT.search(text)) is not None:
        code = int(told[1] != "0")
    return ImportedTurn(
        role="tool",
        text=text,
        call_id=call_id or name or "",
        name=name,
        time=_time(message),
        ok=code == 0 if isinstance(code, int) else None,
    )


def _calls(message: dict[str, Any]) -> list[ToolCall]:
    calls = []
    for call in items(message.get("tool_calls")):
        if function := mapping(call.get("function")):
            calls.append(call_of(call.get("id"), function.get("name"), function.get("arguments")))
        elif custom := mapping(call.get("custom")):
            calls.append(call_of(call.get("id"), custom.get("name"), custom.get("input")))
    calls += [
        call_of(block.get("id"), block.get("name"), block.get("input"))
        for block in items(message.get("content"))
        if block.get("type") == "tool_use"
    ]
    calls += [
        call_of(item.get("call_id"), item.get("name"), item.get("arguments"))
        for item in (message, *items(message.get("output")))
        if item.get("type") == "function_call"
    ]
    old = mapping(message.get("function_call"))
    if old and not calls:
        calls = [call_of(old.get("name"), old.get("name"), old.get("arguments"))]
    return calls
