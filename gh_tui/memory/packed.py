"""Vectors in one byte a number: for search over much more than a session.

A row is a float32 scale and int8 values, so that scale · values is the unit vector to within
0.4 % of its largest value, and a number that makes the 32-bit words of the row add up to 0.
100,000 rows of 512 dimensions take 52 MB, a quarter of float32, and a product with all of them is
bound by memory, so it takes no longer than the float32 one.
"""

from __future__ import annotations

import mmap
import os
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

    from gh_tui.embedding.vectors import Vector

_CHUNK: Final = 256
"""Rows widened at a time: they stay in the cache, and the product stays on one thread."""
_BLOCK: Final = 4096
_WRITING_SECONDS: Final = 0.05
"""In which a row that is being written is whole."""

Rows = NDArray[np.void]


def row_type(dim: int) -> np.dtype[np.void]:
    """The layout of one row of `dim` numbers."""
    return np.dtype(
        {
            "names": ["scale", "check", "values"],
            "formats": ["<f4", "<u4", ("i1", (dim,))],
            "offsets": [0, 4, 8],
            "itemsize": 8 + dim + -dim % 4,
        }
    )


def pack_row(vector: Vector) -> bytes | None:
    """One row as bytes; None for a vector that cannot be compared (zero, not finite, empty)."""
    if vector.ndim != 1 or not vector.size:
        return None
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(norm) or norm == 0.0:
        return None
    step = float(np.abs(vector).max()) / 127
    row: NDArray[Any] = np.zeros(1, row_type(vector.size))
    row["values"][0] = np.rint(vector / np.float32(step))
    row["scale"][0] = step / norm
    row["check"] = -_sums(row)
    return row.tobytes()


def _sums(rows: Rows) -> NDArray[np.uint32]:
    """What the 32-bit words of each row add up to: uint32[n]."""
    words = rows.view("<u4").reshape(len(rows), -1)
    total: NDArray[np.uint32] = words.sum(axis=1, dtype=np.uint32)
    return total


def _are_sound(rows: Rows) -> bool:
    """Whether rows are as they were packed, or empty."""
    scale = rows["scale"]
    return not _sums(rows).any() and bool(((scale >= 0) & (scale <= 1)).all())


def unit(query: Vector | None, dim: int) -> Vector | None:
    """The query at unit length, or None if it cannot be compared with rows of `dim`."""
    if query is None or query.shape != (dim,):
        return None
    norm = float(np.linalg.norm(query.astype(np.float64)))
    if not np.isfinite(norm) or norm == 0.0:
        return None
    scaled: Vector = (query / norm).astype(np.float32)
    return scaled


def products(rows: Rows, query: Vector, out: NDArray[np.float32]) -> None:
    """Write the cosine of each row with a unit query; not-a-number for an empty row.

    Args:
        rows: n rows of `row_type(dim)`.
        query: float32[dim] of unit length.
        out: float32[n].
    """
    wide = np.empty((min(_CHUNK, len(rows)), query.size), np.float32)
    values = rows["values"]
    for start in range(0, len(rows), _CHUNK):
        part = values[start : start + _CHUNK]
        chunk = wide[: len(part)]
        np.copyto(chunk, part)
        np.dot(chunk, query, out=out[start : start + len(part)])
    scale = rows["scale"]
    out *= scale
    out[scale == 0.0] = np.nan


class PackedVectors:
    """Packed rows in memory, in blocks."""

    def __init__(self) -> None:
        self._dim = 0
        self._blocks: dict[int, Rows] = {}

    @property
    def nbytes(self) -> int:
        """Bytes held by the vectors."""
        return sum(block.nbytes for block in self._blocks.values())

    def put(self, row: int, vector: Vector) -> None:
        """Keep a vector for a row; one that cannot be compared with the others is left out."""
        packed = pack_row(vector)
        self._dim = self._dim or vector.size
        if packed is None or vector.size != self._dim:
            return
        block = self._blocks.get(row // _BLOCK)
        if block is None:
            block = self._blocks[row // _BLOCK] = np.zeros(_BLOCK, row_type(self._dim))
        block[row % _BLOCK] = np.frombuffer(packed, block.dtype)[0]

    def cosines(self, query: Vector | None, rows: int) -> NDArray[np.float32]:
        """Cosine of the query with the first `rows` rows: float32[rows], not-a-number unknown."""
        result = np.full(rows, np.nan, np.float32)
        scaled = unit(query, self._dim)
        if scaled is None:
            return result
        for number, block in self._blocks.items():
            part = result[number * _BLOCK : (number + 1) * _BLOCK]
            products(block[: len(part)], scaled, part)
        return result


class PackedFile:
    """Packed rows in a file that may be shared with other processes."""

    def __init__(self, path: Path, dim: int) -> None:
        """Open the file, creating it (0600).

        Raises:
            OSError: it cannot be opened, or is a symbolic link.
        """
        self._layout = row_type(dim)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self._path = path
        self._dim = dim
        self._rows: Rows = np.zeros(0, self._layout)

    def put(self, row: int, packed: bytes) -> None:
        """Write what `pack_row` made.

        Raises:
            OSError: it could not be written.
        """
        at = row * self._layout.itemsize
        while packed:
            written = os.pwrite(self._descriptor, packed, at)
            packed, at = packed[written:], at + written

    def __len__(self) -> int:
        return os.fstat(self._descriptor).st_size // self._layout.itemsize

    def cosines(self, query: Vector | None, rows: int) -> NDArray[np.float32]:
        """Cosine of the query with the first `rows` rows.

        Returns:
            float32[rows]; not-a-number where a row is empty, or beyond the end of the file.

        Raises:
            ValueError: the file is damaged; looked at once, when a row is first read.
        """
        result = np.full(rows, np.nan, np.float32)
        scaled = unit(query, self._dim)
        if scaled is not None:
            stored = self._mapped()[:rows]
            products(stored, scaled, result[: len(stored)])
        return result

    def close(self) -> None:
        """Let go of the file."""
        self._rows = np.zeros(0, self._layout)
        os.close(self._descriptor)

    def _mapped(self) -> Rows:
        """The whole file; mapped once, as each new map is paid for page by page."""
        there, known = len(self), len(self._rows)
        if there != known:
            size = there * self._layout.itemsize
            self._rows = np.zeros(0, self._layout)
            if size:
                # The size is asked each time: reading beyond the end would end the process.
                mapped = mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ)
                rows = np.frombuffer(mapped, self._layout)
                self._require_sound(rows[known if known < there else 0 :])
                self._rows = rows
        return self._rows

    def _require_sound(self, rows: Rows) -> None:
        if _are_sound(rows):
            return
        # Another process may be at it in this very moment.
        time.sleep(_WRITING_SECONDS)
        if not _are_sound(rows):
            raise ValueError(f"{self._path} is damaged")
