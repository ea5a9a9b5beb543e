"""The vectors of a session in blocks: no copy on growth, the oldest can go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gh_tui.embedding.vectors import Vector

BLOCK_ROWS: Final = 4096
VECTOR_BYTES: Final = 256 * 2**20
"""Cap of the vectors kept in memory: 131,072 turns of 512 dimensions."""


class VectorStore:
    """Unit vectors by row; a row without a usable vector has similarity not-a-number.

    Past the cap the oldest block is dropped; its rows then count as having no vector.
    """

    def __init__(self, cap_bytes: int = VECTOR_BYTES) -> None:
        self._cap = cap_bytes
        self._dim = 0
        self._blocks: list[NDArray[np.float32] | None] = []
        self._known: list[NDArray[np.bool_]] = []
        self._dropped: list[range] = []

    @property
    def nbytes(self) -> int:
        """Bytes held by the vectors."""
        return sum(block.nbytes for block in self._blocks if block is not None)

    def put(self, row: int, vector: Vector | None) -> Vector | None:
        """Keep a vector for a row; rows may come in any order.

        Returns:
            float32[dim], the unit vector inside the store; None if there is none or it cannot
            be compared with the others (zero, not finite, another dimension).
        """
        if vector is None or vector.ndim != 1 or not vector.size:
            return None
        norm = float(np.linalg.norm(vector))
        if not np.isfinite(norm) or norm == 0.0:
            return None
        self._dim = self._dim or vector.shape[0]
        if vector.shape[0] != self._dim:
            return None
        block = self._block(row // BLOCK_ROWS)
        if block is None:
            return None
        index = row % BLOCK_ROWS
        np.divide(vector, np.float32(norm), out=block[index], casting="same_kind")
        self._known[row // BLOCK_ROWS][index] = True
        view: Vector = block[index]
        return view

    def take_dropped(self) -> list[range]:
        """Rows whose vectors were dropped since the last call; let go of what `put` gave."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def cosines(self, query: Vector | None, rows: int) -> NDArray[np.float32]:
        """Cosine of the query with each of the first `rows` rows.

        Returns:
            float32[rows], in [-1, 1] but for rounding; not-a-number where a vector is missing.
        """
        result = np.full(rows, np.nan, np.float32)
        if query is None or query.shape != (self._dim,):
            return result
        norm = float(np.linalg.norm(query))
        if not np.isfinite(norm) or norm == 0.0:
            return result
        unit = (query / norm).astype(np.float32)
        for number, block in enumerate(self._blocks):
            start = number * BLOCK_ROWS
            size = min(BLOCK_ROWS, rows - start)
            if block is None or size <= 0:
                continue
            part = result[start : start + size]
            # As fast as BLAS here, which on a busy machine waits for its own threads.
            np.einsum("ij,j->i", block[:size], unit, out=part)
            known = self._known[number][:size]
            if not known.all():
                part[~known] = np.nan
        return result

    def _block(self, number: int) -> NDArray[np.float32] | None:
        while len(self._blocks) <= number:
            self._blocks.append(np.zeros((BLOCK_ROWS, self._dim), np.float32))
            self._known.append(np.zeros(BLOCK_ROWS, np.bool_))
            self._drop_oldest()
        return self._blocks[number]

    def _drop_oldest(self) -> None:
        held = [n for n, block in enumerate(self._blocks) if block is not None]
        if self.nbytes > self._cap and len(held) > 1:
            self._blocks[held[0]] = None
            self._known[held[0]][:] = False
            self._dropped.append(range(held[0] * BLOCK_ROWS, (held[0] + 1) * BLOCK_ROWS))
