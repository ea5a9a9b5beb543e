"""The words of a session: how rare each one is in it, and which turns answer a query."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.columns import Column

_WORD: Final = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_BIGRAM_SCRIPT: Final = re.compile(
    "[\u0e00-\u0e7f]+|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+|\b[A-Z]{2,}\b|\b\w+[_/]\w+\b")
_FIGURE: Final = re.compile(r"\d+|[一二三四五六七八九十百千万]+(?=[个年月日点天次元块])")
_GREETING: Final = re.compile(
    r"\W*(?:hi|hello|hey|thanks?(?: you)?|bye|good (?:morning|night|evening)|great|nice|wow|cool|"
    r"ok(?:ay)?|sure|yes|halo|hai|terima kasih|makasih|selamat \w+|sampai jumpa|ya|baik|"
    r"你好|您好|谢谢|多谢|再见|好的|嗯|哈哈|早上好|晚安)(?![^\W\d_])",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[?？]\s*$")
_SCANNED: Final = 8_000
_K1: Final = 1.2
_B: Final = 0.75
_RENEWAL: Final = 1.1


def words_of(text: str) -> list[str]:
    """Lower-case words; Chinese, Japanese and Thai as character bigrams.

    Only the first 8,000 characters are read.
    """
    words: list[str] = []
    for found in _WORD.finditer(text[:_SCANNED].lower()):
        word = found[0]
        if word.isascii():
            words.append(word)
            continue
        start = 0
        for run in _BIGRAM_SCRIPT.finditer(word):
            if run.start() > start:
                words.append(word[start : run.start()])
            characters = run[0]
            words.extend(characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
            start = run.end()
        if start < len(word):
            words.append(word[start:])
    return words


def emphasis(text: str, *, answers: bool) -> float:
    """How much more (or less) a turn tells than the rarity of its words says, in [0.3, 3].

    Raised by names, numbers and dates and by being the answer to a question; lowered for
    greetings, acknowledgements and questions.

    Args:
        text: the turn's text.
        answers: whether the turn before it asked something.
    """
    body = text[:_SCANNED]
    value = (
        1.0 + 0.15 * min(4, len(_NAME.findall(body))) + 0.15 * min(4, len(_FIGURE.findall(body)))
    )
    if answers:
        value *= 1.3
    if _QUESTION.search(body):
        value *= 0.6
    if _GREETING.match(body):
        value *= 0.7
    return max(0.3, min(3.0, value))


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
        self._rarity: NDArray[np.float32] = np.zeros(0, np.float32)
        self._rows_then = 0
        self._asked = False

    def add(self, text: str) -> None:
        """Take in the text of the next row."""
        row = len(self._lengths)
        counts = Counter(words_of(text))
        fresh = float(np.log1p(row + 1))
        total = 0.0
        for word, times in counts.items():
            index = self._ids.setdefault(word, len(self._ids))
            if index == len(self._postings):
                self._postings.append(array("i"))
            self._postings[index].append(len(self._words))
            self._words.append(index)
            self._counts.append(times)
            self._rows.append(row)
            total += float(self._rarity[index]) if index < len(self._rarity) else fresh
        self._lengths.append(sum(counts.values()))
        self._emphasis.append(emphasis(text, answers=self._asked))
        self._information.append(total * self._emphasis.view[row])
        self._asked = bool(_QUESTION.search(text[-200:]))
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
        self._rarity = np.log1p(rows / having)
        sums = np.bincount(self._rows.view, self._rarity[self._words.view], minlength=rows)
        self._information.view[:] = sums * self._emphasis.view

    def bm25(self, query: str) -> NDArray[np.float32]:
        """BM25 of each row for a query (k1 = 1.2, b = 0.75).

        Returns:
            float32[rows], not negative; all zero if no word of the query occurs.
        """
        rows = len(self._lengths)
        lengths = self._lengths.view
        scores = np.zeros(rows, np.float32)
        if not rows:
            return scores
        norm = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0))
        for word in sorted(set(words_of(query))):
            index = self._ids.get(word)
            if index is None:
                continue
            at = np.frombuffer(self._postings[index], np.int32)
            weight = math.log1p((rows - len(at) + 0.5) / (len(at) + 0.5))
            hit, times = self._rows.view[at], self._counts.view[at]
            scores[hit] += weight * times * (_K1 + 1) / (times + norm[hit])
        return scores
