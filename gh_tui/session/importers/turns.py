"""What every foreign transcript is reduced to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from gh_tui.events.values import ToolCall

ImportedRole = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTurn:
    """One message of a foreign session, in the order in which it was written."""

    role: ImportedRole
    """`system` is what the other program told its model, also under the user's name."""
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant: what it asked for."""
    call_id: str | None = None
    """Of a tool result: the call it answers."""
    name: str | None = None
    """Of a tool result: the tool, if the transcript says it."""
    time: str | float | None = None
    """As it was written: ISO 8601 or seconds since 1970."""
    ok: bool | None = None
    """Of a tool result: whether the tool succeeded, if that is known."""


Turns = Iterator[ImportedTurn]
Reader = Callable[[Iterator[Any]], Turns]
"""From the records of one conversation (lines, or items of a list) to its turns."""
