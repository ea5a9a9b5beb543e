"""The texts in which a turn can appear in a request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from gh_tui.memory.summary import LIMIT, one_line, summarise, width
from gh_tui.memory.tokens import count, end_within, start_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gh_tui.events.values import ToolCall
    from gh_tui.memory.turn import L1Turn

EXCHANGE_LIMIT: Final = 300
"""Columns of the line that stands for an exchange."""
_ARGUMENT_LIMIT: Final = 40
_LEAST_PART: Final = 40


def full_text(turn: L1Turn, result_limit: int, attached_limit: int) -> str:
    """The text at fidelity `full`: verbatim, but a large tool result as head, tail and IRI.

    Args:
        turn: the turn.
        result_limit: tokens from which a tool result is shortened.
        attached_limit: tokens that an attachment shows, besides the line that names it.
    """
    if turn.attached:
        left_out = "characters of this attachment left out; recall reads the whole text"
        return _cut(turn, attached_limit, left_out)
    if turn.role == "tool":
        return _cut(turn, result_limit, "characters left out; the whole text")
    return turn.text


def _cut(turn: L1Turn, limit: int, left_out: str) -> str:
    """Head and tail, cut by tokens, so that no mixture of scripts makes them larger."""
    text = turn.text
    if (whole := count(text)) <= limit:
        return text
    tail = end_within(text, limit // 3)
    head = start_within(text, limit - limit // 3)
    missing = len(text) - len(head) - len(tail)
    shown = f"{head}\n[... {missing} {left_out}: {turn.iri} ...]\n{tail}"
    return shown if count(shown) < whole else text


def masked_line(turn: L1Turn, names: Sequence[str] = ()) -> str:
    """A tool result as one line with the names that only it introduced, and its IRI."""
    about = f"[tool result {turn.name or ''}] {turn.summary}".replace(" ]", "]")
    return f"{about}{_named(names, about)} · {turn.iri}"


def summary_line(turn: L1Turn, names: Sequence[str] = ()) -> str:
    """A turn on its own as `[role] summary · names · IRI`."""
    about = f"[{turn.role}] {turn.summary}"
    return f"{about}{_named(names, about)} · {turn.iri}"


def exchange_line(head: L1Turn, results: Sequence[L1Turn], names: Sequence[str] = ()) -> str:
    """An assistant message with its calls and results as one line.

    A failed attempt keeps its reason: the results' own lines are shortened, not dropped.
    """
    by_call = {result.call_id: result for result in results}
    room = EXCHANGE_LIMIT
    parts: list[str] = []
    if head.text.strip():
        parts.append(summarise(head.summary, LIMIT // 2))
        room -= width(parts[0])
    share = max(_LEAST_PART, room // max(1, len(head.calls)))
    shown = head.calls[: max(1, room // _LEAST_PART)]
    for call in shown:
        name = _call_name(call)
        result = by_call.get(call.id)
        outcome = result.summary if result is not None else call.error or "no result"
        parts.append(f"{name} → {summarise(outcome, max(20, share - width(name) - 3))}")
    if len(shown) < len(head.calls):
        parts.append(f"and {len(head.calls) - len(shown)} more calls")
    about = f"[assistant] {'; '.join(parts)}"
    return f"{about}{_named(names, about)} · {head.iri}"


def _named(names: Sequence[str], about: str) -> str:
    left_out = [name for name in names if name not in about]
    return f" · names: {', '.join(left_out)}" if left_out else ""


def _call_name(call: ToolCall) -> str:
    values = [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for value in call.arguments.values()
    ]
    return f"{call.name}({summarise(one_line(', '.join(values)), _ARGUMENT_LIMIT)})"
