"""The one object a session holds: turns in, shifts out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.vectors import cosine
from gh_tui.memory.coherence.adjacent import AdjacentRule
from gh_tui.memory.coherence.contrast import ContrastRule, DialogueContrast, SessionContrast
from gh_tui.memory.coherence.learned import (
    EMBEDDER,
    GapDecision,
    LearnedModel,
    LearnedRule,
    load_model,
)
from gh_tui.memory.coherence.profile import Profile, load_profile
from gh_tui.memory.coherence.types import CoherenceResult, CoherenceTurn, RuleName, Shift, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SHOWN = 12
# A shift costs a session a pass, and people who work stray less than those who chat.
_SESSION_CHANCE = 0.6


@dataclass(frozen=True, slots=True)
class CoherenceConfig:
    """What can be set about the rules."""

    conversation: Literal["session", "dialogue"] = "session"
    """What `contrast` listens to: a session in which most inputs serve one task, or a dialogue
    that wanders. The first is decided by certainty, the second by rank among its own gaps."""
    certainty: float = 0.5
    """Session: how sure `contrast` must be to confirm a shift, in [0, 1]."""
    quiet_inputs: int = 3
    """Session: while the topic has fewer inputs, `contrast` must be surer, and `learned` waits."""
    cooldown_inputs: int = 3
    """Session: so many inputs the topic after a shift has before another can begin."""
    percentile: float = 25.0
    """Dialogue: the share of gaps, in percent, that `contrast` may take for boundaries."""
    chance: float | None = None
    """From which chance of a boundary on `learned` sees one, in [0, 1]; by default that of the
    weights in a dialogue and 0.6 in a session."""


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
        model: LearnedModel | None = None,
    ) -> None:
        """Start a session.

        Args:
            rule: which rule decides.
            config: its settings.
            calibrate: raw cosine to similarity in [0, 1]; by default the native embedder's.
            profile: statistics of the session's embedder; by default the native embedder's.
            model: the weights of `learned`; by default those that come with the program, which
                fit the native embedder only (`usable_rule`).
        """
        self._config = config or CoherenceConfig()
        self._calibrate = calibrate or NATIVE.similarity
        self._rule: RuleName = rule
        self._adjacent = AdjacentRule()
        known = profile or load_profile()
        self._shifts: ContrastRule | LearnedRule = (
            _learned(known, model or load_model(), self._config)
            if rule == "learned"
            else _contrast(known, self._config)
        )
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
        self._shifts.restart(task)
        self._last = CoherenceResult()

    def _compare(self, turn: CoherenceTurn) -> None:
        raw = cosine(turn.vector, self._previous)
        current = None if raw is None else self._calibrate(raw)
        if turn.vector is not None and np.any(turn.vector):
            self._previous = turn.vector
        self._similarities = (*self._similarities, current)[-_SHOWN:]

    def _decide(self, turn: CoherenceTurn) -> tuple[Shift | None, str | None]:
        if self._rule != "adjacent":
            shift = self._shifts.observe(turn)
            return shift, self._shifts.provisional
        if not turn.is_input:
            return None, self._adjacent.provisional
        shift = self._adjacent.observe(turn.iri, self._similarities)
        return shift, self._adjacent.provisional


def usable_rule(rule: RuleName, embedder: str) -> tuple[RuleName, str | None]:
    """The rule to use with an embedder, and what to tell the user if it is not the one asked for.

    Args:
        rule: as set.
        embedder: the name of the session's embedder.
    """
    if rule != "learned" or embedder == EMBEDDER:
        return rule, None
    return "contrast", (
        f"The rule learned was trained on the vectors of {EMBEDDER} and says nothing about those "
        f"of {embedder}: contrast watches the topic instead. Set coherence.rule to contrast or "
        "adjacent to be rid of this message."
    )


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


def _learned(profile: Profile, model: LearnedModel, config: CoherenceConfig) -> LearnedRule:
    session = config.conversation == "session"
    usual = _SESSION_CHANCE if session else model.threshold
    decision = GapDecision(
        usual if config.chance is None else config.chance,
        quiet_inputs=config.quiet_inputs if session else 0,
        cooldown_inputs=config.cooldown_inputs if session else 0,
    )
    return LearnedRule(profile, model, decision, session=session)
