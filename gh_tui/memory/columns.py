"""Growing one-dimensional arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)


class Column(Generic[S]):
    """An array that grows at its end; `view` is valid until the next `append`."""

    __slots__ = ("_data", "_size")

    def __init__(self, dtype: type[S]) -> None:
        self._data: NDArray[S] = np.empty(64, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> NDArray[S]:
        """The values so far, writable in place."""
        return self._data[: self._size]

    def append(self, value: float) -> None:
        """Add one value at the end."""
        self._reserve(1)
        self._data[self._size] = value
        self._size += 1

    def extend(self, values: Sequence[float]) -> None:
        """Add values at the end."""
        self._reserve(len(values))
        self._data[self._size : self._size + len(values)] = values
        self._size += len(values)

    def _reserve(self, more: int) -> None:
        if self._size + more > len(self._data):
            grown = np.empty(max(2 * len(self._data), self._size + more), self._data.dtype)
            grown[: self._size] = self.view
            self._data = grown
