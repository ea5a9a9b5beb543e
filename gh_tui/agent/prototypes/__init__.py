"""Example inputs of each class, in three languages."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from gh_tui.embedding.vectors import Matrix


def load_prototypes() -> tuple[list[str], list[str]]:
    """Read the example sentences and their labels, always in the same order.

    Labels in lower case (`question`, `chat`, `request`) are kinds of AddContext.
    """
    texts: list[str] = []
    labels: list[str] = []
    files = (file for file in resources.files(__name__).iterdir() if file.name.endswith(".toml"))
    for file in sorted(files, key=lambda file: file.name):
        for label, examples in tomllib.loads(file.read_text("utf-8")).items():
            texts.extend(examples)
            labels.extend([label] * len(examples))
    return texts, labels


def load_vectors(embedder: str, texts: Sequence[str]) -> Matrix | None:
    """The vectors of the examples that ship with the program, for an embedder that has them.

    Args:
        embedder: name of the embedder.
        texts: the examples; other texts than those that were embedded give None.

    Returns:
        float32[n, dim] at the precision of float16, or None.
    """
    file = resources.files(__name__).joinpath(f"{embedder}.npz")
    if not file.is_file():
        return None
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        if str(stored["digest"]) != _digest(texts):
            return None
        vectors: Matrix = stored["vectors"].astype(np.float32)
    return vectors


def save_vectors(path: Path, texts: Sequence[str], vectors: Matrix) -> None:
    """Write what `load_vectors` reads."""
    np.savez(path, digest=np.array(_digest(texts)), vectors=vectors.astype(np.float16))


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
