"""What the tests of the memory share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.vectors import Vector, round16
from gh_tui.memory.index import Index

Embed = Callable[[str], Vector]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = Index(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def embed() -> Embed:
    """Texts to vectors of the built-in embedder, each embedded once."""
    embedder = NativeEmbedder()
    known: dict[str, Vector] = {}

    def one(text: str) -> Vector:
        if text not in known:
            known[text] = round16(embedder.embed_sync([text]))[0]
        return known[text]

    return one
