"""What the tests of the memory share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gh_tui.memory.index import Index


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = Index(tmp_path)
    yield opened
    opened.close()
