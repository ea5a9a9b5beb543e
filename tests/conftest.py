"""What all tests share: the embedder is loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gh_tui.embedding.service import EmbeddingService
from gh_tui.runtime import Mind


@pytest.fixture(scope="session")
def mind() -> Iterator[Mind]:
    """The embedder and the Supervisor that all sessions of the tests share."""
    shared = Mind()
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def embedding(mind: Mind) -> EmbeddingService:
    """The native embedder, warm after its first use."""
    return mind.embedding
