"""The words of a session: how rare each one is in it, and which turns answer a query."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.bm25 import Bm25
from gh_tui.memory.columns import Column
from gh_tui.memory.terms import SCANNED, is_lone, query_words, words_of
from gh_tui.memory.tokens import count

_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+|\b[A-Z]{2,}\b|\b\w+[_/]\w+\b")
_FIGURE: Final = re.compile(r"\d+|[一二三四五六七八九十百千万]+(?=[个年月日点天次元块])")
_GREETING: Final = re.compile(
    r"\W*(?:(?:hi|hello|hey|thanks?(?: you)?|bye|good (?:morning|night|evening)|great|nice|wow|"
    r"cool|ok(?:ay)?|sure|yes|halo|hai|terima kasih|makasih|selamat \w+|sampai jumpa|ya|baik)"
    r"(?![^\W\d_])|你好|您好|谢谢|多谢|再见|好的|嗯|哈哈|早上好|晚安)",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[?？]\s*$")
_LITTLE: Final = 20
"""Tokens up to which a text that begins with a greeting is little else."""
_RENEWAL: Final = 1.1


def emphasis(text: str, *, answers: bool) -> float:
    """How much more (or less) a turn tells than the rarity of its words says, in [0.3, 3].

    Raised by names, numbers and dates and by being the answer to a question; lowered for
    questions, and for short greetings and acknowledgements: what a longer text opens with says
    nothing about the rest.

    Args:
        text: the turn's text.
        answers: whether the turn before it asked something.
    """
    body = text[:SCANNED]
    value = (
        1.0 + 0.15 * min(4, len(_NAME.findall(body))) + 0.15 * min(4, len(_FIGURE.findall(body)))
    )
    if answers:
        value *= 1.3
    if _QUESTION.search(body):
        value *= 0.6
    if _GREETING.match(body) and count(body) <= _LITTLE:
        value *= 0.7
    return max(0.3, min(3.0, value))


def is_question(text: str) -> bool:
    """Whether a text ends in a question."""
    return bool(_QUESTION.search(text[-200:]))


class Lexicon:
    """The distinct words of each turn, row by row, in flat arrays."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._postings: list[array[int]] = []
        """For each word, where it stands in the flat arrays."""
        self._words = Column(np.int32)
        self._counts = Column(np.float32)
        self._rows = Column(np.int32)
        self._lengths = Column(np.float32)
        self._emphasis = Column(np.float32)
        self._information = Column(np.float32)
        self._rarity: list[float] = []
        self._rows_then = 0
        self._asks = Column(np.bool_)

    def add(self, text: str) -> None:
        """Take in the text of the next row."""
        row = len(self._lengths)
        counts = Counter(words_of(text))
        fresh = math.log1p(row + 1)
        first = len(self._words)
        indexes: list[int] = []
        total = 0.0
        for place, word in enumerate(counts, first):
            index = self._ids.setdefault(word, len(self._ids))
            if index == len(self._postings):
                self._postings.append(array("i"))
            self._postings[index].append(place)
            indexes.append(index)
            total += self._rarity[index] if index < len(self._rarity) else fresh
        self._words.extend(indexes)
        self._counts.extend(list(counts.values()))
        self._rows.extend([row] * len(indexes))
        self._lengths.append(sum(counts.values()))
        self._emphasis.append(emphasis(text, answers=row > 0 and bool(self._asks.view[-1])))
        self._information.append(total * self._emphasis.view[row])
        self._asks.append(is_question(text))
        if row + 1 >= _RENEWAL * self._rows_then:
            self._renew()

    def information(self) -> NDArray[np.float32]:
        """Information of each row: the sum of its distinct words' rarity, with emphasis.

        Rarity is ln(1 + rows / turns that have the word). It is counted anew whenever the
        session has grown by a tenth, at points that depend on the turns alone.

        Returns:
            float32[rows], not negative.
        """
        return self._information.view

    def _renew(self) -> None:
        rows = self._rows_then = len(self._lengths)
        having = np.fromiter(map(len, self._postings), np.float32, len(self._postings))
        rarity = np.log1p(rows / having)
        self._rarity = rarity.tolist()
        sums = np.bincount(self._rows.view, rarity[self._words.view], minlength=rows)
        self._information.view[:] = sums * self._emphasis.view

    @property
    def asks(self) -> NDArray[np.bool_]:
        """Whether each row ends in a question: bool[rows]."""
        return self._asks.view

    def bm25(self, query: str) -> NDArray[np.float32]:
        """BM25 of each row for a query.

        Returns:
            float32[rows], not negative; all zero if no word of the query occurs.
        """
        gathered = Bm25(self._lengths.view)
        for word in query_words(query):
            for index in self._meant(word):
                at = np.frombuffer(self._postings[index], np.int32)
                gathered.add(self._rows.view[at], self._counts.view[at])
        return gathered.scores

    def _meant(self, word: str) -> list[int]:
        """The word itself; a lone character stands for every pair that it is in."""
        if is_lone(word):
            return [index for known, index in self._ids.items() if word in known]
        index = self._ids.get(word)
        return [] if index is None else [index]
