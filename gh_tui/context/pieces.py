"""The messages of the turns, kept from one request to the next as far as nothing changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.events.values import ManifestEntry
from gh_tui.memory.table import ARCHIVED, FULL, LEVELS, SUMMARY
from gh_tui.memory.tokens import count_message, scale
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gh_tui.events.values import Part, ToolCall
    from gh_tui.memory.l1 import L1Session
    from gh_tui.memory.table import TurnTable
    from gh_tui.memory.turn import L1Turn

Piece = tuple[Message, ManifestEntry]
Unit = tuple[Piece, ...]
"""The messages of a turn, or of an exchange, with their manifest entries."""
Looks = dict[int, tuple[int, int]]
"""By row: the index of its fidelity in `LEVELS`, and its corrected tokens."""

NO_RESULT: Final = "[no result: the call was cut short]"


@dataclass(frozen=True, slots=True)
class Pieces:
    """Messages with their manifest entries and corrected tokens, in step."""

    messages: list[Message] = field(default_factory=list)
    manifest: list[ManifestEntry] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)

    def extend(self, unit: Unit) -> None:
        """Put the messages of a unit at the end."""
        for message, entry in unit:
            self.messages.append(message)
            self.manifest.append(entry)
            self.costs.append(entry.tokens)


class PieceCache:
    """The pieces of one session; what comes out does not depend on earlier calls.

    Only units that look different from the last time are made anew.
    """

    def __init__(self) -> None:
        self._factor = 1.0
        self._task: int | None = None
        self._units: dict[int, Unit] = {}
        self._pieces = Pieces()
        self._level: NDArray[np.int8] = np.zeros(0, np.int8)
        self._revision: NDArray[np.int64] = np.zeros(0, np.int64)

    def update(self, l1: L1Session, factor: float) -> Pieces:
        """The pieces as they are now: the task, then all turns in order.

        The lists are the cache's own: read them only, until the next call.
        """
        task = None if l1.task is None else l1.row(l1.task.iri)
        known, table = len(self._level), l1.table
        if (factor, task) != (self._factor, self._task) or known > len(table):
            self._forget()
            known = 0
        self._factor, self._task = factor, task
        heads = self._changed(table)
        if not heads.size:
            return self._pieces
        fresh = self._make(l1, heads)
        self._level, self._revision = table.level.copy(), table.revision.copy()
        if known and heads[0] >= known:
            for unit in fresh:
                self._pieces.extend(unit)
        else:
            self._join()
        return self._pieces

    def _forget(self) -> None:
        self._units, self._pieces = {}, Pieces()
        self._level, self._revision = self._level[:0], self._revision[:0]

    def _changed(self, table: TurnTable) -> NDArray[np.int64]:
        """Heads of the units that look different from what is kept, in order."""
        known = len(self._level)
        same = (table.level[:known] == self._level) & (table.revision[:known] == self._revision)
        marked = np.zeros(len(table), np.bool_)
        marked[table.head[:known][~same]] = True
        marked[table.head[known:]] = True
        return np.flatnonzero(marked)

    def _make(self, l1: L1Session, heads: NDArray[np.int64]) -> list[Unit]:
        """Make the units of these heads; gives those that are shown."""
        table, made = l1.table, []
        shown = table.level[heads] > ARCHIVED
        if self._units:
            for row in heads[~shown].tolist():
                self._units.pop(row, None)
        marked = np.zeros(len(table), np.bool_)
        marked[heads[shown]] = True
        rows = np.flatnonzero(marked[table.head])
        level = table.level[rows]
        costs = table.costs_of(rows, level, self._factor)
        pairs = zip(level.tolist(), costs.tolist(), strict=True)
        looks = dict(zip(rows.tolist(), pairs, strict=True))
        for row in heads[shown].tolist():
            unit = self._units[row] = self._unit(l1, row, looks)
            made.append(unit)
        return made

    def _join(self) -> None:
        """Put all units together again, the task first."""
        units = [self._units[row] for row in sorted(self._units) if row != self._task]
        if self._task in self._units:
            units.insert(0, self._units[self._task])
        self._pieces = Pieces()
        for unit in units:
            self._pieces.extend(unit)

    def _unit(self, l1: L1Session, row: int, looks: Looks) -> Unit:
        """A turn and, after a message with calls, one result for each call in any case."""
        turns = l1.turns
        level, tokens = looks[row]
        part: Part = "task" if row == self._task else "turn"
        head = _piece(turns[row], l1.shown(row), level, tokens, part)
        calls = head[0].calls
        if not calls:
            return (head,)
        results = [
            _piece(turns[member], l1.shown(member), *looks[member], "turn")
            for member in l1.members(row)
        ]
        answered = {message.call_id for message, _ in results}
        missing = [call for call in calls if call.id not in answered]
        return (head, *results, *(_no_result(call, self._factor) for call in missing))


def _no_result(call: ToolCall, factor: float) -> Piece:
    tokens = scale(count_message(NO_RESULT), factor)
    return (
        Message(role="tool", text=NO_RESULT, call_id=call.id, name=call.name),
        ManifestEntry(iri=None, part="turn", role="tool", fidelity="full", tokens=tokens),
    )


def _piece(turn: L1Turn, text: str, level: int, tokens: int, part: Part) -> Piece:
    entry = ManifestEntry(turn.iri, part, turn.role, LEVELS[level], tokens)
    if level == SUMMARY:
        return Message(role=turn.role, text=text, iri=turn.iri), entry
    blocks = turn.provider_blocks if level == FULL else ()
    message = Message(turn.role, text, turn.calls, turn.call_id, turn.name, blocks, turn.iri)
    return message, entry
