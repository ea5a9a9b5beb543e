"""A small classifier on top of any embedder: ridge regression on examples, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.vectors import Matrix, Vector

_RIDGE = 0.6
_CUE_WEIGHT = 0.35
_SHARPNESS = 6.0


class Head:
    """Probabilities of labels from a vector and cues.

    Vectors are centred on the examples, so that an embedder whose vectors share a strong
    common direction serves as well as one whose do not.
    """

    def __init__(self, vectors: Matrix, cues: Matrix, labels: Sequence[str]) -> None:
        """Fit the examples.

        Args:
            vectors: float32[n, dim]; all zero when there is no embedder, which leaves the cues.
            cues: float32[n, k].
            labels: n labels.
        """
        self.labels = tuple(dict.fromkeys(labels))
        self._mean = vectors.mean(axis=0)
        rows = np.stack([self._row(vec, cue) for vec, cue in zip(vectors, cues, strict=True)])
        targets = np.array([[name == label for name in self.labels] for label in labels], float)
        share = targets.mean(axis=0)
        weight = 1.0 / (targets @ share * len(self.labels))
        root = np.sqrt(weight)[:, None]
        gram = (rows * root) @ (rows * root).T + _RIDGE * np.eye(len(rows))
        self._weights = (rows * root).T @ np.linalg.solve(gram, targets * root)

    def probabilities(self, vector: Vector, cues: Vector) -> dict[str, float]:
        """Each label with its share; the shares add up to one.

        Args:
            vector: float32[dim].
            cues: float32[k].
        """
        scores = self._row(vector, cues) @ self._weights * _SHARPNESS
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return dict(zip(self.labels, shares.tolist(), strict=True))

    def _row(self, vector: Vector, cues: Vector) -> NDArray[np.float64]:
        centred = vector.astype(np.float64) - self._mean
        norm = float(np.linalg.norm(centred)) or 1.0
        return np.concatenate([centred / norm, _CUE_WEIGHT * cues.astype(np.float64), [1.0]])
