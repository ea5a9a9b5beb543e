"""What a search of the archive finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gh_tui.events.values import Role


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


def best(scores: NDArray[np.float32], limit: int) -> list[int]:
    """Rows of the highest scores, best first, ties by row; minus infinity is never among them."""
    if limit < len(scores):
        worst = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows = np.flatnonzero(scores >= worst)
    else:
        rows = np.arange(len(scores))
    order = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    return [int(row) for row in order if scores[row] > -np.inf]
