"""What a strict server refuses, and how it counts tokens.

Written apart from the program's own validator on purpose: the one checks the other.
"""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any


def order_fault(messages: Any, *, alternating: bool) -> str | None:
    """Why a strict server would refuse these messages, in such a server's words; None if fine.

    Args:
        messages: the `messages` of a request, as parsed.
        alternating: be a server whose template wants user and assistant to alternate.
    """
    if not isinstance(messages, list) or not messages:
        return "messages must be a non-empty array"
    pending: list[str] = []
    previous = ""
    for position, message in enumerate(messages):
        if not isinstance(message, dict):
            return f"messages[{position}] must be an object"
        fault = _fault(position, message, pending)
        if fault:
            return fault
        role: str = message["role"]
        if alternating and role == previous == "user":
            return "Conversation roles must alternate user/assistant/user/assistant/..."
        previous = role
    if pending:
        return f"tool_call_ids without a response message: {', '.join(pending)}"
    if previous not in ("user", "tool"):
        return "the last message must be from the user or a tool"
    return None


def _fault(position: int, message: dict[str, Any], pending: list[str]) -> str | None:
    role = message.get("role")
    if role not in ("system", "user", "assistant", "tool"):
        return f"messages[{position}].role is invalid"
    if role == "tool":
        if message.get("tool_call_id") not in pending:
            return f"messages[{position}]: no preceding tool call has this tool_call_id"
        pending.remove(message["tool_call_id"])
        return None
    if pending:
        return (
            "an assistant message with tool_calls must be followed by tool messages for each "
            f"tool_call_id; missing: {', '.join(pending)}"
        )
    if role == "system" and position:
        return "a system message must be the first"
    pending += _ids(message.get("tool_calls") or ())
    if len(set(pending)) < len(pending) or "" in pending:
        return f"messages[{position}].tool_calls must each have an id of their own"
    if not pending and not isinstance(message.get("content"), str):
        return f"messages[{position}].content must be a string"
    return None


def _ids(calls: Any) -> list[str]:
    """The ids of the calls; an empty one where a call has none."""
    found = []
    for call in calls if isinstance(calls, list) else ():
        name = call.get("id") if isinstance(call, dict) else None
        found.append(name if isinstance(name, str) else "")
    return found


def count_usage(request: dict[str, Any], previous: str, answer: str) -> dict[str, Any]:
    """Usage as a server with a prompt cache would report it, at 4 bytes a token.

    Args:
        request: the parsed request.
        previous: `prompt_text` of the request before; what it shares from the start is cached.
        answer: all that is said in reply.
    """
    prompt = prompt_text(request)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(prompt, previous, strict=False))
    shared = tokens_of("".join(left for left, _ in same))
    tokens = tokens_of(prompt)
    spoken = tokens_of(answer)
    return {
        "prompt_tokens": tokens,
        "completion_tokens": spoken,
        "total_tokens": tokens + spoken,
        "prompt_tokens_details": {"cached_tokens": min(shared, tokens)},
    }


def prompt_text(request: dict[str, Any]) -> str:
    """The tools and messages as one text."""
    return json.dumps([request.get("tools"), request.get("messages")], ensure_ascii=False)


def tokens_of(text: str) -> int:
    """Tokens at 4 bytes each."""
    return len(text.encode("utf-8", "replace")) // 4
