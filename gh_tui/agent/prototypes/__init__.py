"""Example inputs of each class, in three languages."""

from __future__ import annotations

import tomllib
from importlib import resources


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
