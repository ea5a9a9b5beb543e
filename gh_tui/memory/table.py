"""The numbers of all turns in columns, a row per turn in order; what a pass computes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.columns import Column
from gh_tui.memory.tokens import scale, scale_all

if TYPE_CHECKING:
    from gh_tui.events.values import Fidelity
    from gh_tui.memory.turn import L1Turn

LEVELS: Final[tuple[Fidelity, ...]] = ("archived", "summary", "masked", "full")
ARCHIVED: Final = 0
SUMMARY: Final = 1
MASKED: Final = 2
FULL: Final = 3

Ints = NDArray[np.int64]
Levels = NDArray[np.int8]
Flags = NDArray[np.bool_]


class TurnTable:
    """Columns over turns. A unit is a turn alone, or an exchange under its head's row."""

    def __init__(self) -> None:
        self._level = Column(np.int8)
        self._last_access = Column(np.float64)
        self._relevance = Column(np.float64)
        self._full = Column(np.int64)
        self._line = Column(np.int64)
        self._head = Column(np.int64)
        self._guarded = Column(np.bool_)
        self._exempt = Column(np.bool_)
        self._tool = Column(np.bool_)
        self._revision = Column(np.int64)

    def __len__(self) -> int:
        return len(self._level)

    @property
    def level(self) -> Levels:
        """Fidelity as an index into `LEVELS`."""
        return self._level.view

    @property
    def last_access(self) -> NDArray[np.float64]:
        """Seconds on the session's clock."""
        return self._last_access.view

    @property
    def relevance(self) -> NDArray[np.float64]:
        """relevance_score, not-a-number where unknown."""
        return self._relevance.view

    @property
    def full(self) -> Ints:
        """Tokens of the full form, uncorrected."""
        return self._full.view

    @property
    def line(self) -> Ints:
        """Tokens of the one-line form: of the exchange for its head, masked for a result."""
        return self._line.view

    @property
    def head(self) -> Ints:
        """The row of the unit's head."""
        return self._head.view

    @property
    def guarded(self) -> Flags:
        """Protected by what it is, not by its place."""
        return self._guarded.view

    @property
    def exempt(self) -> Flags:
        """Brought back by the user since the latest user input."""
        return self._exempt.view

    @property
    def tool(self) -> Flags:
        """Tool results."""
        return self._tool.view

    @property
    def revision(self) -> Ints:
        """Goes up when the text of a row's forms changes."""
        return self._revision.view

    def append(self, turn: L1Turn, *, head: int, full: int, line: int) -> None:
        """Add the row of a turn."""
        self._level.append(LEVELS.index(turn.fidelity))
        self._last_access.append(turn.last_access)
        self._relevance.append(np.nan if turn.relevance_score is None else turn.relevance_score)
        self._full.append(full)
        self._line.append(line)
        self._head.append(head)
        self._guarded.append(turn.guarded)
        self._exempt.append(False)
        self._tool.append(turn.role == "tool")
        self._revision.append(0)

    def costs(self, level: Levels, factor: float = 1.0) -> Ints:
        """Corrected tokens of each row at the given levels.

        The line of a summarised exchange is counted at its head.
        """
        return self.costs_of(np.arange(len(self)), level, factor)

    def costs_of(self, rows: Ints, level: Levels, factor: float = 1.0) -> Ints:
        """`costs` of some rows, at a level for each."""
        headed = (level == SUMMARY) & (self.head[rows] == rows)
        raw = np.where((level == MASKED) | headed, self.line[rows], 0)
        raw = np.where(level == FULL, self.full[rows], raw)
        return scale_all(raw, factor)

    def cost(self, row: int, level: int, factor: float = 1.0) -> int:
        """`costs` of one row."""
        if level == FULL:
            return scale(int(self.full[row]), factor)
        if level == MASKED or (level == SUMMARY and self.head[row] == row):
            return scale(int(self.line[row]), factor)
        return 0

    @property
    def is_head(self) -> Flags:
        """Rows that are the head of their unit."""
        return np.asarray(self.head == np.arange(len(self)), dtype=np.bool_)

    def messages(self, level: Levels) -> Ints:
        """Messages of each row at the given levels: 0 or 1."""
        shown = (level >= MASKED) | ((level == SUMMARY) & self.is_head)
        counts: Ints = shown.astype(np.int64)
        return counts

    def any_of_unit(self, flags: Flags) -> Flags:
        """Spread a flag from any row to all rows of its unit."""
        marked = np.zeros(len(self), np.bool_)
        marked[self.head[flags]] = True
        spread: Flags = marked[self.head]
        return spread

    def highest_of_unit(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest value of each unit, on all its rows."""
        highest = np.full(len(self), -np.inf)
        np.maximum.at(highest, self.head, values)
        spread: NDArray[np.float64] = highest[self.head]
        return spread

    def sum_of_unit(self, values: Ints) -> Ints:
        """The sum over each unit, on all its rows."""
        sums = np.zeros(len(self), np.int64)
        np.add.at(sums, self.head, values)
        spread: Ints = sums[self.head]
        return spread
