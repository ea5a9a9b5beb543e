"""What all tests share: the embedder is loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService


@pytest.fixture(scope="session")
def embedding() -> Iterator[EmbeddingService]:
    """The native embedder, warm after its first use."""
    service = EmbeddingService(NativeEmbedder())
    yield service
    service.close()
