"""The steps down that a pass can take, and in which order it takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.eviction import Columns, EvictionConfig, Floats, Policy
from gh_tui.memory.table import ARCHIVED, SUMMARY, Flags, Ints, TurnTable

RECENT: Final = 0.1
"""Added to the retention of the last turns: a short follow-up points at them without words."""
_FIRST_BATCH: Final = 1024


class Units:
    """The units that may go, by head row."""

    def __init__(
        self, table: TurnTable, level: NDArray[np.int8], rows: Ints, factor: float
    ) -> None:
        self._table, self._rows = table, rows
        costs, shown = table.costs(level, factor), table.messages(level)
        self.tokens = table.sum_of_unit(costs)
        self._messages = table.sum_of_unit(shown)
        self.line = table.costs(np.full_like(level, SUMMARY), factor)
        self._summarised = level == SUMMARY
        self.retention: Floats = np.full(len(table), np.nan)

    def steps(
        self, policy: Policy, columns: Columns, config: EvictionConfig, recent: Flags
    ) -> Steps:
        """Every step down that a unit can take, with its retention at that time."""
        rows, table = self._rows, self._table
        heads = rows[table.head[rows] == rows]
        now = self._highest(policy.retention(columns, config))
        self.retention = now
        shorter = ~self._summarised[heads] & (self.line[heads] < self.tokens[heads])
        two = heads[shorter] if policy.stages else heads[:0]
        later = table.any_of_unit(recent)
        if not two.size:
            return Steps.archive(self, heads, now, later)
        summarised = columns.with_tokens(self.line[table.head[rows]].astype(np.float64))
        # A line costs less than the text, so it stays at least as long.
        then = np.maximum(now, self._highest(policy.retention(summarised, config)))
        return Steps.of(self, heads, two, now, then, later)

    def _highest(self, retention: Floats) -> Floats:
        spread = np.full(len(self._table), -np.inf)
        spread[self._rows] = retention
        return self._table.highest_of_unit(spread)

    def messages(self, heads: Ints) -> Ints:
        """Messages that the units take now."""
        return self._messages[heads]


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps down, one per entry, with the retention at which each is taken."""

    head: Ints
    after: NDArray[np.int8]
    key: Floats
    tokens: Ints
    messages: Ints

    @classmethod
    def archive(cls, units: Units, heads: Ints, key: Floats, later: Flags) -> Steps:
        """Archive every unit at once, as none can become a line first."""
        nothing = heads[:0]
        return cls.of(units, heads, nothing, key, key, later)

    @classmethod
    def of(
        cls, units: Units, heads: Ints, two: Ints, now: Floats, then: Floats, later: Flags
    ) -> Steps:
        """Archive every unit; those in `two` become a line before."""
        line, tokens = units.line, units.tokens
        first = np.isin(heads, two, assume_unique=True)
        key = np.concatenate([now[two], np.where(first, then[heads], now[heads])])
        head = np.concatenate([two, heads])
        return cls(
            head=head,
            after=np.repeat(np.array([SUMMARY, ARCHIVED], np.int8), [two.size, heads.size]),
            key=key + RECENT * later[head],
            tokens=np.concatenate(
                [tokens[two] - line[two], np.where(first, line[heads], tokens[heads])]
            ),
            messages=np.concatenate(
                [units.messages(two) - 1, np.where(first, 1, units.messages(heads))]
            ),
        )

    def until(self, tokens: int, messages: int) -> NDArray[np.intp]:
        """The steps to take, in order, until both amounts are freed or none are left."""
        size, batch = self.key.size, _FIRST_BATCH
        while True:
            if batch < size:
                limit = np.partition(self.key, batch)[batch]
                near = np.flatnonzero(self.key <= limit)
            else:
                near = np.arange(size)
            enough = (
                int(self.tokens[near].sum()) >= tokens
                and int(self.messages[near].sum()) >= messages
            )
            if enough or near.size == size:
                break
            batch *= 4
        # Stable: at equal retention a unit's line still comes before its archiving.
        order = near[np.lexsort((self.head[near], self.key[near]))]
        freed = np.cumsum(self.tokens[order])
        gone = np.cumsum(self.messages[order])
        done = np.flatnonzero((freed >= tokens) & (gone >= messages))
        return order[: int(done[0]) + 1] if done.size else order
