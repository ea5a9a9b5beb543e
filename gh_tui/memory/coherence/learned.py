"""The rule `learned`: a logistic regression over the features of a gap."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from math import exp
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gh_tui.embedding.vectors import unpack
from gh_tui.memory.coherence.departure import SmallTalk
from gh_tui.memory.coherence.features import SPANS, GapFeatures
from gh_tui.memory.coherence.types import CoherenceTurn, Floats, Shift, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gh_tui.memory.coherence.profile import Profile

EMBEDDER: Final = "native"
TIMES: Final = " * "
"""Between the names of two features whose product is weighed."""
BIAS: Final = "bias"
FAR: Final = 5.0


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """Weights and what they rest on, made by `tests/benchmarks/coherence_learn.py`."""

    embedder: str
    """Whose vectors it was trained on; it says nothing about those of another."""
    threshold: float
    """The chance of a boundary, in [0, 1], from which on there is one."""
    prototypes: Mapping[str, Floats]
    """For each kind of turn, float64[n, dim] unit rows of typical ones."""
    session: Mapping[str, tuple[float, float]]
    """Mean and deviation of each signal of a gap, for a session that has few gaps."""
    usual: Mapping[str, tuple[float, float]]
    """Mean and deviation of each feature."""
    weights: tuple[Mapping[str, float], ...]
    """For one, two and three turns after the gap: the weight of each standardised feature, of
    products of two (`a * b`), and `bias`."""

    def chance(self, features: Mapping[str, float], after: int) -> float:
        """The chance, in [0, 1], that a topic begins at a gap.

        Args:
            features: of the gap, raw.
            after: how many turns stand after it, 1 to 3.
        """
        known = {
            name: max(-FAR, min(FAR, (value - self.usual[name][0]) / self.usual[name][1]))
            for name, value in features.items()
        }
        total = 0.0
        for name, weight in self.weights[after - 1].items():
            first, _, second = name.partition(TIMES)
            if name == BIAS:
                total += weight
            elif second:
                total += weight * max(-FAR, min(FAR, known[first] * known[second]))
            else:
                total += weight * known[first]
        return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True, slots=True)
class _Gap:
    """A gap and the chance of a boundary there, by all that may be seen."""

    is_input: bool
    chance: float

    def yields_to(self, other: _Gap | None) -> bool:
        """Whether the other gap is the likelier boundary of the two."""
        return other is not None and other.is_input and other.chance > self.chance


class GapDecision:
    """A gap before an input is a boundary when its chance reaches the threshold.

    It must not be lower than at the gaps beside it. With one or two turns after the gap the
    boundary is provisional; with three it is decided, two turns after its own.
    """

    def __init__(
        self, threshold: float, *, quiet_inputs: int = 0, cooldown_inputs: int = 0
    ) -> None:
        """Start a session.

        Args:
            threshold: in [0, 1].
            quiet_inputs: so many inputs come before the first boundary.
            cooldown_inputs: the same between two boundaries.
        """
        self._threshold = threshold
        self._quiet = quiet_inputs
        self._cooldown = cooldown_inputs
        self._latest: list[CoherenceTurn] = []
        self._least = quiet_inputs
        self._inputs = 0
        self._before: _Gap | None = None
        self.provisional: str | None = None

    def restart(self) -> None:
        """Begin a new topic: what is open is closed."""
        self._latest = []
        self._least = self._quiet
        self._inputs = 0
        self._before = None
        self.provisional = None

    def observe(self, turn: CoherenceTurn, chances: Sequence[float]) -> Shift | None:
        """Take the next turn; the shift it confirms, if any.

        Args:
            turn: the turn.
            chances: that a topic begins with this turn, with the one before it, and with the one
                before that; shorter where the session begins.
        """
        self._latest = [*self._latest, turn][-SPANS:]
        gaps = [
            _Gap(opener.is_input, chance)
            for opener, chance in zip(reversed(self._latest), chances, strict=False)
        ]
        shift = self._decide(gaps) if len(gaps) == SPANS else None
        self.provisional = self._candidate(gaps[: SPANS - 1])
        return shift

    def _decide(self, gaps: Sequence[_Gap]) -> Shift | None:
        here, later = gaps[-1], gaps[-2]
        before, self._before = self._before, here
        self._inputs += here.is_input
        if not self._passes(here, self._inputs) or here.yields_to(before) or here.yields_to(later):
            return None
        self._inputs, self._least = 0, self._cooldown
        boundary = self._latest[-SPANS].iri
        return Shift(boundary, (1.0 - here.chance,), 1.0 - self._threshold, "learned")

    def _candidate(self, gaps: Sequence[_Gap]) -> str | None:
        """The likeliest of the gaps that are still open, if it would pass by what is known."""
        best: tuple[float, str] | None = None
        before, inputs = self._before, self._inputs
        for after in range(len(gaps), 0, -1):
            here = gaps[after - 1]
            inputs += here.is_input
            if self._passes(here, inputs) and not here.yields_to(before):
                found = here.chance, self._latest[-after].iri
                best = max(best, found) if best else found
            before = here
        return best[1] if best else None

    def _passes(self, gap: _Gap, inputs: int) -> bool:
        return gap.is_input and gap.chance >= self._threshold and inputs > self._least


class LearnedRule:
    """Reads each gap as turns come and decides by the model."""

    def __init__(
        self,
        profile: Profile,
        model: LearnedModel,
        decision: GapDecision,
        *,
        session: bool = False,
    ) -> None:
        """Start a session.

        Args:
            profile: of the embedder that `model` was trained with.
            model: the weights.
            decision: what to make of them.
            session: it listens to a session: small talk is passed over, and between two inputs
                only the agent's first turn is seen, so that two turns later means the next input
                however long the agent works.
        """
        self._dim = profile.dim
        self._model = model
        self._gaps = GapFeatures(profile, model.prototypes, model.session)
        self._decision = decision
        self._talk = SmallTalk(profile) if session else None
        self._last: CoherenceTurn | None = None

    @property
    def provisional(self) -> str | None:
        """The input that may have opened a new topic."""
        return self._decision.provisional

    def restart(self, task: Vector | None = None) -> None:
        """Begin a new topic; what is usual in this session stays known."""
        del task
        self._decision.restart()

    def observe(self, turn: CoherenceTurn) -> Shift | None:
        """Take the next turn; one without a usable vector is passed over."""
        vector = self._usable(turn.vector)
        if vector is None or not self._counts(turn, vector):
            return None
        self._last = turn
        self._gaps.add(turn, vector)
        chances = [
            self._model.chance(self._gaps.features(after), after) for after in self._gaps.spans()
        ]
        return self._decision.observe(turn, chances)

    def _counts(self, turn: CoherenceTurn, vector: Floats) -> bool:
        if self._talk is None:
            return True
        if self._talk.covers(vector, is_input=turn.is_input):
            return False
        if turn.is_input:
            return True
        return turn.role == "assistant" and self._last is not None and self._last.is_input

    def _usable(self, vector: Vector | None) -> Floats | None:
        if vector is None or vector.shape != (self._dim,):
            return None
        wide = vector.astype(np.float64)
        norm = float(np.linalg.norm(wide))
        return wide / norm if np.isfinite(norm) and norm > 0 else None


def load_model() -> LearnedModel:
    """Read the weights from the package."""
    return parse_model(resources.files(__package__).joinpath("learned.json").read_text("utf-8"))


def parse_model(text: str) -> LearnedModel:
    """Read weights as the training script writes them.

    Raises:
        ValueError: the text is not such a file, or of another embedder.
    """
    try:
        raw: dict[str, Any] = json.loads(text)
        if raw["embedder"] != EMBEDDER:
            raise ValueError(f"learned weights for {EMBEDDER} are needed, not {raw['embedder']}")
        return LearnedModel(
            embedder=raw["embedder"],
            threshold=float(raw["threshold"]),
            prototypes={
                kind: np.array([unpack(row).astype(np.float64) for row in rows.values()])
                for kind, rows in raw["prototypes"].items()
            },
            session=_spreads(raw["session"]),
            usual=_spreads(raw["usual"]),
            weights=tuple(raw["weights"][str(after)] for after in range(1, SPANS + 1)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a file of learned weights: {error!r} is missing or wrong") from error


def _spreads(raw: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    return {name: (float(mean), float(deviation)) for name, (mean, deviation) in raw.items()}
