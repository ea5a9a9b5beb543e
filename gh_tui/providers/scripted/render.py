"""A scripted reply as the bytes of an HTTP body."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gh_tui.providers.scripted.script import Reply

_WORDS = re.compile(r"\s*\S{1,12}|\s+")
_ARGUMENT_PIECE = 12


def sse(data: Any) -> bytes:
    """One event; a string is sent as it is."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode("utf-8", "replace")


def events_of(reply: Reply, base: dict[str, Any], usage: dict[str, Any] | None) -> list[bytes]:
    """Every event of a streamed reply, cut short as its ending says.

    Args:
        reply: what to say.
        base: the fields that each chunk carries (`id`, `model`, ...).
        usage: sent in a chunk of its own before the end; None for none.
    """
    if reply.events is not None:
        events = [sse(event) for event in reply.events]
        return events if reply.ending == "done" else events[: reply.after]
    events = [sse(_chunk(base, delta)) for delta in _deltas(reply)]
    if reply.ending != "done":
        return events[: reply.after]
    if reply.error is not None:
        return [*events, sse({"error": reply.error})]
    events.append(sse(_chunk(base, {}, finish_reason(reply))))
    if usage is not None:
        events.append(sse({**base, "choices": [], "usage": usage}))
    return [*events, sse("[DONE]")]


def document_of(reply: Reply, base: dict[str, Any], usage: dict[str, Any]) -> bytes:
    """The reply as one `chat.completion`."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in _calls(reply)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason(reply)}
    value = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def finish_reason(reply: Reply) -> str:
    """As given, or what fits."""
    return reply.finish_reason or ("tool_calls" if reply.calls else "stop")


def pieces(body: bytes, size: int) -> Iterator[bytes]:
    """`body` in pieces of `size` bytes."""
    for start in range(0, len(body), size):
        yield body[start : start + size]


def _chunk(base: dict[str, Any], delta: Any, reason: str | None = None) -> dict[str, Any]:
    return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _deltas(reply: Reply) -> Iterator[Any]:
    if reply.deltas is not None:
        yield from reply.deltas
        return
    yield {"role": "assistant", "content": ""}
    for piece in _WORDS.findall(reply.reasoning):
        yield {"reasoning_content": piece}
    for piece in _WORDS.findall(reply.text) if reply.chunks is None else reply.chunks:
        yield {"content": piece}
    for index, (call_id, name, arguments) in enumerate(_calls(reply)):
        function = {"name": name, "arguments": ""}
        first = {"index": index, "id": call_id, "type": "function", "function": function}
        yield {"tool_calls": [first]}
        for start in range(0, len(arguments), _ARGUMENT_PIECE):
            piece = arguments[start : start + _ARGUMENT_PIECE]
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _calls(reply: Reply) -> Iterator[tuple[str, str, str]]:
    for number, call in enumerate(reply.calls, 1):
        arguments = call.get("arguments", {})
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        yield str(call.get("id", f"call_{number}")), str(call.get("name", "")), arguments
