"""The messages of the turns, kept from one request to the next as far as nothing changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.events.values import ManifestEntry
from gh_tui.memory.table import ARCHIVED, LEVELS, MASKED
from gh_tui.memory.tokens import count_message, scale
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from gh_tui.events.values import ToolCall
    from gh_tui.memory.l1 import L1Session
    from gh_tui.memory.table import Ints, Levels

NO_RESULT: Final = "[no result: the call was cut short]"
_FIRST: Final = -1
"""The place of the task, before all rows."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Messages with their manifest entries and corrected tokens, in step."""

    messages: list[Message] = field(default_factory=list)
    manifest: list[ManifestEntry] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)

    def insert(self, place: int, message: Message, entry: ManifestEntry) -> None:
        """Put in one more."""
        self.messages.insert(place, message)
        self.manifest.insert(place, entry)
        self.costs.insert(place, entry.tokens)


class PieceCache:
    """The pieces of one session; what comes out does not depend on earlier calls.

    Only rows that look different from the last time are made anew.
    """

    def __init__(self) -> None:
        self._factor = 1.0
        self._task: int | None = None
        self._messages: dict[int, Message] = {}
        self._entries: dict[int, ManifestEntry] = {}
        self._pieces = Pieces()
        self._look: Levels = np.zeros(0, np.int8)
        self._revision: Ints = np.zeros(0, np.int64)

    def update(self, l1: L1Session, factor: float) -> Pieces:
        """The pieces as they are now: the task, then all turns in order.

        The lists are the cache's own: read them only, until the next call.
        """
        table = l1.table
        task = None if l1.task is None else l1.row(l1.task.iri)
        if (factor, task) != (self._factor, self._task) or len(self._look) > len(table):
            self._forget()
        self._factor, self._task = factor, task
        # A unit is shown as its head is: results vanish behind the line of their exchange.
        shown = table.messages(table.level[table.head])
        look = table.level * shown.astype(np.int8)
        rows = self._changed(look, table.revision)
        if rows.size:
            self._make(l1, rows, look[rows])
            self._pieces = self._join(l1, look)
            self._look, self._revision = look, table.revision.copy()
        return self._pieces

    def _forget(self) -> None:
        self._messages, self._entries, self._pieces = {}, {}, Pieces()
        self._look, self._revision = self._look[:0], self._revision[:0]

    def _changed(self, look: Levels, revision: Ints) -> Ints:
        """Rows that look different from what is kept, in order."""
        known = len(self._look)
        changed = look > ARCHIVED
        changed[:known] &= revision[:known] != self._revision
        changed[:known] |= look[:known] != self._look
        return np.flatnonzero(changed)

    def _make(self, l1: L1Session, rows: Ints, look: Levels) -> None:
        """Make the pieces of these rows anew; those that are shown no more go."""
        costs = l1.table.costs_of(rows, look, self._factor)
        for row, level, tokens in zip(rows.tolist(), look.tolist(), costs.tolist(), strict=True):
            if level == ARCHIVED:
                del self._messages[row], self._entries[row]
                continue
            message = self._messages[row] = l1.message(row, level)
            self._entries[row] = ManifestEntry(
                message.iri,
                "task" if row == self._task else "turn",
                message.role,
                LEVELS[level],
                tokens,
            )

    def _join(self, l1: L1Session, look: Levels) -> Pieces:
        """Put all pieces together: the task first, results behind the message that asked."""
        head = l1.table.head
        place = np.where(head == self._task, _FIRST, head)
        rows = np.flatnonzero(look)
        rows = rows[np.argsort(place[rows], kind="stable")]
        pieces = Pieces()
        pieces.messages.extend(map(self._messages.__getitem__, rows.tolist()))
        pieces.manifest.extend(map(self._entries.__getitem__, rows.tolist()))
        pieces.costs.extend(entry.tokens for entry in pieces.manifest)
        cut = [row for row in l1.unanswered if look[row] >= MASKED]
        for row in sorted(cut, key=place.__getitem__, reverse=True):
            end = int(np.searchsorted(place[rows], place[row], side="right"))
            answered = {l1.turns[member].call_id for member in l1.members(row)}
            for call in reversed(l1.turns[row].calls):
                if call.id not in answered:
                    pieces.insert(end, *_no_result(call, self._factor))
        return pieces


def _no_result(call: ToolCall, factor: float) -> tuple[Message, ManifestEntry]:
    tokens = scale(count_message(NO_RESULT), factor)
    return (
        Message(role="tool", text=NO_RESULT, call_id=call.id, name=call.name),
        ManifestEntry(iri=None, part="turn", role="tool", fidelity="full", tokens=tokens),
    )
