"""ChatGPT's export: each conversation is a tree of messages, of which one branch is current."""

from __future__ import annotations

from typing import Any

from gh_tui.errors import RecordingError
from gh_tui.session.importers.parts import mapping, string


def main_line(nodes: dict[str, Any], last: str) -> list[dict[str, Any]]:
    """The messages from the root of a tree to its node `last`, in order, as chat messages.

    Raises:
        RecordingError: the links between the messages run in a circle.
    """
    line: list[dict[str, Any]] = []
    passed: set[str] = set()
    name = last
    while name in nodes:
        if name in passed:
            raise RecordingError(f"the messages answer each other in a circle at {name!r:.40}")
        passed.add(name)
        node = mapping(nodes[name])
        before = string(node.get("parent"))
        line.append(_chat_message(mapping(node.get("message")), name, before))
        name = before
    return line[::-1]


def _chat_message(message: dict[str, Any], name: str, before: str) -> dict[str, Any]:
    """A message to a tool is a call; a tool answers the message before its own."""
    author, content = mapping(message.get("author")), mapping(message.get("content"))
    parts = content.get("parts", content.get("text"))
    recipient = string(message.get("recipient"))
    chat = {
        "role": author.get("role"),
        "name": author.get("name"),
        "content": parts,
        "timestamp": message.get("create_time"),
    }
    if author.get("role") == "tool":
        return {**chat, "tool_call_id": before}
    if author.get("role") == "assistant" and recipient not in ("", "all"):
        asked = {"name": recipient, "arguments": string(content.get("text")) or _only(parts)}
        return {**chat, "content": None, "tool_calls": [{"id": name, "function": asked}]}
    return chat


def _only(parts: Any) -> Any:
    return parts[0] if isinstance(parts, list) and len(parts) == 1 else parts
