"""The messages of the turns, kept from one request to the next as far as nothing changed."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.events.values import ManifestEntry
from gh_tui.memory.table import FULL, LEVELS, SUMMARY
from gh_tui.memory.tokens import count_message, scale
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gh_tui.events.values import Part
    from gh_tui.memory.l1 import L1Session
    from gh_tui.memory.turn import L1Turn

NO_RESULT: Final = "[no result: the call was cut short]"


@dataclass(frozen=True, slots=True)
class Pieces:
    """Messages with their manifest entries and corrected tokens, in step."""

    messages: list[Message]
    manifest: list[ManifestEntry]
    costs: list[int]

    def add(self, message: Message, entry: ManifestEntry) -> None:
        """Put one at the end."""
        self.messages.append(message)
        self.manifest.append(entry)
        self.costs.append(entry.tokens)

    def cut(self, size: int) -> None:
        """Keep the first `size`."""
        del self.messages[size:], self.manifest[size:], self.costs[size:]


class PieceCache:
    """The pieces of one session; what comes out does not depend on earlier calls."""

    def __init__(self) -> None:
        self._pieces = Pieces([], [], [])
        self._heads: list[int] = []
        self._starts: list[int] = []
        """For each head that is shown, where its pieces begin."""
        self._level: NDArray[np.int8] = np.zeros(0, np.int8)
        self._revision: NDArray[np.int64] = np.zeros(0, np.int64)
        self._factor = 1.0
        self._task: int | None = None

    def update(self, l1: L1Session, factor: float) -> Pieces:
        """The pieces as they are now: the task, then all turns in order.

        The lists are the cache's own: read them only, until the next call.
        """
        task = None if l1.task is None else l1.row(l1.task.iri)
        first = self._first_changed(l1) if (factor, task) == (self._factor, self._task) else 0
        if task is not None and first <= task:
            first = 0
        self._factor, self._task = factor, task
        place = bisect_left(self._heads, first)
        if place < len(self._starts):
            self._pieces.cut(self._starts[place])
        del self._heads[place:], self._starts[place:]
        if not first:
            self._pieces.cut(0)
            if task is not None:
                self._pieces.add(*_piece(l1, task, factor, "task"))
        table = l1.table
        shown = table.is_head & (table.messages(table.level) > 0)
        for row in (np.flatnonzero(shown[first:]) + first).tolist():
            if row != task:
                self._heads.append(row)
                self._starts.append(len(self._pieces.messages))
                self._add_unit(l1, row)
        self._level, self._revision = table.level.copy(), table.revision.copy()
        return self._pieces

    def _first_changed(self, l1: L1Session) -> int:
        """The first head whose unit looks different from what is kept."""
        table, known = l1.table, len(self._level)
        if known > len(table):
            return 0
        same = (table.level[:known] == self._level) & (table.revision[:known] == self._revision)
        changed = np.concatenate([np.flatnonzero(~same), np.arange(known, len(table))])
        return int(table.head[changed].min()) if changed.size else known

    def _add_unit(self, l1: L1Session, row: int) -> None:
        """A turn and, after a message with calls, one result for each call in any case."""
        message, entry = _piece(l1, row, self._factor, "turn")
        self._pieces.add(message, entry)
        if not message.calls:
            return
        answered: set[str | None] = set()
        for member in l1.members(row):
            result, result_entry = _piece(l1, member, self._factor, "turn")
            answered.add(result.call_id)
            self._pieces.add(result, result_entry)
        for call in message.calls:
            if call.id not in answered:
                tokens = scale(count_message(NO_RESULT), self._factor)
                self._pieces.add(
                    Message(role="tool", text=NO_RESULT, call_id=call.id, name=call.name),
                    ManifestEntry(
                        iri=None, part="turn", role="tool", fidelity="full", tokens=tokens
                    ),
                )


def _piece(l1: L1Session, row: int, factor: float, part: Part) -> tuple[Message, ManifestEntry]:
    turn, table = l1.turns[row], l1.table
    level = int(table.level[row])
    entry = ManifestEntry(
        iri=turn.iri,
        part=part,
        role=turn.role,
        fidelity=LEVELS[level],
        tokens=table.cost(row, level, factor),
    )
    return _message(turn, l1.shown(row), level), entry


def _message(turn: L1Turn, text: str, level: int) -> Message:
    if level == SUMMARY:
        return Message(role=turn.role, text=text, iri=turn.iri)
    return Message(
        role=turn.role,
        text=text,
        calls=turn.calls,
        call_id=turn.call_id,
        name=turn.name,
        blocks=turn.provider_blocks if level == FULL else (),
        iri=turn.iri,
    )
