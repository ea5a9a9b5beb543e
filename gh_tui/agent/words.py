"""Words and neighbouring pairs of words as features: what an embedding of topics passes over."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from gh_tui.embedding.vectors import Vector

_TOKEN = re.compile(r"[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]|\d+|[?!:;,？！：；，]")
_ONE_FORM = str.maketrans("？！：；，", "?!:;,")
_AT_LEAST = 8


class Words:
    """The vocabulary of the examples, weighted by rarity."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Keep what occurs in at least eight of the texts."""
        counts = Counter(gram for text in texts for gram in _grams(text))
        kept = sorted(gram for gram, count in counts.items() if count >= _AT_LEAST)
        self._weight = {gram: float(np.log(len(texts) / counts[gram])) for gram in kept}
        self._index = {gram: at for at, gram in enumerate(kept)}

    def features(self, text: str) -> Vector:
        """The text as float32[vocabulary], of unit length or zero."""
        row = np.zeros(len(self._index), dtype=np.float32)
        for gram in _grams(text) & self._index.keys():
            row[self._index[gram]] = self._weight[gram]
        norm = float(np.linalg.norm(row))
        return row / np.float32(norm) if norm else row


def _grams(text: str) -> set[str]:
    tokens = _TOKEN.findall(text.casefold().translate(_ONE_FORM))
    plain = ["^", *("#" if token.isdigit() else token for token in tokens)]
    return set(plain) | {f"{a} {b}" for a, b in itertools.pairwise(plain)}
