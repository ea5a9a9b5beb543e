"""How sure it is that the latest inputs have left the topic of what was said before them."""

from __future__ import annotations

from dataclasses import dataclass
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
_TALKS = 2.0
_NEARER = 0.2
_OPENS = -2.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """An input with what the agent said to it."""

    input: Floats
    """float64[dim]"""
    head: Floats
    """float64[dim] of its first sentence."""
    answers: tuple[Floats, ...] = ()
    """float64[dim] of each of the agent's turns that says something."""


def departure(profile: Profile, before: Sequence[Exchange], after: Sequence[Exchange]) -> float:
    """The certainty, in [0, 1], that the latest inputs are about something else.

    Four things speak for it: they are far from what was said, in cosine and along the axes of
    topics; so are the answers they got, if they got any; the first of them reads like the opening
    of a task; none of them is filler or small talk. Filler, which could follow anything, hardly
    counts on either side. An input that is near an earlier answer is near the topic; being far
    from answers says nothing, as many are alike.

    Args:
        profile: of the embedder.
        before: the topic so far, at least one exchange.
        after: one to three exchanges; the last may have no answer yet.
    """
    features = departure_features(profile, before, after)
    answered = any(one.answers for one in after)
    weights = (profile.answered if answered else profile.certainty)[len(after) - 1]
    total = weights["bias"] + sum(
        features[name] * weight for name, weight in weights.items() if name != "bias"
    )
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


def departure_features(
    profile: Profile, before: Sequence[Exchange], after: Sequence[Exchange]
) -> dict[str, float]:
    """What `departure` weighs; the arguments are the same."""
    old, new = (
        _centred(profile, [e.input for e in before]),
        _centred(profile, [e.input for e in after]),
    )
    said = _centred(profile, [one.head for one in after])
    axes_before, axes_after = unit(old @ profile.topic), unit(new @ profile.topic)
    filler, talk = _chance(profile.filler.of(said)), _chance(profile.talk.of(said))
    weight_before = _weight(_chance(profile.filler.of(old)))
    weight_after = _weight(filler)
    share = weight_after / weight_after.sum()
    cross = axes_after @ axes_before.T
    replies = [answer for one in before for answer in one.answers]
    said_before = np.concatenate([old, _centred(profile, replies)]) if replies else old
    nearest = (new @ said_before.T).max(axis=1)
    nearest_axes = (axes_after @ unit(said_before @ profile.topic).T).max(axis=1)
    pairs = (axes_after @ axes_after.T)[np.triu_indices(len(new), 1)]
    opening = float(profile.opening.of(said[:1])[0])
    features = {
        "topic": float(unit(weight_before @ axes_before) @ unit(weight_after @ axes_after)),
        "topic_mean": float(cross.mean(axis=1) @ share),
        "topic_max": float(nearest_axes @ share),
        "topic_head": float(nearest_axes[0]),
        "cosine": float(unit(weight_before @ old) @ unit(weight_after @ new)),
        "cosine_max": float(nearest @ share),
        "unity": float(pairs.mean()) if len(new) > 1 else 0.0,
        "opening": max(-_OPENING_LIMIT, min(_OPENING_LIMIT, opening)),
        "filler": float(filler.mean()),
        "filler_head": float(filler[0]),
        "talk": float(talk.mean()),
        "talk_head": float(talk[0]),
    }
    answers = [answer for one in after for answer in one.answers]
    if answers:
        features |= _answered(profile, said_before, _centred(profile, answers))
        features |= _whole(profile, before, after)
    return features


def _answered(profile: Profile, said_before: Floats, answers: Floats) -> dict[str, float]:
    middle, middle_before = unit(answers.mean(axis=0)), unit(said_before.mean(axis=0))
    return {
        "answer_max": float((answers @ said_before.T).max(axis=1).mean()),
        "answer_mean": float(middle @ middle_before),
    }


def _whole(
    profile: Profile, before: Sequence[Exchange], after: Sequence[Exchange]
) -> dict[str, float]:
    """Exchanges as wholes: a terse input gets its meaning from the answer."""
    old, new = _wholes(profile, before), _wholes(profile, after)
    axes_old, axes_new = unit(old @ profile.topic), unit(new @ profile.topic)
    pairs = (axes_new @ axes_new.T)[np.triu_indices(len(new), 1)]
    return {
        "whole_topic": float(unit(axes_old.sum(axis=0)) @ unit(axes_new.sum(axis=0))),
        "whole_mean": float((axes_new @ axes_old.T).mean()),
        "whole_cosine": float(unit(old.sum(axis=0)) @ unit(new.sum(axis=0))),
        "whole_max": float((new @ old.T).max(axis=1).mean()),
        "whole_unity": float(pairs.mean()) if len(new) > 1 else 0.0,
    }


def _wholes(profile: Profile, exchanges: Sequence[Exchange]) -> Floats:
    rows = []
    for one in exchanges:
        centred = _centred(profile, [one.input, *one.answers])
        rows.append(centred[0] + unit(centred[1:].sum(axis=0)) if one.answers else centred[0])
    return unit(np.array(rows))


def belongs_later(
    profile: Profile, one: Exchange, before: Sequence[Exchange], after: Sequence[Exchange]
) -> bool:
    """Whether an exchange is clearly nearer to what comes after it than to what stands before it.

    A boundary that is named too late costs the new topic its beginning; one that is too early
    keeps an old turn in view.
    """
    rows = _wholes(profile, [one, *before, *after])
    axes = unit(rows @ profile.topic)
    near = rows[1:] @ rows[0] + axes[1:] @ axes[0]
    return bool(near[len(before) :].mean() > near[: len(before)].mean() + _NEARER)


def is_filler(profile: Profile, vector: Floats) -> bool:
    """Whether a turn reads as an acknowledgement, a short follow-up or a refinement."""
    return bool(profile.filler.of(_centred(profile, [vector]))[0] > 0)


class SmallTalk:
    """Knows small talk: an input that reads so and opens nothing, and what the agent says to it."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._in_it = False

    def covers(self, vector: Floats, *, is_input: bool) -> bool:
        """Whether the next turn, float64[dim], is small talk."""
        if is_input:
            row = _centred(self._profile, [vector])
            talks, opens = self._profile.talk.of(row)[0], self._profile.opening.of(row)[0]
            self._in_it = bool(talks > _TALKS and opens < _OPENS)
        return self._in_it


def _centred(profile: Profile, vectors: Sequence[Floats]) -> Floats:
    return unit(np.array(vectors) - profile.mean)


def _weight(filler: Floats) -> Floats:
    floored: Floats = np.maximum(1.0 - filler, _LEAST)
    return floored


def _chance(values: Floats) -> Floats:
    squashed: Floats = 1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0)))
    return squashed
