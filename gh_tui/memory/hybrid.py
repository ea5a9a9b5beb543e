"""One ranking from words and vectors, for a query over turns in their order."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_COSINE: Final = 0.3
_AROUND: Final = 0.9
_BEFORE: Final = 0.3
_TWO_BEFORE: Final = 0.2
_AFTER: Final = 0.2
_ASKS: Final = 1.0
_SESSION: Final = 0.3
_FLAT: Final = 1e-6
"""A deviation that is rounding only."""


def hybrid(
    bm25: Floats,
    cosine: Floats,
    *,
    asks: NDArray[np.bool_] | None = None,
    sessions: NDArray[np.int32] | None = None,
) -> Floats:
    """Add the z-scores of BM25, cosine and the cosine of a turn's neighbourhood.

    The sum is smoothed over what stands before and after a hit, since an answer often stands
    beside the words that were asked for; a turn that asks something is a weaker answer itself;
    and turns of a session that has a good hit gain by it. The weights were chosen on
    development data.

    Args:
        bm25: float32[n], not negative.
        cosine: float32[n] in [-1, 1]; not-a-number where unknown, which counts as the mean.
        asks: bool[n], whether a turn ends in a question.
        sessions: int32[n], the session of each turn, its turns in one run; None is one session.

    Returns:
        float32[n]; higher fits the query better, 0 is about the average.
    """
    near = standardise(cosine)
    around = near.copy()
    _lean(around, near, 1, 1.0, sessions)
    _lean(around, near, -1, 1.0, sessions)
    ranked = standardise(around)
    ranked *= np.float32(_AROUND)
    near *= np.float32(_COSINE)
    ranked += near
    ranked += standardise(bm25)
    smooth = ranked.copy()
    _lean(smooth, ranked, 1, _BEFORE, sessions)
    _lean(smooth, ranked, 2, _TWO_BEFORE, sessions)
    _lean(smooth, ranked, -1, _AFTER, sessions)
    if asks is not None:
        smooth -= asks * np.float32(_ASKS)
    if sessions is not None and len(sessions):
        starts = np.flatnonzero(np.diff(sessions, prepend=sessions[0] - 1))
        best = np.maximum.reduceat(smooth, starts)
        best *= np.float32(_SESSION)
        smooth += np.repeat(best, np.diff(starts, append=len(smooth)))
    return smooth


def _lean(
    target: Floats, source: Floats, by: int, share: float, sessions: NDArray[np.int32] | None
) -> None:
    """Add to each row a share of the row `by` places before it in the same session."""
    to, of = (slice(by, None), slice(None, -by)) if by > 0 else (slice(None, by), slice(-by, None))
    part = source[of] * np.float32(share)
    if sessions is not None:
        part *= sessions[to] == sessions[of]
    target[to] += part


def standardise(values: Floats) -> Floats:
    """Z-scores over the finite values; others and constant columns become 0."""
    known = np.isfinite(values)
    if known.all():
        return _z_scores(values)
    scores = np.zeros_like(values)
    scores[known] = _z_scores(values[known])
    return scores


def _z_scores(values: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean()) if values.size else 0.0
        centred = values - np.float32(mean)
        deviation = math.sqrt(float(centred @ centred) / max(values.size, 1))
    # Not a number, or infinite, where the values are too large to be added up.
    if not _FLAT * max(abs(mean), 1.0) < deviation < math.inf:
        return np.zeros_like(values)
    centred /= np.float32(deviation)
    return centred


def to_unit(scores: Floats) -> Floats:
    """Squash summed z-scores into [0, 1]: 0.5 is the average of the session.

    The slope keeps the best hits apart, which decide what stays under a small budget.
    """
    return np.asarray(0.5 + 0.5 * np.tanh(scores / 6.0), np.float32)
