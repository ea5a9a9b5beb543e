"""Measures of topic boundaries, as `data/README.md` of the benchmarks defines them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate

import numpy as np


@dataclass(frozen=True, slots=True)
class Segmentation:
    """One dialogue's boundaries, true and found: indexes of turns that end a topic."""

    truth: frozenset[int]
    found: frozenset[int]
    turns: int


def score(cases: Collection[Segmentation]) -> float:
    """Half of F1, a quarter each of 1 - Pk and 1 - WindowDiff, each averaged over dialogues."""
    f1 = np.mean([boundary_f1(case) for case in cases])
    windows = np.mean([_windows(case) for case in cases], axis=0)
    return float(0.5 * f1 + 0.25 * (1 - windows[0]) + 0.25 * (1 - windows[1]))


def boundary_f1(case: Segmentation) -> float:
    """F1 of one dialogue; 0 without a hit, so also when there was nothing to find."""
    return 2 * len(case.truth & case.found) / max(1, len(case.truth) + len(case.found))


def precision_recall(cases: Collection[Segmentation]) -> tuple[float | None, float | None]:
    """Over all boundaries of all dialogues; None where nothing was found, or nothing is there."""
    hits = sum(len(case.truth & case.found) for case in cases)
    found = sum(len(case.found) for case in cases)
    truth = sum(len(case.truth) for case in cases)
    return (hits / found if found else None, hits / truth if truth else None)


def _windows(case: Segmentation) -> tuple[float, float]:
    """Pk and WindowDiff, over every window of half the mean length of a segment."""
    width = max(2, round(case.turns / (len(case.truth) + 1) / 2))
    truth = _cumulated(case.truth, case.turns)
    found = _cumulated(case.found, case.turns)
    starts = range(case.turns - width + 1)
    pairs = [(truth[i + width] - truth[i], found[i + width] - found[i]) for i in starts]
    if not pairs:
        return 0.0, 0.0
    missed = sum((a > 0) != (b > 0) for a, b in pairs)
    different = sum(a != b for a, b in pairs)
    return missed / len(pairs), different / len(pairs)


def _cumulated(boundaries: frozenset[int], turns: int) -> list[int]:
    return list(accumulate((int(i in boundaries) for i in range(turns)), initial=0))
