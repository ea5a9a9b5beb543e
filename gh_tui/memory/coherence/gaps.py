"""The contrast at a gap: how little what follows it resembles what stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gh_tui.memory.coherence.words import content_words, shared

if TYPE_CHECKING:
    from gh_tui.memory.coherence.profile import Profile
    from gh_tui.memory.coherence.types import CoherenceTurn, Floats

LOOK_AHEAD = 2
_BEFORE = 3
_PRIOR_TURNS = 16.0


def unit(rows: Floats) -> Floats:
    """Scale to length 1 along the last axis; zero stays zero."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Floats = rows / np.where(norms == 0, 1.0, norms)
    return scaled


class GapWindow:
    """The latest turns and the closeness of the two sides of a gap among them.

    Vectors are centred by the profile's mean, drawn towards the session's own: a session in
    one language and manner has a common direction of its own that says nothing about topics.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._vectors: list[Floats] = []
        self._words: list[frozenset[str]] = []
        self._sum = profile.mean * _PRIOR_TURNS
        self._count = _PRIOR_TURNS

    def add(self, turn: CoherenceTurn, vector: Floats) -> None:
        """Take the next turn; only those within reach of an open gap are kept."""
        self._vectors.append(vector)
        self._words.append(content_words(turn.text))
        keep = _BEFORE + LOOK_AHEAD + 2
        del self._vectors[:-keep], self._words[:-keep]
        self._sum = self._sum + vector
        self._count += 1.0

    def closeness(self, after: int) -> float:
        """The weighted sum of the standardised signals at the gap before the last turns.

        Args:
            after: how many turns stand after the gap, at least 1; there must be one before it.

        Returns:
            A number around 0; the lower, the likelier a new topic begins at the gap.
        """
        signals = self.signals(after)
        return sum(
            weight * (signals[name] - mean) / deviation
            for name, (mean, deviation, weight) in self._profile.signals.items()
        )

    def signals(self, after: int) -> dict[str, float]:
        """The raw signals behind `closeness`."""
        start = len(self._vectors) - after
        first = max(0, start - _BEFORE)
        rows = np.array(self._vectors[first : start + _BEFORE])
        centred = unit(rows - self._sum / self._count)
        left, right = centred[: start - first], centred[start - first :]
        words = self._words
        return {
            "block": _block(left[-2:], right[:2]),
            "cross": float((left @ right[:2].T).max()),
            "previous": float(left[-1] @ right[0]),
            "words": shared(
                frozenset().union(*words[first:start]),
                frozenset().union(*words[start : start + _BEFORE]),
                self._profile.common,
            ),
            "filler": float(self._profile.filler.of(right[:1])[0]),
            "coherence1": self._coherence(left[-1:], right[:1]),
            "coherence2": self._coherence(left[-2:], right[:2]),
            "coherence3": self._coherence(left, right),
        }

    def _coherence(self, left: Floats, right: Floats) -> float:
        both = unit(left.sum(axis=0)) * unit(right.sum(axis=0))
        return float(both @ self._profile.coherence)


def _block(left: Floats, right: Floats) -> float:
    return float(unit(left.sum(axis=0)) @ unit(right.sum(axis=0)))
