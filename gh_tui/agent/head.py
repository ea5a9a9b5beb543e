"""A small classifier on top of any embedder: kernel ridge regression, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gh_tui.embedding.vectors import Matrix, Vector

_RIDGE = 0.1
_WIDTH = 0.5
_SHARPNESS = 6.0


class Head:
    """Shares of labels for a vector and the signs in the words.

    Vectors are centred on the examples, so that an embedder whose vectors share a strong
    common direction serves as well as one whose do not. The kernel is exp(-0.5·d²), the
    ridge 0.1, and each label weighs the same however many examples it has; all three chosen
    by cross-validation over the examples.
    """

    def __init__(
        self,
        vectors: Matrix,
        signs: Matrix,
        labels: Sequence[str],
        weights: Matrix | None = None,
    ) -> None:
        """Fit the examples.

        Args:
            vectors: float32[n, dim]; all zero when there is no embedder, which leaves the signs.
            signs: float32[n, k].
            labels: n labels.
            weights: those of an earlier fit to the same examples, which is then not repeated.
        """
        self.labels = tuple(dict.fromkeys(labels))
        self._mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        rows = self._features(vectors, signs)
        self._columns = np.ascontiguousarray(rows.T)
        self._squares = (rows**2).sum(axis=1)
        self.weights = self._fit(labels) if weights is None else weights

    def _fit(self, labels: Sequence[str]) -> Matrix:
        targets = np.array(
            [[name == label for name in self.labels] for label in labels], dtype=np.float32
        )
        root = np.sqrt(1 / (targets @ targets.mean(axis=0) * len(self.labels)))[:, None]
        gram = self._kernel(self._columns.T @ self._columns, self._squares[:, None])
        gram *= root
        gram *= root.T
        gram[np.diag_indices_from(gram)] += _RIDGE
        weights: Matrix = np.linalg.solve(gram, targets * root) * root
        return weights

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
        row = self._features(vector[None, :], signs[None, :])[0]
        # Nearly all signs are zero; and a matmul would wake a thread per core, which costs
        # more than the product.
        some = np.flatnonzero(row)
        products = np.einsum("j,ji->i", row[some], self._columns[some])
        scores = np.einsum("i,ij->j", self._kernel(products, row @ row), self.weights)
        scores *= _SHARPNESS
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return dict(zip(self.labels, shares.tolist(), strict=True))

    def _features(self, vectors: Matrix, signs: Matrix) -> Matrix:
        centred = vectors - self._mean
        norms = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.hstack([centred / np.where(norms == 0, 1.0, norms), signs])

    def _kernel(self, products: Matrix, squares: Matrix | np.float32) -> Matrix:
        kernel: Matrix = np.exp(np.float32(-_WIDTH) * (squares + self._squares - 2 * products))
        return kernel
