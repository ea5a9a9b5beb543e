"""A small classifier on top of any embedder: kernel ridge regression, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.vectors import Matrix, Vector

_RIDGE = 0.1
_WIDTH = 0.25
_SHARPNESS = 6.0

_Wide = NDArray[np.float64]


class Head:
    """Shares of labels for a vector and the signs in the words.

    Vectors are centred on the examples, so that an embedder whose vectors share a strong
    common direction serves as well as one whose do not. The kernel is exp(-0.25·d²), the
    ridge 0.1, and each label weighs the same however many examples it has; all three chosen
    by cross-validation over the examples.
    """

    def __init__(self, vectors: Matrix, signs: Matrix, labels: Sequence[str]) -> None:
        """Fit the examples.

        Args:
            vectors: float32[n, dim]; all zero when there is no embedder, which leaves the signs.
            signs: float32[n, k].
            labels: n labels.
        """
        self.labels = tuple(dict.fromkeys(labels))
        self._mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._rows = self._features(vectors, signs)
        self._squares = (self._rows**2).sum(axis=1)
        targets = np.array([[name == label for name in self.labels] for label in labels], float)
        root = np.sqrt(1.0 / (targets @ targets.mean(axis=0) * len(self.labels)))[:, None]
        gram = root * self._kernel(self._rows) * root.T + _RIDGE * np.eye(len(labels))
        self._weights: _Wide = np.linalg.solve(gram, targets * root) * root

    @property
    def dim(self) -> int:
        """Length of the vectors it was fitted on."""
        return int(self._mean.shape[0])

    def shares(self, vector: Vector, signs: Vector) -> dict[str, float]:
        """Each label with its share; the shares add up to one.

        Args:
            vector: float32[dim].
            signs: float32[k].
        """
        row = self._features(vector[None, :], signs[None, :])
        scores = (self._kernel(row) @ self._weights)[0] * _SHARPNESS
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return dict(zip(self.labels, shares.tolist(), strict=True))

    def _features(self, vectors: Matrix, signs: Matrix) -> Matrix:
        centred = vectors - self._mean
        norms = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.hstack([centred / np.where(norms == 0, 1.0, norms), signs])

    def _kernel(self, rows: Matrix) -> _Wide:
        squares = (rows**2).sum(axis=1)[:, None] + self._squares[None, :]
        # One row with matmul would wake a thread per core, which costs more than the product.
        products = (
            np.einsum("j,ij->i", rows[0], self._rows)[None, :]
            if len(rows) == 1
            else rows @ self._rows.T
        )
        kernel: _Wide = np.exp(-_WIDTH * (squares - 2.0 * products).astype(np.float64))
        return kernel
