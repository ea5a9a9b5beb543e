"""One ranking from words and vectors, for a query over turns in their order."""

from __future__ import annotations

from typing import Final

import numpy as np

from gh_tui.memory.vectors import Floats

_COSINE: Final = 0.5
_AROUND: Final = 0.6
_BEFORE: Final = 0.3
_AFTER: Final = 0.1


def hybrid(bm25: Floats, cosine: Floats) -> Floats:
    """Add the z-scores of BM25, cosine and the cosine of a turn's neighbourhood.

    The sum is smoothed over the neighbours of a hit: 0.3 of the turn before, 0.1 of the next.

    Args:
        bm25: float64[n], not negative.
        cosine: float64[n] in [-1, 1]; not-a-number where unknown, which counts as the mean.

    Returns:
        float64[n]; higher fits the query better, 0 is the average.
    """
    near = standardise(cosine)
    around = near.copy()
    around[1:] += near[:-1]
    around[:-1] += near[1:]
    ranked = standardise(bm25) + _COSINE * near + _AROUND * standardise(around)
    smooth = ranked.copy()
    smooth[1:] += _BEFORE * ranked[:-1]
    smooth[:-1] += _AFTER * ranked[1:]
    return smooth


def standardise(values: Floats) -> Floats:
    """Z-scores over the known values; unknown ones and constant columns become 0."""
    known = np.isfinite(values)
    every = bool(known.all())
    sample = values if every else values[known]
    if not sample.size:
        return np.zeros_like(values)
    deviation = float(sample.std())
    if deviation == 0.0:
        return np.zeros_like(values)
    scores = (values - float(sample.mean())) / deviation
    return scores if every else np.where(known, scores, 0.0)


def to_unit(scores: Floats) -> Floats:
    """Squash z-scores into [0, 1]: 0.5 is the average of the session."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * scores), dtype=np.float64)
