"""The built-in reference set: short sessions and small talk in three languages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Topic:
    """A task and inputs that belong to it."""

    task: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """Topics and small talk of one language; every topic has as many inputs as the others."""

    language: str
    topics: tuple[Topic, ...]
    smalltalk: tuple[str, ...]


def load_reference() -> tuple[Reference, ...]:
    """Read the set from the package."""
    text = resources.files("gh_tui.embedding").joinpath("reference.json").read_text("utf-8")
    return tuple(
        Reference(
            language=language,
            topics=tuple(Topic(task, tuple(inputs)) for task, *inputs in entry["topics"]),
            smalltalk=tuple(entry["smalltalk"]),
        )
        for language, entry in json.loads(text).items()
    )
