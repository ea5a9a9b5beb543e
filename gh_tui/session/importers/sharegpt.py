"""ShareGPT: messages with `from` and `value`, or with the role and content of a chat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gh_tui.session.importers import chat
from gh_tui.session.importers.parts import mapping, parsed_text, string
from gh_tui.session.importers.turns import Turns

_ROLES: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "system": "system",
    "function_call": "assistant",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
}


def matches(record: dict[str, Any]) -> bool:
    """Whether an item of a list is a message of this form."""
    return string(record.get("from")).lower() in _ROLES


def read(records: Iterable[Any]) -> Turns:
    """The messages of known speakers, in order."""
    return chat.read(map(_chat_message, map(mapping, records)))


def _chat_message(record: dict[str, Any]) -> dict[str, Any]:
    if "role" in record:
        return {**record, "role": string(record["role"]).lower()}
    speaker = string(record.get("from")).lower()
    said = next((record[key] for key in ("value", "text", "markdown") if key in record), None)
    message = {"role": _ROLES.get(speaker), "content": said}
    if speaker != "function_call":
        return message
    asked = mapping(parsed_text(string(said))) or {"arguments": said}
    return {**message, "content": None, "tool_calls": [{"function": asked}]}
