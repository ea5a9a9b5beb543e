"""L0: the archive of a session. Every turn's full text by IRI, and a search over them.

The recording is the archive. A turn that this session has in memory is not read from disk; one
that it has not (a recording opened for replay) is read from there at its offset.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gh_tui.errors import RecordingError
from gh_tui.events.types import TurnAdded
from gh_tui.events.values import Role
from gh_tui.journal.reader import read_records

_K1, _B = 1.5, 0.75
_VECTOR_WEIGHT = 0.5
_BEFORE, _AFTER = 0.3, 0.1
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿฀-๿]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """One turn that a search found; `score` only orders hits of one search."""

    iri: str
    role: Role
    summary: str
    score: float


@dataclass(frozen=True, slots=True)
class _Document:
    iri: str
    role: Role
    text: str
    summary: str
    terms: Counter[str]


class L0:
    """The turns of one session, never forgotten."""

    def __init__(self) -> None:
        self._documents: dict[str, _Document] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._frequency: Counter[str] = Counter()

    @classmethod
    def from_recording(cls, path: Path) -> L0:
        """Read the turns of a recording.

        Raises:
            RecordingError: if it cannot be opened.
        """
        archive = cls()
        for record in read_records(path):
            if record.envelope is not None and isinstance(record.envelope.event, TurnAdded):
                archive.add(record.envelope.event)
        return archive

    def add(self, turn: TurnAdded) -> None:
        """Take in a turn; a second one with the same IRI is ignored."""
        if turn.iri in self._documents:
            return
        terms = Counter(search_terms(turn.text))
        self._documents[turn.iri] = _Document(turn.iri, turn.role, turn.text, turn.summary, terms)
        self._frequency.update(terms.keys())

    def add_vector(self, iri: str, vector: NDArray[np.float32]) -> None:
        """Keep a turn's embedding (float32[dim]) for search."""
        self._vectors[iri] = vector

    def text(self, iri: str) -> str:
        """The full text of a turn.

        Raises:
            RecordingError: if there is no such turn.
        """
        try:
            return self._documents[iri].text
        except KeyError:
            raise RecordingError(f"there is no turn {iri} in this session") from None

    def search(self, query: str, vector: NDArray[np.float32] | None, limit: int = 8) -> list[Hit]:
        """The turns nearest to a query, best first: z-scores of BM25 and cosine, added.

        A turn also gets a share of its neighbours' scores, since an answer often stands beside
        the words that were asked for.
        """
        documents = list(self._documents.values())
        if not documents:
            return []
        lexical = self._bm25(documents, search_terms(query))
        scores = _z(lexical) + _VECTOR_WEIGHT * _z(self._cosines(documents, vector))
        smooth = scores.copy()
        smooth[1:] += _BEFORE * scores[:-1]
        smooth[:-1] += _AFTER * scores[1:]
        order = np.argsort(-smooth, kind="stable")[:limit]
        return [
            Hit(documents[i].iri, documents[i].role, documents[i].summary, float(smooth[i]))
            for i in order
        ]

    def _bm25(self, documents: list[_Document], query: Iterable[str]) -> NDArray[np.float64]:
        lengths = np.array([document.terms.total() for document in documents], dtype=np.float64)
        norm = _K1 * (1 - _B + _B * lengths / max(1.0, float(lengths.mean())))
        scores = np.zeros(len(documents))
        for term in set(query):
            found = self._frequency.get(term, 0)
            if not found:
                continue
            idf = math.log(1 + (len(documents) - found + 0.5) / (found + 0.5))
            counts = np.array([document.terms[term] for document in documents], dtype=np.float64)
            scores += idf * counts * (_K1 + 1) / (counts + norm)
        return scores

    def _cosines(
        self, documents: list[_Document], vector: NDArray[np.float32] | None
    ) -> NDArray[np.float64]:
        scores = np.zeros(len(documents))
        if vector is None or not np.any(vector):
            return scores
        for row, document in enumerate(documents):
            own = self._vectors.get(document.iri)
            if own is not None and own.shape == vector.shape and np.any(own):
                scale = float(np.linalg.norm(own) * np.linalg.norm(vector))
                scores[row] = float(own @ vector) / scale
        return scores


def search_terms(text: str) -> list[str]:
    """Lower-case words; scripts without spaces as character bigrams (single ones as they are)."""
    terms = []
    for word in _WORD.findall(text.lower()):
        rest = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > rest:
                terms.append(word[rest : run.start()])
            run_text = run[0]
            terms += [run_text[i : i + 2] for i in range(max(1, len(run_text) - 1))]
            rest = run.end()
        if rest < len(word):
            terms.append(word[rest:])
    return terms


def _z(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
