"""One ranking from words and vectors, for a query over turns in their order."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_COSINE: Final = 0.5
_AROUND: Final = 0.6
_BEFORE: Final = 0.3
_AFTER: Final = 0.1
_FLAT: Final = 1e-6
"""A deviation that is rounding only."""


def hybrid(bm25: Floats, cosine: Floats) -> Floats:
    """Add the z-scores of BM25, cosine and the cosine of a turn's neighbourhood.

    The sum is smoothed over the neighbours of a hit: 0.3 of the turn before, 0.1 of the next.

    Args:
        bm25: float32[n], not negative.
        cosine: float32[n] in [-1, 1]; not-a-number where unknown, which counts as the mean.

    Returns:
        float32[n]; higher fits the query better, 0 is the average.
    """
    near = standardise(cosine)
    around = near.copy()
    around[1:] += near[:-1]
    around[:-1] += near[1:]
    ranked = standardise(around)
    ranked *= _AROUND
    near *= _COSINE
    ranked += near
    ranked += standardise(bm25)
    smooth = ranked.copy()
    smooth[1:] += _BEFORE * ranked[:-1]
    smooth[:-1] += _AFTER * ranked[1:]
    return smooth


def standardise(values: Floats) -> Floats:
    """Z-scores over the known values; unknown ones and constant columns become 0."""
    mean = float(values.mean()) if values.size else 0.0
    if math.isnan(mean):
        known = np.isfinite(values)
        scores = np.zeros_like(values)
        if known.any():
            scores[known] = standardise(values[known])
        return scores
    centred = values - np.float32(mean)
    deviation = math.sqrt(float(centred @ centred) / max(values.size, 1))
    if deviation <= _FLAT * max(abs(mean), 1.0):
        return np.zeros_like(values)
    centred /= np.float32(deviation)
    return centred


def to_unit(scores: Floats) -> Floats:
    """Squash z-scores into [0, 1]: 0.5 is the average of the session."""
    squashed: Floats = (0.5 + 0.5 * np.tanh(0.5 * scores)).astype(np.float32)
    return squashed
