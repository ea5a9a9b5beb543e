"""The embedder behind one thread: asynchronous, cached, and the same alone or in a batch."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gh_tui.embedding.vectors import Matrix, Vector, round16
from gh_tui.errors import EmbeddingError

_CHUNK = 16
"""Texts per job of the thread: small, so that a short input is not kept waiting by an import."""


class Embedder(Protocol):
    """What turns texts into vectors; called from one thread only."""

    @property
    def name(self) -> str:
        """Stable name; vectors of different names are never compared."""
        ...

    @property
    def dim(self) -> int:
        """Length of each vector."""
        ...

    @property
    def max_chars(self) -> int:
        """Characters of a text that are used; what follows is cut."""
        ...

    def embed_sync(self, texts: Sequence[str]) -> Matrix:
        """Embed non-empty texts without lone surrogates into float32[n, dim].

        A row must depend on its own text only, never on the rest of the batch.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingHealth:
    """How the embedder has been doing."""

    name: str
    dim: int
    ready: bool
    """It has answered at least once and its last answer was usable."""
    embedded: int
    """Texts encoded; those found in the cache are not counted."""
    cut: int
    """Texts encoded that were longer than the limit."""
    failed: int
    """Batches that raised or returned nonsense."""
    last_error: str | None


class EmbeddingService:
    """Embeds off the event loop on one thread of its own.

    Safe to call from several tasks at once. Long lists are cut in short jobs, so that
    callers take turns. Vectors leave with unit length, rounded to float16 values.
    """

    def __init__(self, embedder: Embedder, *, cache_size: int = 2048) -> None:
        self._embedder = embedder
        self._cache_size = cache_size
        self._cache: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._closed = False
        self._ready = False
        self._embedded = 0
        self._cut = 0
        self._failed = 0
        self._last_error: str | None = None

    @property
    def name(self) -> str:
        """The embedder's name."""
        return self._embedder.name

    @property
    def dim(self) -> int:
        """Length of each vector."""
        return self._embedder.dim

    @property
    def max_chars(self) -> int:
        """Characters of a text that are used; a longer text is cut there."""
        return self._embedder.max_chars

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed texts.

        Args:
            texts: n texts; one without a letter or digit (empty, "?!", a picture) becomes the
                zero vector, which stands for *unknown*. Lone surrogates count as "?".

        Returns:
            float32[n, dim]: rows of unit length up to float16, or zero, or not finite where
            the embedder answered so for that text.

        Raises:
            EmbeddingError: the service is closed, the embedder failed, or its answer has the
                wrong shape.
        """
        keys = [self._prepare(text) for text in texts]
        rows = np.zeros((len(keys), self.dim), dtype=np.float32)
        missing = self._fill(rows, keys)
        loop = asyncio.get_running_loop()
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            if self._closed:
                raise EmbeddingError("the embedding service is closed")
            found = await loop.run_in_executor(self._pool, self._encode, chunk)
            for row, key in enumerate(keys):
                if key in found:
                    rows[row] = found[key]
        return rows

    async def warm_up(self) -> None:
        """Load the embedder, so that the first input does not wait for it.

        Raises:
            EmbeddingError: it cannot be loaded.
        """
        await self.embed(["warm up"])

    def health(self) -> EmbeddingHealth:
        """Counters and the last error, for the status line."""
        return EmbeddingHealth(
            name=self.name,
            dim=self.dim,
            ready=self._ready,
            embedded=self._embedded,
            cut=self._cut,
            failed=self._failed,
            last_error=self._last_error,
        )

    def close(self) -> None:
        """Drop queued work and let the thread end; later calls of `embed` raise."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _prepare(self, text: str) -> str:
        # One character more than the limit, so that `_encode` can see that it was cut.
        head = text.strip()[: self.max_chars + 1]
        if not any(char.isalnum() for char in head):
            return ""
        return head if head.isascii() else head.encode("utf-8", "replace").decode("utf-8")

    def _fill(self, rows: Matrix, keys: Sequence[str]) -> list[str]:
        """Copy cached rows and return the other texts, each once, in order."""
        missing: dict[str, None] = {}
        with self._lock:
            for row, key in enumerate(keys):
                if not key:
                    continue
                if (known := self._cache.get(key)) is None:
                    missing[key] = None
                else:
                    self._cache.move_to_end(key)
                    rows[row] = known
        return list(missing)

    def _encode(self, texts: list[str]) -> dict[str, Vector]:
        """Encode on the service's thread; texts that came in meanwhile are not done twice."""
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
        wanted = [text for text in texts if text not in found]
        if not wanted:
            return found
        limit = self.max_chars
        try:
            matrix = self._embedder.embed_sync([text[:limit] for text in wanted])
            rows = _unit(matrix, (len(wanted), self.dim))
        except Exception as error:
            self._failed += 1
            self._ready = False
            self._last_error = str(error) or type(error).__name__
            if isinstance(error, EmbeddingError):
                raise
            raise EmbeddingError(f"the embedder {self.name} failed: {self._last_error}") from error
        self._ready = True
        self._embedded += len(wanted)
        self._cut += sum(len(text) > limit for text in wanted)
        self._keep(wanted, rows)
        return found | dict(zip(wanted, rows, strict=True))

    def _keep(self, texts: Sequence[str], rows: Matrix) -> None:
        with self._lock:
            for text, row in zip(texts, rows, strict=True):
                if np.isfinite(row).all():
                    self._cache[text] = row
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)


def _unit(matrix: Matrix, shape: tuple[int, int]) -> Matrix:
    """Check the shape, give each row unit length, and round to float16 values."""
    if matrix.shape != shape:
        raise EmbeddingError(f"the embedder returned shape {matrix.shape}, not {shape}")
    norms = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    norms[norms == 0] = 1.0
    return round16((matrix / norms).astype(np.float32))
