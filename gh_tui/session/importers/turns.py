"""What every foreign transcript is reduced to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
Reader = Callable[[Iterable[Any]], Turns]
"""From the records of one conversation (lines, or items of a list) to its turns.

A reader may go through the records more than once.
"""


@dataclass(slots=True)
class Reply:
    """An assistant's turn whose pieces come one by one, some of them again when they have grown."""

    _texts: dict[str, None] = field(default_factory=dict)
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    _time: str | float | None = None
    _begun: bool = False

    def begin(self, time: str | float | None) -> None:
        """Take the time of the first piece; later ones change nothing."""
        if not self._begun:
            self._begun, self._time = True, time

    def say(self, text: str) -> None:
        """Add a text; one that continues the latest takes its place."""
        if not text or text in self._texts:
            return
        if self._texts and text.startswith(next(reversed(self._texts))):
            self._texts.popitem()
        self._texts[text] = None

    def ask(self, call: ToolCall) -> None:
        """Add a call, or what has become of one that is there."""
        self._calls[call.id or f"#{len(self._calls)}"] = call

    def finish(self) -> Turns:
        """Yield the turn, if anything was said or asked, and begin another."""
        text, calls, time = "\n".join(self._texts), tuple(self._calls.values()), self._time
        self._texts, self._calls, self._time, self._begun = {}, {}, None, False
        if text or calls:
            yield ImportedTurn(role="assistant", text=text, calls=calls, time=time)
