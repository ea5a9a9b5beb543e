"""What `contrast` knows about an embedder and about conversation beforehand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from gh_tui.embedding.vectors import unpack

if TYPE_CHECKING:
    from gh_tui.memory.coherence.types import Floats


@dataclass(frozen=True, slots=True)
class Direction:
    """A linear reading of one centred unit vector."""

    weights: Floats
    bias: float

    def of(self, rows: Floats) -> Floats:
        """The reading of each row; float64[n] of any size, above 0 for yes.

        Args:
            rows: float64[n, dim].
        """
        reading: Floats = rows @ self.weights + self.bias
        return reading


@dataclass(frozen=True, slots=True)
class Profile:
    """Statistics of one embedder, made by `tests/benchmarks/coherence_profile.py`.

    Nothing in it was learned from labelled boundaries of a corpus.
    """

    embedder: str
    mean: Floats
    """float64[dim]: the mean vector of unlabelled conversation."""
    coherence: Floats
    """float64[dim]: weights on the element-wise product of two blocks of turns; above 0 when
    both come from one conversation."""
    topic: Floats
    """float64[dim, axes]: the axes in which sessions differ most and their inputs least."""
    opening: Direction
    """Does a text open a task?"""
    filler: Direction
    """Is it an acknowledgement, a short follow-up or a refinement?"""
    talk: Direction
    """Is it small talk?"""
    certainty: tuple[dict[str, float], ...]
    """For one, two and three new inputs: weight of each feature, and `bias`."""
    answered: tuple[dict[str, float], ...]
    """The same where the agent has answered some of them."""
    signals: dict[str, tuple[float, float, float]]
    """Mean, standard deviation and weight of each signal at a gap."""
    quantiles: tuple[float, ...]
    """Contrasts that stand for a session before it has its own: sixteen quantiles."""
    common: dict[str, float]
    """Weight, in [0, 1], of words so frequent that they carry little."""

    @property
    def dim(self) -> int:
        """Length of the vectors it fits."""
        return int(self.mean.shape[0])


def load_profile() -> Profile:
    """Read the profile of the native embedder from the package."""
    text = resources.files(__package__).joinpath("native.json").read_text("utf-8")
    raw: dict[str, Any] = json.loads(text)
    mean = _floats(raw["mean"])
    return Profile(
        embedder=raw["embedder"],
        mean=mean,
        coherence=_floats(raw["coherence"]),
        topic=np.array([_floats(axis) for axis in raw["topic"]]).T,
        opening=_direction(raw["opening"]),
        filler=_direction(raw["filler"]),
        talk=_direction(raw["talk"]),
        certainty=tuple(raw["certainty"]),
        answered=tuple(raw["answered"]),
        signals={name: (row[0], row[1], row[2]) for name, row in raw["signals"].items()},
        quantiles=tuple(raw["quantiles"]),
        common=raw["common"],
    )


def _floats(text: str) -> Floats:
    return unpack(text).astype("float64")


def _direction(raw: dict[str, Any]) -> Direction:
    return Direction(_floats(raw["weights"]), float(raw["bias"]))
