"""Lists of chat messages: OpenAI chat JSON (lists and trees), ShareGPT, (mini-)SWE-agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from gh_tui.errors import RecordingError
from gh_tui.events.values import ToolCall
from gh_tui.session.importers.parts import call_of, items, mapping, moment, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Turns

ActionOf = Callable[[dict[str, Any]], tuple[str, str] | None]
"""The thought and the command in an assistant's text, where it gives one."""

_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.DOTALL)
_SPEAKERS: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "system": "system",
}
_EXIT: Final = re.compile(r"<returncode>(-?\d+)</returncode>")


def read_chat(records: Iterator[Any]) -> Turns:
    """Messages with `role` and `content`; calls in `tool_calls`."""
    return _read(records, lambda message: None)


def read_swe_agent(records: Iterator[Any]) -> Turns:
    """SWE-agent's history: the command is in `action`, its result in the next user message."""
    return _read(records, _action)


def read_mini_swe_agent(records: Iterator[Any]) -> Turns:
    """mini-SWE-agent's messages: the command is the one code block of the assistant's text."""
    return _read(records, _block)


def read_sharegpt(records: Iterator[Any]) -> Turns:
    """ShareGPT: `from` and `value`."""
    for record in map(mapping, records):
        match _SPEAKERS.get(string(record.get("from"))):
            case "user":
                yield ImportedTurn(role="user", text=text_of(record.get("value")))
            case "assistant":
                yield ImportedTurn(role="assistant", text=text_of(record.get("value")))
            case "system":
                yield ImportedTurn(role="system", text=text_of(record.get("value")))
            case _:
                pass


def main_line(nodes: dict[str, Any], last: str) -> list[Any]:
    """The messages from the root of a tree of messages to its node `last`, in order.

    Raises:
        RecordingError: the links between the messages run in a circle.
    """
    line: list[Any] = []
    passed: set[str] = set()
    name = last
    while name in nodes:
        if name in passed:
            raise RecordingError(f"the messages answer each other in a circle at {name!r:.40}")
        passed.add(name)
        node = mapping(nodes[name])
        line.append(_from_tree(mapping(node.get("message"))))
        name = string(node.get("parent"))
    return line[::-1]


def _from_tree(message: dict[str, Any]) -> dict[str, Any]:
    parts = mapping(message.get("content")).get("parts")
    return {
        "role": mapping(message.get("author")).get("role"),
        "content": parts,
        "timestamp": message.get("create_time"),
    }


def _read(records: Iterator[Any], action_of: ActionOf) -> Turns:
    waiting: ToolCall | None = None
    number = 0
    for message in map(mapping, records):
        role, text = message.get("role"), text_of(message.get("content"))
        time = moment(message.get("timestamp"))
        if role == "assistant":
            calls = _calls(message)
            action = None if calls else action_of(message)
            waiting = None
            if action is not None:
                number += 1
                text, command = action
                waiting = ToolCall(f"action-{number}", "bash", {"command": command})
                calls = (waiting,)
            yield ImportedTurn(role="assistant", text=text, calls=calls, time=time)
        elif role in ("tool", "function") or (role == "user" and waiting is not None):
            yield _result(message, text, waiting)
            waiting = None
        elif role == "user":
            demo = bool(message.get("is_demo"))
            yield ImportedTurn(role="system" if demo else "user", text=text, time=time)
        elif role in ("system", "developer"):
            yield ImportedTurn(role="system", text=text, time=time)


def _result(message: dict[str, Any], text: str, waiting: ToolCall | None) -> ImportedTurn:
    name = string(message.get("name")) or None
    call_id = string(message.get("tool_call_id"))
    if not call_id:  # SWE-agent keeps a list; an old function call has its name only
        ids = message.get("tool_call_ids")
        call_id = string(ids[0]) if isinstance(ids, list) and ids else ""
    if waiting is not None and not call_id:
        call_id, name = waiting.id, waiting.name
    code = _EXIT.search(text)
    return ImportedTurn(
        role="tool",
        text=text,
        call_id=call_id or name or "",
        name=name,
        time=moment(message.get("timestamp")),
        ok=None if code is None else code[1] == "0",
    )


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    calls = [
        call_of(call.get("id"), function.get("name"), function.get("arguments"))
        for call in items(message.get("tool_calls"))
        if (function := mapping(call.get("function")))
    ]
    old = mapping(message.get("function_call"))
    if old and not calls:
        calls = [call_of(old.get("name"), old.get("name"), old.get("arguments"))]
    return tuple(calls)


def _action(message: dict[str, Any]) -> tuple[str, str] | None:
    command = string(message.get("action")).strip()
    return (string(message.get("thought")).strip(), command) if command else None


def _block(message: dict[str, Any]) -> tuple[str, str] | None:
    text = text_of(message.get("content"))
    found = _BLOCK.search(text)
    if found is None:
        return None
    thought = f"{text[: found.start()].rstrip()}\n{text[found.end() :].lstrip()}"
    return thought.strip(), found[1]
