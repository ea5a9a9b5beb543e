"""BM25, the one formula by which turns are held against the words of a query."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

_K1: Final = 1.2
_B: Final = 0.5
_SHARPNESS: Final = 1.5
"""Power of a word's rarity: above 1 so that a name weighs more than two everyday words."""


class Bm25:
    """The scores of all rows for one query, gathered word by word."""

    def __init__(self, lengths: NDArray[np.float32]) -> None:
        """Start a query.

        Args:
            lengths: float32[n], words in each row.
        """
        self.scores = np.zeros(len(lengths), np.float32)
        """float32[n], not negative."""
        mean = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        self._norm = lengths * np.float32(_K1 * _B / mean) + np.float32(_K1 * (1 - _B))

    def add(self, rows: NDArray[np.int32], times: NDArray[np.float32]) -> None:
        """Add one word of the query.

        Args:
            rows: int32[m], the rows that have the word, each once.
            times: float32[m], how often each has it.
        """
        if not len(rows):
            return
        every, having = len(self.scores), len(rows)
        weight = math.log1p((every - having + 0.5) / (having + 0.5)) ** _SHARPNESS
        gain = times * np.float32(weight * (_K1 + 1))
        gain /= times + self._norm[rows]
        self.scores[rows] += gain
