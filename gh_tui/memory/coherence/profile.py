"""What `contrast` knows about an embedder beforehand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """Statistics of one embedder."""

    embedder: str


def load_profile() -> Profile:
    """The profile of the native embedder."""
    return Profile("native")
