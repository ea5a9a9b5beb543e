"""Messages on Ollama's own wire (`/api/chat`), and the order that it takes them in.

That wire has no call ids: the results of an assistant message follow it in the order of its
calls, each with the name of its tool.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError
from gh_tui.providers.wire import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gh_tui.providers.base import Message

THINKING_BLOCK = "ollama_thinking"
"""The type of a block whose `text` is the thinking of an assistant message."""


def to_ollama(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """The `messages` of an `/api/chat` request.

    Args:
        messages: in a valid order (`wire.validate_order`).
    """
    out: list[dict[str, Any]] = []
    results: dict[str, dict[str, Any]] = {}
    for message in messages:
        if message.role == "tool":
            results[message.call_id or ""]["content"] = message.text
            continue
        entry: dict[str, Any] = {"role": message.role, "content": message.text}
        out.append(entry)
        for block in message.blocks:
            if block.get("type") == THINKING_BLOCK:
                entry["thinking"] = block["text"]
        results = {}
        if message.calls:
            entry["tool_calls"] = [
                {"function": {"name": safe_name(call.name), "arguments": call.arguments}}
                for call in message.calls
            ]
            for call in message.calls:
                result = {"role": "tool", "content": "", "tool_name": safe_name(call.name)}
                results[call.id] = result
                out.append(result)
    return out


def check_ollama(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check what is about to be sent to `/api/chat`.

    Raises:
        ProviderError: of kind `protocol`; names the first message at fault, counted from 1.
    """
    waiting: deque[str] = deque()
    role = ""
    for number, message in enumerate(messages, 1):
        role = message["role"]
        if not isinstance(message["content"], str):
            raise _fault(f"message {number} has no text")
        if role == "tool":
            if not waiting or waiting.popleft() != message.get("tool_name"):
                raise _fault(f"message {number} is a result that no call is waiting for")
            continue
        if waiting:
            raise _fault(f"message {number} ({role}) comes before the result of {waiting[0]}")
        if role == "system" and number > 1:
            raise _fault(f"message {number} is a system message; only the first may be one")
        waiting.extend(call["function"]["name"] for call in message.get("tool_calls", ()))
    if waiting:
        raise _fault(f"the result of {waiting[0]} is missing")
    if role not in ("user", "tool"):
        raise _fault(f"the last message is of the role {role or 'nobody'}")


def _fault(text: str) -> ProviderError:
    return ProviderError(f"the request was not sent, its order is invalid: {text}", kind="protocol")
