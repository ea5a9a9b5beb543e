"""The turns of the index as columns in memory: 17 bytes a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gh_tui.memory.index_store import IndexStore


class IndexView:
    """Columns by row: recordings one after the other, the turns of each in order."""

    def __init__(self) -> None:
        self.ids: NDArray[np.int64] = np.zeros(0, np.int64)
        self.files: NDArray[np.int32] = np.zeros(0, np.int32)
        self.lengths: NDArray[np.float32] = np.zeros(0, np.float32)
        """Words in each turn."""
        self.asks: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.embedders: NDArray[np.int16] = np.zeros(0, np.int16)
        self._row_of: NDArray[np.int32] = np.zeros(0, np.int32)
        self._stamp = 0

    @property
    def beyond(self) -> int:
        """One more than the highest id."""
        return len(self._row_of)

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """The row of each id, -1 where there is none."""
        inside = ids < self.beyond
        return np.where(inside, self._row_of[np.where(inside, ids, 0)], np.int32(-1))

    def update(self, store: IndexStore) -> None:
        """Follow what changed in the store since the last call."""
        stamp = store.stamp
        if stamp == self._stamp:
            return
        fetched = np.array(store.rows_since(self._stamp), np.int64).reshape(-1, 5)
        self._stamp = stamp
        if not len(fetched):
            return
        kept = ~np.isin(self.ids, fetched[:, 0])
        fetched = fetched[fetched[:, 2] >= 0]
        ids = np.concatenate([self.ids[kept], fetched[:, 0]])
        files = np.concatenate([self.files[kept], fetched[:, 1].astype(np.int32)])
        lengths = np.concatenate([self.lengths[kept], fetched[:, 2].astype(np.float32)])
        asks = np.concatenate([self.asks[kept], fetched[:, 3].astype(np.bool_)])
        embedders = np.concatenate([self.embedders[kept], fetched[:, 4].astype(np.int16)])
        order = np.lexsort((ids, files))
        self.ids, self.files, self.lengths = ids[order], files[order], lengths[order]
        self.asks, self.embedders = asks[order], embedders[order]
        self._row_of = np.full(int(ids.max(initial=-1)) + 1, -1, np.int32)
        self._row_of[self.ids] = np.arange(len(ids), dtype=np.int32)
