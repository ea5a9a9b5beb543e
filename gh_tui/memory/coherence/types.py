"""What the topic coherence rules take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gh_tui.events.values import Role

Vector = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
RuleName = Literal["contrast", "adjacent", "learned"]


@dataclass(frozen=True, slots=True)
class CoherenceTurn:
    """One turn of the conversation as the rules see it."""

    iri: str
    role: Role
    text: str
    vector: Vector | None
    """float32[dim] of the session's embedder; None when there is none."""
    is_input: bool
    """True where a new topic may begin: what the user typed."""
    head: Vector | None = None
    """The vector of its first sentence (`first_sentence`), if the text has more than that. What a
    long input is for is said there; without it, `vector` stands for it."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A confirmed change of topic."""

    boundary_iri: str
    """The input that opens the new topic."""
    similarities: tuple[float | None, ...]
    """In [0, 1], how near what came since the boundary is to the topic before it. `adjacent`: each
    input, calibrated; `contrast` and `learned`: one less the certainty of the rule, with one, two
    and three inputs."""
    threshold: float
    """What they had to be below."""
    rule: RuleName


@dataclass(frozen=True, slots=True)
class CoherenceResult:
    """What is known after a turn."""

    similarities: tuple[float | None, ...] = ()
    """In [0, 1], calibrated: each of the latest inputs to the one before it, oldest first."""
    provisional: str | None = None
    """The input that may have opened a new topic; not decided yet."""
    shift: Shift | None = None
    """Set once, at the turn that confirms it."""
