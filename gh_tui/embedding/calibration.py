"""Raw cosines to similarities: the same threshold for every embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.reference import Reference
from gh_tui.embedding.vectors import Matrix
from gh_tui.errors import EmbeddingError

_AT_UNRELATED = 0.1
_AT_RELATED = 0.6


@dataclass(frozen=True, slots=True)
class Calibration:
    """Median raw cosines of an embedder: `u` of unrelated and `r` of related pairs.

    Raises:
        EmbeddingError: unless -1 <= u < r < 1.
    """

    u: float
    r: float

    def __post_init__(self) -> None:
        if not -1.0 <= self.u < self.r < 1.0:
            raise EmbeddingError(
                f"this embedder does not tell related from unrelated texts (u={self.u:.3f}, "
                f"r={self.r:.3f}); choose another one"
            )

    @overload
    def similarity(self, cos: float) -> float: ...
    @overload
    def similarity(self, cos: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def similarity(self, cos: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """Map raw cosines to [0, 1].

        Piecewise linear through (u, 0.1), (r, 0.6) and (1, 1), and down to 0 along the first
        slope.

        Args:
            cos: one number or an array of any shape, in [-1, 1]; not-a-number stays so.
        """
        slope = (_AT_RELATED - _AT_UNRELATED) / (self.r - self.u)
        xs = (self.u - _AT_UNRELATED / slope, self.r, 1.0)
        mapped = np.interp(cos, xs, (0.0, _AT_RELATED, 1.0))
        return mapped.astype(np.float32) if isinstance(mapped, np.ndarray) else float(mapped)


NATIVE = Calibration(u=0.01, r=0.26)
"""Measured for the built-in embedder on the built-in reference set."""


def measure(
    embed: Callable[[Sequence[str]], Matrix], references: Sequence[Reference]
) -> Calibration:
    """Measure `u` and `r` of an embedder.

    Related pairs are a task and its own inputs; unrelated pairs are a task and small talk of
    the same language. Inputs of other tasks are left out: most sets of topics share words of
    work ("write", "add", "test"), which would push `u` and with it the threshold up.

    Args:
        embed: texts to float32[n, dim], rows of any length.
        references: one per language.

    Raises:
        EmbeddingError: the embedder does not separate the two kinds of pairs.
    """
    related: list[float] = []
    unrelated: list[float] = []
    for reference in references:
        tasks = _unit(embed([topic.task for topic in reference.topics]))
        talk = _unit(embed(reference.smalltalk))
        unrelated.extend((tasks @ talk.T).ravel().tolist())
        for task, topic in zip(tasks, reference.topics, strict=True):
            related.extend((_unit(embed(topic.inputs)) @ task).tolist())
    return Calibration(u=float(np.median(unrelated)), r=float(np.median(related)))


def _unit(matrix: Matrix) -> Matrix:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms == 0, 1.0, norms)).astype(np.float32)
