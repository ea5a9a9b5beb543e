"""The one object a session holds: turns in, shifts out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.vectors import cosine
from gh_tui.memory.coherence.adjacent import AdjacentRule
from gh_tui.memory.coherence.contrast import ContrastRule, DialogueContrast, SessionContrast
from gh_tui.memory.coherence.profile import Profile, load_profile
from gh_tui.memory.coherence.types import CoherenceResult, CoherenceTurn, RuleName, Shift, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class CoherenceConfig:
    """What can be set about the rules."""

    conversation: Literal["session", "dialogue"] = "session"
    """What `contrast` listens to: a session in which most inputs serve one task, or a dialogue
    that wanders. The first is decided by certainty, the second by rank among its own gaps."""
    certainty: float = 0.4
    """Session: how sure it must be to confirm a shift, in [0, 1]."""
    quiet_inputs: int = 3
    """Session: the first topic has at least so many inputs before another can begin."""
    cooldown_inputs: int = 3
    """Session: the same after a shift."""
    percentile: float = 25.0
    """Dialogue: the share of gaps, in percent, that may be boundaries."""


class TopicCoherence:
    """Watches the turns of one session, in order; the same turns give the same results.

    A resumed session is rebuilt by feeding its turns again. A turn that was seen is ignored.
    """

    def __init__(
        self,
        rule: RuleName = "contrast",
        config: CoherenceConfig | None = None,
        *,
        calibrate: Callable[[float], float] | None = None,
        profile: Profile | None = None,
    ) -> None:
        """Start a session.

        Args:
            rule: which rule decides.
            config: its settings.
            calibrate: raw cosine to similarity in [0, 1]; by default the native embedder's.
            profile: statistics of the session's embedder; by default the native embedder's.
        """
        self._config = config or CoherenceConfig()
        self._calibrate = calibrate or NATIVE.similarity
        self._rule: RuleName = rule
        self._adjacent = AdjacentRule()
        self._contrast = _contrast(profile or load_profile(), self._config)
        self._seen: set[str] = set()
        self._previous: Vector | None = None
        self._similarities: tuple[float | None, ...] = ()
        self._last = CoherenceResult()

    def observe(self, turn: CoherenceTurn) -> CoherenceResult:
        """Take the next turn and say what is known after it."""
        if turn.iri in self._seen:
            return replace(self._last, shift=None)
        self._seen.add(turn.iri)
        if turn.is_input:
            self._compare(turn)
        shift, provisional = self._decide(turn)
        self._last = CoherenceResult(self._similarities, provisional, shift)
        return self._last

    def check(self, turns: Iterable[CoherenceTurn]) -> CoherenceResult:
        """Take all turns that are new; `shift` is the latest they confirmed, if any."""
        result, shift = replace(self._last, shift=None), None
        for turn in turns:
            result = self.observe(turn)
            shift = result.shift or shift
        return replace(result, shift=shift)

    def rebase(self, task: Vector | None = None) -> None:
        """Begin a new topic by decree: a new task, so that it is no shift when inputs follow.

        Args:
            task: float32[dim], the vector of the task, when it is not itself an input.
        """
        self._previous = None
        self._similarities = ()
        self._adjacent.restart()
        self._contrast.restart(task)
        self._last = CoherenceResult()

    def _compare(self, turn: CoherenceTurn) -> None:
        raw = cosine(turn.vector, self._previous)
        current = None if raw is None else self._calibrate(raw)
        if turn.vector is not None and np.any(turn.vector):
            self._previous = turn.vector
        self._similarities = (*self._similarities, current)[-_SHOWN:]

    def _decide(self, turn: CoherenceTurn) -> tuple[Shift | None, str | None]:
        if self._rule == "contrast":
            shift = self._contrast.observe(turn)
            return shift, self._contrast.provisional
        if not turn.is_input:
            return None, self._adjacent.provisional
        shift = self._adjacent.observe(turn.iri, self._similarities)
        return shift, self._adjacent.provisional


def _contrast(profile: Profile, config: CoherenceConfig) -> ContrastRule:
    if config.conversation == "dialogue":
        return ContrastRule(profile, DialogueContrast(profile, percentile=config.percentile))
    decision = SessionContrast(
        profile,
        certainty=config.certainty,
        quiet_inputs=config.quiet_inputs,
        cooldown_inputs=config.cooldown_inputs,
    )
    return ContrastRule(profile, decision)
