"""The order in which messages are valid everywhere, and their form on the OpenAI wire."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gh_tui.providers.base import Message, ToolSpec

NEXT_MESSAGE = "\n\n--- next message from the user ---\n\n"
"""Stands between user messages that had to be joined."""

FIELDS_BLOCK = "openai_fields"
"""The type of a block whose other keys are fields of an assistant message."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAMELESS = "unknown_tool"


def validate_order(messages: Sequence[Message]) -> None:
    """Check that every server will accept the order of `messages`.

    A system message stands first only; an assistant message with calls is followed by all
    their results, each exactly once, before anything else; no result stands elsewhere; the
    last message is a user's or a result.

    Raises:
        ProviderError: of kind `protocol`; names the first message at fault, counted from 1.
    """
    if not messages:
        raise _fault("there is nothing to send")
    open_calls: set[str] = set()
    for number, message in enumerate(messages, 1):
        if message.role == "tool":
            if message.call_id not in open_calls:
                raise _fault(
                    f"message {number} is a result for call {message.call_id!r}, which is not "
                    "open there"
                )
            open_calls.discard(message.call_id)
            continue
        if open_calls:
            raise _fault(
                f"message {number} ({message.role}) comes before the result of "
                f"{', '.join(sorted(open_calls))}"
            )
        if message.role == "system" and number > 1:
            raise _fault(f"message {number} is a system message; only the first may be one")
        if message.calls:
            open_calls = _opened(number, message)
    if open_calls:
        raise _fault(f"the result of {', '.join(sorted(open_calls))} is missing")
    if messages[-1].role not in ("user", "tool"):
        raise _fault(f"the last message is of the role {messages[-1].role}")


def _opened(number: int, message: Message) -> set[str]:
    if message.role != "assistant":
        raise _fault(f"message {number} ({message.role}) has tool calls")
    ids = {call.id for call in message.calls}
    if len(ids) < len(message.calls) or "" in ids:
        raise _fault(f"message {number} has tool calls without an id of their own")
    return ids


def _fault(text: str) -> ProviderError:
    return ProviderError(f"the request was not sent, its order is invalid: {text}", kind="protocol")


def has_adjacent_users(messages: Iterable[Message]) -> bool:
    """Whether a user message directly follows another."""
    return any(a.role == b.role == "user" for a, b in pairwise(messages))


def safe_name(name: str) -> str:
    """The name of a tool; servers refuse a history with a name that they would not allow."""
    return name if _NAME.fullmatch(name) else _NAMELESS


def to_openai(
    messages: Iterable[Message], *, alternating: bool = False, with_blocks: bool = False
) -> list[dict[str, Any]]:
    """The `messages` of a chat completion request.

    Args:
        messages: in a valid order.
        alternating: join adjacent user messages, for templates that refuse them.
        with_blocks: give the provider its own blocks (such as reasoning) back.
    """
    out: list[dict[str, Any]] = []
    for run in _runs(messages, joined=alternating):
        message = run[0]
        entry: dict[str, Any] = {"role": message.role, "content": _content(run)}
        if message.role == "tool":
            entry["tool_call_id"] = message.call_id
        if message.calls:
            entry["content"] = message.text or None
            entry["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": safe_name(call.name),
                        "arguments": json.dumps(call.arguments, ensure_ascii=False),
                    },
                }
                for call in message.calls
            ]
        if with_blocks:
            for block in message.blocks:
                if block.get("type") == FIELDS_BLOCK:
                    entry |= {key: value for key, value in block.items() if key != "type"}
        out.append(entry)
    return out


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message as a server got it."""

    content: str
    place: int
    """From 1, the system message included."""
    count: int
    """How many messages the request had."""


def as_sent(messages: Iterable[Message], *, joined: bool) -> dict[str, SentMessage]:
    """The message that carried each turn, by IRI; joined ones stand for each of their turns."""
    runs = list(_runs(messages, joined=joined))
    return {
        message.iri: SentMessage(_content(run), place, len(runs))
        for place, run in enumerate(runs, 1)
        for message in run
        if message.iri is not None
    }


def _runs(messages: Iterable[Message], *, joined: bool) -> Iterator[list[Message]]:
    """The messages one by one; where they are joined, neighbours of the user's together."""
    for is_user, group in groupby(messages, lambda message: message.role == "user"):
        if is_user and joined:
            yield list(group)
        else:
            yield from ([message] for message in group)


def _content(run: Sequence[Message]) -> str:
    return NEXT_MESSAGE.join(message.text for message in run)


def tools_to_openai(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """The `tools` of a chat completion request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]
