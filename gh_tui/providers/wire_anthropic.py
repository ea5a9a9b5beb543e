"""Messages on Anthropic's wire: user and assistant take turns, and each speaks in blocks.

The results of an assistant message are the first blocks of the next user message; what the
user said then follows as blocks of its own, so that nothing is spliced into a result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError
from gh_tui.providers.wire import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gh_tui.providers.base import Message

NOTHING = "[no text]"
"""Stands for a text without any visible character, which that server refuses."""

_OWN_BLOCKS = frozenset({"thinking", "redacted_thinking"})
_ID = re.compile(r"[A-Za-z0-9_-]+")

Block = dict[str, Any]


def to_anthropic(messages: Iterable[Message]) -> tuple[str, list[dict[str, Any]]]:
    """The `system` and the `messages` of a request.

    Args:
        messages: in a valid order (`wire.validate_order`).
    """
    system = ""
    out: list[dict[str, Any]] = []
    ids = _Ids()
    for message in messages:
        if message.role == "system":
            system = message.text
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not out or out[-1]["role"] != role:
            out.append({"role": role, "content": []})
        out[-1]["content"] += _blocks(message, ids)
    return system, out


def check_anthropic(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check what is about to be sent as `messages`.

    Raises:
        ProviderError: of kind `protocol`; names the first message at fault, counted from 1.
    """
    if not messages:
        raise _fault("there is nothing to send")
    waiting: set[str] = set()
    known: set[str] = set()
    for number, message in enumerate(messages, 1):
        wanted = "user" if number % 2 else "assistant"
        if message["role"] != wanted:
            raise _fault(f"message {number} is of the role {message['role']}, not {wanted}")
        if not message["content"]:
            raise _fault(f"message {number} is empty")
        waiting = _check_blocks(number, message["content"], waiting, known)
        known |= waiting
    if len(messages) % 2 == 0:
        raise _fault("the last message is of the role assistant")


def _check_blocks(
    number: int, content: Sequence[Mapping[str, Any]], waiting: set[str], known: set[str]
) -> set[str]:
    """Check one message; the ids of the calls that it opens."""
    waiting = set(waiting)
    opened: set[str] = set()
    for block in content:
        match block["type"]:
            case "tool_result":
                if block["tool_use_id"] not in waiting:
                    raise _fault(f"message {number} has a result that no call is waiting for")
                waiting.discard(block["tool_use_id"])
            case "tool_use":
                if block["id"] in known | opened:
                    raise _fault(f"message {number} has a call id that was there before")
                opened.add(block["id"])
            case kind:
                if waiting:
                    raise _fault(f"message {number} has other content before its results")
                if kind == "text" and not block["text"].strip():
                    raise _fault(f"message {number} has a text without any letter")
    if waiting:
        raise _fault(f"message {number} lacks the result of {', '.join(sorted(waiting))}")
    return opened


class _Ids:
    """Call ids as this wire wants them: of plain letters, and each only once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._current: dict[str, str] = {}

    def open(self, call: str) -> str:
        """The id of a call that is made now."""
        plain = "_".join(_ID.findall(call)) or "call"
        name, times = plain, 1
        while name in self._used:
            times += 1
            name = f"{plain}_{times}"
        self._used.add(name)
        self._current[call] = name
        return name

    def of(self, call: str | None) -> str:
        """The id of the latest call of that name."""
        return self._current[call or ""]


def _blocks(message: Message, ids: _Ids) -> list[Block]:
    if message.role == "tool":
        result: Block = {"type": "tool_result", "tool_use_id": ids.of(message.call_id)}
        return [result | ({"content": message.text} if message.text else {})]
    if message.role == "user":
        return [_text(message.text)]
    blocks: list[Block] = [block for block in message.blocks if block.get("type") in _OWN_BLOCKS]
    if message.text.strip() or not message.calls:
        blocks.append(_text(message.text))
    blocks += [
        {
            "type": "tool_use",
            "id": ids.open(call.id),
            "name": safe_name(call.name),
            "input": call.arguments,
        }
        for call in message.calls
    ]
    return blocks


def _text(text: str) -> Block:
    return {"type": "text", "text": text if text.strip() else NOTHING}


def _fault(text: str) -> ProviderError:
    return ProviderError(f"the request was not sent, its order is invalid: {text}", kind="protocol")
