"""What a search of the archive finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.events.values import Role

NEAR: Final = 0.25
"""Cosine from which a turn has to do with a query that shares no word with it.

Chosen for the built-in embedder, whose related pairs have .26 as their median. Of queries without
sense about one in ten is above it somewhere in a small library; at .3 as many fail to be, but so
does every second question that says it in other words.
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One turn that a search found; `score` only orders hits of one search."""

    iri: str
    role: Role
    summary: str
    score: float
    """About a sum of z-scores: 0 is the average turn."""
    session: str = ""
    """The session it comes from; empty for the live one."""
    title: str = ""
    """That session's task, on one line."""
    time: str = ""
    """When it was recorded (RFC 3339, UTC), if that is known."""
    is_related: bool = True
    """Whether it has to do with the query itself, not only with what stands beside it."""


def best(scores: NDArray[np.float32], limit: int) -> list[int]:
    """Rows of the highest scores, best first, ties by row; minus infinity is never among them."""
    if limit < len(scores):
        worst = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows = np.flatnonzero(scores >= worst)
    else:
        rows = np.arange(len(scores))
    order = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    return [int(row) for row in order if scores[row] > -np.inf]


def related(words: NDArray[np.float32], near: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which turns have anything to do with a query.

    Args:
        words: float32[n], BM25 of each turn.
        near: float32[n], cosine of each turn, not-a-number where unknown.
    """
    told: NDArray[np.bool_] = (words > 0) | (near >= NEAR)
    return told
