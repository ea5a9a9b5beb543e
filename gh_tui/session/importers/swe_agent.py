"""SWE-agent and mini-SWE-agent: chat messages in which a command is an action of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gh_tui.session.importers import chat
from gh_tui.session.importers.parts import items, mapping, string, text_of
from gh_tui.session.importers.turns import Turns

_BLOCKS: Final = tuple(
    re.compile(rf"```{kind}[ \t]*\n(.*?)\n?```", re.DOTALL)
    for kind in ("mswea_bash_command", "bash", "sh")
)
"""By the kind of block: the first kind that a text has is that of commands."""


def read(records: Iterable[Any]) -> Turns:
    """SWE-agent's history: the command is in `action`, its result in the next user message."""
    return chat.read_with_actions(map(_without_demonstration, records), _action)


def read_mini(records: Iterable[Any]) -> Turns:
    """mini-SWE-agent's messages: the command is the one code block of the assistant's text."""
    return chat.read_with_actions(_with_complaints(records), _block)


def is_mini(record: dict[str, Any]) -> bool:
    """Whether an object with messages says that mini-SWE-agent wrote it."""
    named = string(record.get("trajectory_format")).startswith("mini-swe-agent")
    return named or "mini_version" in mapping(record.get("info"))


def speaks_mini(messages: Any) -> bool:
    """Whether the prompt names the kind of block that only mini-SWE-agent has."""
    return any("mswea_" in text_of(message.get("content")) for message in list(items(messages))[:3])


def _without_demonstration(record: Any) -> Any:
    """What is shown to the model as an example is no turn of the session."""
    message = mapping(record)
    if not message.get("is_demo"):
        return record
    return {"role": "system", "content": message.get("content")}


def _action(message: dict[str, Any]) -> tuple[str, str] | None:
    command = string(message.get("action")).strip()
    return (string(message.get("thought")).strip(), command) if command else None


def _with_complaints(records: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Mark as the program's what it says of an answer that it refuses: one without one block."""
    refused = False
    for message in map(mapping, records):
        role = string(message.get("role"))
        reason = mapping(message.get("extra")).get("interrupt_type")
        complains = reason == "FormatError" or (refused and reason is None)
        yield {**message, "role": "system"} if role == "user" and complains else message
        refused = role == "assistant" and not message.get("tool_calls") and not _block(message)


def _block(message: dict[str, Any]) -> tuple[str, str] | None:
    text = text_of(message.get("content"))
    blocks = next(filter(None, (list(kind.finditer(text)) for kind in _BLOCKS)), [])
    if len(blocks) != 1:
        return None
    (found,) = blocks
    thought = f"{text[: found.start()].rstrip()}\n{text[found.end() :].lstrip()}"
    return thought.strip(), found[1]
