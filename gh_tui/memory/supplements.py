"""SupplementaryInputStore: user inputs that arrive while the agent works.

The store holds what is accepted and not yet taken; the recording makes it durable, and after a
restart the store is filled from there.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SupplementEntry:
    """One accepted supplement."""

    id: str
    content: str
    embedding: NDArray[np.float32] | None = None
    relevance_score: float | None = None
    attached: bool = False
    """The model will see its head, its tail and its IRI."""


class SupplementaryInputStore:
    """Pending supplements of one session in the order in which they came; thread-safe."""

    def __init__(self, limit: int = 100) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._entries: dict[str, SupplementEntry] = {}

    @property
    def pending_count(self) -> int:
        """How many entries wait."""
        with self._lock:
            return len(self._entries)

    def store(self, entry: SupplementEntry) -> None:
        """Add an entry at the end, or replace the one with the same id in its place."""
        with self._lock:
            self._entries[entry.id] = entry

    def update(self, entry: SupplementEntry) -> None:
        """Replace a pending entry by one that is scored; no-op if it was taken meanwhile."""
        with self._lock:
            if entry.id in self._entries:
                self._entries[entry.id] = entry

    def put_back(self, entry: SupplementEntry) -> None:
        """Put an entry back at the front, where it was taken from."""
        with self._lock:
            self._entries = {entry.id: entry, **self._entries}

    def take_pending(self) -> list[SupplementEntry]:
        """Remove and return all entries in order, atomically."""
        with self._lock:
            taken = list(self._entries.values())
            self._entries.clear()
        return taken

    def snapshot_pending(self) -> list[SupplementEntry]:
        """The entries in order, left in place."""
        with self._lock:
            return list(self._entries.values())

    def find(self, supplement_id: str) -> SupplementEntry | None:
        """One entry, left in place; None if it is not pending (any more)."""
        with self._lock:
            return self._entries.get(supplement_id)

    def withdraw(self, supplement_id: str) -> SupplementEntry | None:
        """Remove one entry; None if it is not pending (any more)."""
        with self._lock:
            return self._entries.pop(supplement_id, None)
