"""What the memory is compared with where nothing published is there to be run."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.terms import query_words, words_of

_K1: Final = 1.5
_B: Final = 0.75


class PlainBm25:
    """Okapi BM25 with k1 = 1.5 and b = 0.75 over stems; common words of a query do not count."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Take in all texts."""
        self._turns = [Counter(words_of(text)) for text in texts]
        self._having = Counter(word for turn in self._turns for word in turn)
        self._mean = sum(turn.total() for turn in self._turns) / max(1, len(texts))

    def order(self, query: str) -> list[int]:
        """Places of all texts, the best first."""
        scores = np.zeros(len(self._turns))
        for word in query_words(query):
            having = self._having[word]
            rarity = math.log(1 + (len(self._turns) - having + 0.5) / (having + 0.5))
            for place, turn in enumerate(self._turns):
                if times := turn[word]:
                    norm = _K1 * (1 - _B + _B * turn.total() / self._mean)
                    scores[place] += rarity * times * (_K1 + 1) / (times + norm)
        return descending(scores)


def descending(scores: NDArray[np.floating[Any]]) -> list[int]:
    """Places by score, the highest first; of equals the earlier first."""
    return [int(place) for place in np.argsort(-scores, kind="stable")]


def plain_words(text: str) -> list[str]:
    """Lower-case words."""
    return re.findall(r"\w+", text.lower())
