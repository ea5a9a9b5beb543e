"""What the rule `learned` reads at a gap: how alike its two sides are, in many ways."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.memory.coherence.gaps import LOOK_AHEAD, unit
from gh_tui.memory.coherence.words import content_words, shared

if TYPE_CHECKING:
    from gh_tui.memory.coherence.profile import Profile
    from gh_tui.memory.coherence.types import CoherenceTurn, Floats

SPANS: Final = LOOK_AHEAD + 1
_BEFORE = 8
_PRIOR_TURNS = 16.0
_PRIOR_GAPS = 8.0
_LEAST_WEIGHT = 0.1
_READING_LIMIT = 6.0
_TINY = 1e-9

# Blocks of so many turns before the gap and after it. `telling`: turns that read as filler
# hardly count. `coherence` weighs the element-wise product of both sides instead of summing it.
_BLOCKS: Final = {
    "cosine 1x1": ("cosine", 1, 1, False),
    "cosine 2x2": ("cosine", 2, 2, False),
    "cosine 3x3": ("cosine", 3, 3, False),
    "cosine 6x3": ("cosine", 6, 3, False),
    "telling cosine 2x2": ("cosine", 2, 2, True),
    "telling cosine 3x3": ("cosine", 3, 3, True),
    "telling cosine 6x3": ("cosine", 6, 3, True),
    "topic 1x1": ("topic", 1, 1, False),
    "telling topic 2x2": ("topic", 2, 2, True),
    "telling topic 3x3": ("topic", 3, 3, True),
    "telling topic 6x3": ("topic", 6, 3, True),
    "coherence 1x1": ("coherence", 1, 1, False),
    "coherence 2x2": ("coherence", 2, 2, False),
    "coherence 3x3": ("coherence", 3, 3, False),
    "coherence 6x3": ("coherence", 6, 3, False),
    "coherence 1x3": ("coherence", 1, 3, False),
    "coherence 3x1": ("coherence", 3, 1, False),
    "telling coherence 3x3": ("coherence", 3, 3, True),
}
_NEAREST: Final = {
    "nearest cosine 3x1": ("cosine", 3, 1),
    "nearest cosine 3x2": ("cosine", 3, 2),
    "nearest cosine 6x3": ("cosine", 6, 3),
    "nearest topic 3x2": ("topic", 3, 2),
    "nearest coherence 3x1": ("coherence", 3, 1),
    "nearest coherence 3x2": ("coherence", 3, 2),
}
_WORDS: Final = {"words 2x1": (2, 1), "words 3x3": (3, 3), "words 6x3": (6, 3)}
SIGNALS: Final = (*_BLOCKS, *_NEAREST, *_WORDS)
_RELATIVE: Final = (
    "cosine 2x2",
    "cosine 3x3",
    "telling cosine 2x2",
    "nearest cosine 3x2",
    "coherence 2x2",
    "coherence 3x3",
    "telling topic 3x3",
    "words 3x3",
)
_COMPARED: Final = (
    "cosine 2x2",
    "coherence 2x2",
    "coherence 3x3",
    "coherence 3x1",
    "telling cosine 3x3",
    "telling topic 3x3",
    "words 3x3",
)
# Two single turns, counted from the gap: -1 is the last before it, 0 the first after it.
_PAIRS: Final = ((-2, 0), (-2, -1), (-3, -1), (0, 1), (-1, 1), (0, 2), (1, 2), (-1, 2), (-2, 2))


class GapFeatures:
    """The latest turns, and the features of the gaps among the last of them.

    Vectors are centred by the profile's mean, drawn towards the session's own. Everything is
    read from turns that were added; nothing looks further ahead than the turns after the gap.
    """

    def __init__(
        self,
        profile: Profile,
        prototypes: Mapping[str, Floats],
        session: Mapping[str, tuple[float, float]],
    ) -> None:
        """Start a session.

        Args:
            profile: of the embedder.
            prototypes: for each kind of turn, float64[n, dim] unit rows of typical ones.
            session: mean and deviation of each signal, for a session that has few gaps.
        """
        self._profile = profile
        self._prototypes = {
            kind: unit(rows - profile.mean) for kind, rows in sorted(prototypes.items())
        }
        self._vectors: list[Floats] = []
        self._words: list[frozenset[str]] = []
        self._users: list[bool] = []
        self._sizes: list[float] = []
        self._sum = profile.mean * _PRIOR_TURNS
        self._count = 0
        self._size_sum = 0.0
        mean = np.array([session[name][0] for name in SIGNALS])
        self._gaps = _PRIOR_GAPS
        self._signal_sum = mean * _PRIOR_GAPS
        squared = mean**2 + np.array([session[name][1] for name in SIGNALS]) ** 2
        self._square_sum = squared * _PRIOR_GAPS
        self._tables: dict[str, Floats] = {}
        self._telling = np.empty(0)
        self._readings: dict[str, Floats] = {}
        self._known: dict[int, dict[str, float]] = {}

    def add(self, turn: CoherenceTurn, vector: Floats) -> None:
        """Take the next turn; `vector` is its unit vector, float64[dim]."""
        words = content_words(turn.text)
        self._vectors.append(vector)
        self._words.append(words)
        self._users.append(turn.role == "user")
        self._sizes.append(float(np.log1p(len(words))))
        self._size_sum += self._sizes[-1]
        self._sum = self._sum + vector
        self._count += 1
        for kept in (self._vectors, self._words, self._users, self._sizes):
            del kept[: -(_BEFORE + SPANS)]
        self._compare()
        if self._count > SPANS:
            found = np.array(list(self.signals(SPANS).values()))
            self._signal_sum = self._signal_sum + found
            self._square_sum = self._square_sum + found**2
            self._gaps += 1.0

    def spans(self) -> range:
        """For how many turns after a gap there is one with a turn before it."""
        return range(1, min(SPANS, self._count - 1) + 1)

    def signals(self, after: int) -> dict[str, float]:
        """The signals in `SIGNALS` at the gap before the last `after` turns, in [-1, 1]."""
        return self._signals(len(self._vectors) - after)

    def features(self, after: int) -> dict[str, float]:
        """All features of the gap before the last `after` turns; 1 to `SPANS`.

        The keys depend on `after` alone. What is not there yet has no feature; where
        the session begins, the first turn or gap stands for what is missing.
        """
        gap = len(self._vectors) - after
        here = self._signals(gap)
        return {
            **here,
            **self._relative(here),
            **self._neighbours(gap, here),
            **self._pairs(gap, after),
            **self._turns(gap, after),
        }

    def _compare(self) -> None:
        profile, rows = self._profile, np.array(self._vectors)
        centred = unit(rows - self._sum / (_PRIOR_TURNS + self._count))
        axes = unit(centred @ profile.topic)
        self._tables = {
            "cosine": centred @ centred.T,
            "topic": axes @ axes.T,
            "coherence": (centred * profile.coherence) @ centred.T,
        }
        apart = unit(rows - profile.mean)
        self._readings = {
            "opening": profile.opening.of(apart),
            "filler": profile.filler.of(apart),
            "talk": profile.talk.of(apart),
        }
        chance = 1.0 / (1.0 + np.exp(-np.clip(self._readings["filler"], -30.0, 30.0)))
        self._telling = np.maximum(1.0 - chance, _LEAST_WEIGHT)
        for kind, typical in self._prototypes.items():
            self._readings[kind] = (centred @ typical.T).max(axis=1)
        self._known = {}

    def _signals(self, gap: int) -> dict[str, float]:
        if gap not in self._known:
            self._known[gap] = {
                **{name: self._block(gap, *block) for name, block in _BLOCKS.items()},
                **{
                    name: float(self._tables[space][_sides(gap, left, right)].max())
                    for name, (space, left, right) in _NEAREST.items()
                },
                **{name: self._overlap(gap, *sizes) for name, sizes in _WORDS.items()},
            }
        return self._known[gap]

    def _block(self, gap: int, space: str, before: int, after: int, telling: bool) -> float:
        left, right = _sides(gap, before, after)
        table = self._tables[space]
        # A length is one of the vectors themselves: the product has no length of its own.
        lengths = self._tables["topic" if space == "topic" else "cosine"]
        weights = self._telling if telling else np.ones(len(table))
        a, b = weights[left], weights[right]
        scale = float(a @ lengths[left, left] @ a) * float(b @ lengths[right, right] @ b)
        return float(a @ table[left, right] @ b) / sqrt(max(scale, _TINY))

    def _overlap(self, gap: int, before: int, after: int) -> float:
        left, right = _sides(gap, before, after)
        return shared(
            frozenset().union(*self._words[left]),
            frozenset().union(*self._words[right]),
            self._profile.common,
        )

    def _relative(self, here: Mapping[str, float]) -> dict[str, float]:
        """Signals in deviations from what is usual in this session."""
        mean = self._signal_sum / self._gaps
        deviation = np.sqrt(np.maximum(self._square_sum / self._gaps - mean**2, 1e-4))
        places = [SIGNALS.index(name) for name in _RELATIVE]
        return {
            f"relative {name}": float((here[name] - mean[place]) / deviation[place])
            for name, place in zip(_RELATIVE, places, strict=True)
        }

    def _neighbours(self, gap: int, here: Mapping[str, float]) -> dict[str, float]:
        """How much higher signals are at the gaps around this one."""
        found = {}
        for step in (-2, -1, 1, 2):
            if gap + step >= len(self._vectors):
                continue
            there = self._signals(gap + step) if gap + step > 0 else here
            found.update({f"{name} at {step:+d}": there[name] - here[name] for name in _COMPARED})
        return found

    def _pairs(self, gap: int, after: int) -> dict[str, float]:
        table = self._tables["cosine"]
        return {
            f"turns {first:+d} {second:+d}": (
                float(table[gap + first, gap + second]) if gap + first >= 0 else 0.0
            )
            for first, second in _PAIRS
            if second < after
        }

    def _turns(self, gap: int, after: int) -> dict[str, float]:
        """What kind of turn stands where, how long it is, and who speaks."""
        places = {place: max(0, gap + place) for place in (-2, -1, 0, 1) if place < after}
        mean = self._size_sum / self._count
        found = {
            f"{kind} {place:+d}": float(np.clip(values[row], -_READING_LIMIT, _READING_LIMIT))
            for kind, values in self._readings.items()
            for place, row in places.items()
        }
        for place in (-1, 0, 1):
            if place in places:
                found[f"length {place:+d}"] = self._sizes[places[place]]
                found[f"relative length {place:+d}"] = self._sizes[places[place]] - mean
        return {
            **found,
            "user": float(self._users[gap]),
            "start": 1.0 / (self._count - after),
        }


def _sides(gap: int, before: int, after: int) -> tuple[slice, slice]:
    return slice(max(0, gap - before), gap), slice(gap, gap + after)
