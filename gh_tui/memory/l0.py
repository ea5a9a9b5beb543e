"""L0: the archive of a session. Every turn's full text by IRI, and a search over them.

The recording is the archive; what it holds of the live session is in memory here as well, so
that a turn can be found in the moment it is added. Other sessions are found through `index`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gh_tui.errors import RecordingError
from gh_tui.events.types import TurnAdded
from gh_tui.memory.columns import Column
from gh_tui.memory.harvest import searched_text
from gh_tui.memory.hits import Hit, best, related
from gh_tui.memory.hybrid import hybrid
from gh_tui.memory.lexicon import Lexicon
from gh_tui.memory.packed import PackedVectors

if TYPE_CHECKING:
    from gh_tui.embedding.vectors import Vector


class L0:
    """The turns of one session, never forgotten."""

    def __init__(self) -> None:
        self._turns: list[TurnAdded] = []
        self._rows: dict[str, int] = {}
        self._lexicon = Lexicon()
        self._vectors = PackedVectors()
        self._hidden = Column(np.bool_)

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, turn: TurnAdded) -> None:
        """Take in a turn; a second one with the same IRI is ignored."""
        if turn.iri in self._rows:
            return
        self._rows[turn.iri] = len(self._turns)
        self._turns.append(turn)
        text = searched_text(turn)
        self._hidden.append(not text)
        self._lexicon.add(text)

    def add_vector(self, iri: str, vector: Vector) -> None:
        """Keep a turn's embedding (float32[dim]) for search.

        Raises:
            RecordingError: if there is no such turn.
        """
        row = self._row(iri)
        if not self._hidden.view[row]:
            self._vectors.put(row, vector)

    def withdraw(self, iri: str) -> None:
        """Keep a turn from the agent: the user took it back before it was read."""
        self._hidden.view[self._row(iri)] = True
        del self._rows[iri]

    def text(self, iri: str) -> str:
        """The full text of a turn.

        Raises:
            RecordingError: if there is no such turn.
        """
        return self._turns[self._row(iri)].text

    def search(self, query: str, vector: Vector | None, limit: int = 8) -> list[Hit]:
        """The turns nearest to a query, best first, by words, meaning and what stands beside.

        Args:
            query: any text.
            vector: float32[dim], its embedding; None searches by words alone.
            limit: how many, from 1.

        Returns:
            at most `limit` hits; none if no turn has anything to do with the query.
        """
        words = self._lexicon.bm25(query)
        near = self._vectors.cosines(vector, len(self._turns))
        hidden = self._hidden.view
        words[hidden], near[hidden] = 0.0, np.nan
        if not related(words, near).any():
            return []
        scores = hybrid(words, near, asks=self._lexicon.asks)
        scores[hidden] = -np.inf
        return [
            Hit(turn.iri, turn.role, turn.summary, float(scores[row]))
            for row in best(scores, limit)
            for turn in (self._turns[row],)
        ]

    def _row(self, iri: str) -> int:
        try:
            return self._rows[iri]
        except KeyError:
            raise RecordingError(f"there is no turn {iri} in this session") from None
