"""How sure it is that the latest inputs have left the topic of those before them."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from gh_tui.memory.coherence.gaps import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gh_tui.memory.coherence.profile import Profile
    from gh_tui.memory.coherence.types import Floats

_LEAST = 0.05
_OPENING_LIMIT = 6.0
_REACH = 12


def departure(profile: Profile, vectors: Sequence[Floats], new: int) -> float:
    """The certainty, in [0, 1], that the last `new` inputs are about something else.

    Three things speak for it: they are far from what was said, in raw cosine and along the
    axes of topics; the first of them reads like the opening of a task; none of them is filler
    or small talk. Filler, which could follow anything, hardly counts on either side.

    Args:
        profile: of the embedder.
        vectors: float64[dim] of every input of the topic, oldest first; more than `new`. Only
            the first and the latest dozen are compared.
        new: 1 to 3.
    """
    weights = profile.certainty[new - 1]
    features = departure_features(profile, vectors, new)
    total = weights["bias"] + sum(weights[name] * features[name] for name in features)
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def departure_features(profile: Profile, vectors: Sequence[Floats], new: int) -> dict[str, float]:
    """What `departure` weighs; the arguments are the same."""
    start = max(1, len(vectors) - new - _REACH)
    rows = np.array([vectors[0], *vectors[start:]])
    centred = unit(rows - profile.mean)
    topical = unit(centred @ profile.topic)
    filler = _squash(profile.filler.of(centred))
    talk = _squash(profile.talk.of(centred))
    weight = np.maximum(1.0 - filler, _LEAST)
    share = weight[-new:] / weight[-new:].sum()
    cross = topical[-new:] @ topical[:-new].T
    head, old = len(rows) - new, unit(weight[:-new] @ topical[:-new])
    pairs = (topical[-new:] @ topical[-new:].T)[np.triu_indices(new, 1)]
    opening = float(profile.opening.of(centred[head : head + 1])[0])
    return {
        "topic": float(old @ unit(weight[-new:] @ topical[-new:])),
        "topic_mean": float(cross.mean(axis=1) @ share),
        "topic_max": float(cross.max(axis=1) @ share),
        "topic_head": float(cross[0].max()),
        "cosine": float(
            unit(weight[:-new] @ centred[:-new]) @ unit(weight[-new:] @ centred[-new:])
        ),
        "cosine_max": float((centred[-new:] @ centred[:-new].T).max(axis=1) @ share),
        "unity": float(pairs.mean()) if new > 1 else 0.0,
        "opening": max(-_OPENING_LIMIT, min(_OPENING_LIMIT, opening)),
        "filler": float(filler[-new:].mean()),
        "filler_head": float(filler[head]),
        "talk": float(talk[-new:].mean()),
        "talk_head": float(talk[head]),
    }


def _squash(values: Floats) -> Floats:
    squashed: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
    return squashed
