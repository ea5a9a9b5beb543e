"""Example inputs of each class, in three languages."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

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
        float32[n, dim] at the precision of eight bits, or None.
    """
    stored = _load(embedder, "texts", "\n".join(texts).encode(), ("vectors", "scales"))
    return None if stored is None else stored[0] * stored[1]


def load_weights(embedder: str, signs: Matrix) -> Matrix | None:
    """The fit to the examples that ships with the program, for an embedder that has one.

    Args:
        embedder: name of the embedder.
        signs: float32[n, k] of the examples; other signs than those of the fit give None.

    Returns:
        float32[n, labels] or None.
    """
    stored = _load(embedder, "signs", _pattern(signs), ("weights",))
    return None if stored is None else stored[0]


def save_vectors(path: Path, texts: Sequence[str], vectors: Matrix) -> None:
    """Write what `load_vectors` reads."""
    scales = np.abs(vectors).max(axis=1, keepdims=True) / np.float32(127)
    small = np.round(vectors / np.where(scales == 0, 1, scales)).astype(np.int8)
    _save(path, texts=_digest("\n".join(texts).encode()), vectors=small, scales=scales)


def save_weights(path: Path, signs: Matrix, weights: Matrix) -> None:
    """Add to what `save_vectors` wrote what `load_weights` reads."""
    with np.load(path, allow_pickle=False) as stored:
        kept = {name: stored[name] for name in ("texts", "vectors", "scales")}
    _save(path, **kept, signs=_digest(_pattern(signs)), weights=weights)


def _load(embedder: str, key: str, data: bytes, names: Sequence[str]) -> list[Matrix] | None:
    file = resources.files(__name__).joinpath(f"{embedder}.npz")
    if not file.is_file():
        return None
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        if key not in stored or str(stored[key]) != _digest(data):
            return None
        return [stored[name].astype(np.float32) for name in names]


def _save(path: Path, **arrays: Any) -> None:
    np.savez_compressed(path, **arrays)


def _pattern(signs: Matrix) -> bytes:
    """Which signs each example has; how strong each is follows from that."""
    return np.packbits(signs != 0).tobytes()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
