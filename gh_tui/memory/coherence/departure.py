"""How sure it is that the latest inputs have left the topic of what was said before them."""

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


def departure(
    profile: Profile,
    old: Sequence[Floats],
    replies: Sequence[Floats],
    new: Sequence[Floats],
    heads: Sequence[Floats],
) -> float:
    """The certainty, in [0, 1], that the new inputs are about something else.

    Three things speak for it: they are far from what was said, in cosine and along the axes of
    topics; the first of them reads like the opening of a task; none of them is filler or small
    talk. Filler, which could follow anything, hardly counts on either side.

    Args:
        profile: of the embedder.
        old: float64[dim] of each input of the topic so far, at least one.
        replies: float64[dim] of the agent's turns among them. An input that is near one of them
            is near the topic; being far from them says nothing, as many replies are alike.
        new: float64[dim] of each new input, one to three.
        heads: the same for their first sentences.
    """
    features = departure_features(profile, old, replies, new, heads)
    weights = profile.certainty[len(new) - 1]
    total = weights["bias"] + sum(
        features[name] * weight for name, weight in weights.items() if name != "bias"
    )
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def departure_features(
    profile: Profile,
    old: Sequence[Floats],
    replies: Sequence[Floats],
    new: Sequence[Floats],
    heads: Sequence[Floats],
) -> dict[str, float]:
    """What `departure` weighs; the arguments are the same."""
    before, after = _centred(profile, old), _centred(profile, new)
    said = _centred(profile, heads)
    axes_before, axes_after = unit(before @ profile.topic), unit(after @ profile.topic)
    filler, talk = _chance(profile.filler.of(said)), _chance(profile.talk.of(said))
    weight_before = _weight(_chance(profile.filler.of(before)))
    weight_after = _weight(filler)
    share = weight_after / weight_after.sum()
    cross = axes_after @ axes_before.T
    said_before = _centred(profile, [*old, *replies])
    nearest = (after @ said_before.T).max(axis=1)
    nearest_axes = (axes_after @ unit(said_before @ profile.topic).T).max(axis=1)
    pairs = (axes_after @ axes_after.T)[np.triu_indices(len(new), 1)]
    opening = float(profile.opening.of(said[:1])[0])
    return {
        "topic": float(unit(weight_before @ axes_before) @ unit(weight_after @ axes_after)),
        "topic_mean": float(cross.mean(axis=1) @ share),
        "topic_max": float(nearest_axes @ share),
        "topic_head": float(nearest_axes[0]),
        "cosine": float(unit(weight_before @ before) @ unit(weight_after @ after)),
        "cosine_max": float(nearest @ share),
        "unity": float(pairs.mean()) if len(new) > 1 else 0.0,
        "opening": max(-_OPENING_LIMIT, min(_OPENING_LIMIT, opening)),
        "filler": float(filler.mean()),
        "filler_head": float(filler[0]),
        "talk": float(talk.mean()),
        "talk_head": float(talk[0]),
    }


def is_filler(profile: Profile, vector: Floats) -> bool:
    """Whether a turn reads as an acknowledgement, a short follow-up or a refinement."""
    return bool(profile.filler.of(_centred(profile, [vector]))[0] > 0)


def _centred(profile: Profile, vectors: Sequence[Floats]) -> Floats:
    return unit(np.array(vectors) - profile.mean)


def _weight(filler: Floats) -> Floats:
    floored: Floats = np.maximum(1.0 - filler, _LEAST)
    return floored


def _chance(values: Floats) -> Floats:
    squashed: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
    return squashed
