"""Content words of a turn, and how much two blocks of turns share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from math import sqrt

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"(?:(?![{_UNSPACED}_])\w){{2,}}")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s|(?<=[。？！])|\n")
_RUN = re.compile(rf"[{_UNSPACED}]+")


def content_words(text: str) -> frozenset[str]:
    """Words of two letters or more, and pairs of neighbours where words are not spaced.

    Chinese, Japanese and Thai are written without spaces; there each pair of neighbouring
    characters counts as a word.
    """
    lowered = text.lower()
    pairs = (run[i : i + 2] for run in _RUN.findall(lowered) for i in range(len(run) - 1))
    return frozenset(_WORD.findall(lowered)).union(pairs)


def first_sentence(text: str) -> str:
    """What stands before the first sentence end or line end; the whole text without one."""
    stripped = text.strip()
    return _SENTENCE_END.split(stripped, maxsplit=1)[0] or stripped


def shared(left: Set[str], right: Set[str], common: Mapping[str, float]) -> float:
    """Weighted overlap of two sets of words, in [0, 1].

    The weight of the shared words over the geometric mean of both sides' weights; a word that
    is not in `common` weighs 1.
    """
    both = sqrt(_weight(left, common) * _weight(right, common))
    return _weight(left & right, common) / both if both else 0.0


def _weight(words: Set[str], common: Mapping[str, float]) -> float:
    return sum(common.get(word, 1.0) for word in sorted(words))
