"""How much a turn has to do with the task: `value = α·g + (1−α)·l`.

`g` is the calibrated similarity to the task, `l` that to the last user input that was kept.
Pure: no clock, no files, no event loop; times are passed in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gh_tui.embedding.calibration import Calibration
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Vector, cosine, problem, unpack
from gh_tui.memory.continuations import is_answer, is_continuation

_INHERITED = "inherited"


@dataclass(frozen=True, slots=True)
class RelevanceScore:
    """A score in [0, 1] with its terms; None is *unknown*, never 0 or 0.5."""

    relevance_score: float | None
    global_sim: float | None
    """Calibrated similarity to the task."""
    local_sim: float | None
    """Calibrated similarity to the last kept user input."""
    basis: str
    """Which terms were known, whether the score was inherited, and the embedder."""

    @property
    def inherited(self) -> bool:
        """The input has no content of its own and took the score of what it answers."""
        return self.basis.startswith(_INHERITED)


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """The agent turn that an input answers."""

    text: str
    score: float | None


class RelevanceTracker:
    """Scores the turns of one session, in order.

    Its state is the task vector and the last kept user input. To rebuild it from a recording
    call `set_task_5w2h` and, for each recorded user input, `remember`.
    """

    def __init__(
        self,
        calibration: Calibration,
        *,
        dim: int,
        embedder: str,
        alpha: float = 0.6,
        threshold: float = 0.3,
        decay_per_hour: float = 0.0,
    ) -> None:
        """Args as follows.

        Args:
            calibration: of the embedder that makes the vectors.
            dim: length of its vectors.
            embedder: its name, for the basis.
            alpha: weight of the task, in [0, 1].
            threshold: inputs at or above it are kept as the reference of the next one.
            decay_per_hour: λ ≥ 0; the local term fades with exp(−λ·hours) since its reference.
        """
        self._calibration = calibration
        self._dim = dim
        self._embedder = embedder
        self._alpha = alpha
        self._threshold = threshold
        self._decay = decay_per_hour
        work = calibration.work
        self._axis = None if work is None else unpack(work.axis)
        self._task: Vector | None = None
        self._prev: Vector | None = None
        self._prev_score: float | None = None
        self._prev_at: float | None = None

    def set_task_5w2h(self, task_vector: Vector | None) -> None:
        """Take the vector of `task_text`, at the start and whenever the task changes.

        A vector that cannot be compared makes the global term unknown.
        """
        self._task = task_vector if problem(task_vector, self._dim) is None else None

    def on_new_input(
        self,
        text: str,
        vector: Vector | None,
        *,
        answers: AgentTurn | None = None,
        now: float | None = None,
    ) -> RelevanceScore:
        """Score a user input and remember it if it is kept.

        Args:
            text: what the user wrote; only the rules of inheritance read it.
            vector: float32[dim]; one that cannot be compared makes the score unknown.
            answers: the agent's last turn, if there is one.
            now: seconds on a monotonic clock; needed only for the decay.
        """
        score = self._inherit(text, self.score_turn(vector, now=now), answers)
        self.remember(score, vector, now=now)
        return score

    def score_turn(self, vector: Vector | None, *, now: float | None = None) -> RelevanceScore:
        """Score an agent or tool turn, or try a text: nothing is remembered.

        Args:
            vector: float32[dim].
            now: seconds on the clock of `on_new_input`.
        """
        if (reason := problem(vector, self._dim)) is not None:
            return self._score(None, None, f"unknown ({reason})")
        global_sim = self._similarity(vector, self._task)
        local_sim = self._similarity(vector, self._prev)
        if local_sim is not None:
            local_sim *= self._fade(now)
        return self._score(global_sim, local_sim, _terms(global_sim, local_sim))

    def remember(
        self, score: RelevanceScore, vector: Vector | None, *, now: float | None = None
    ) -> None:
        """Make a scored user input the reference of the next one, if it is kept.

        Below the threshold it is a stray remark; an inherited one has no content to compare
        with. One that had nothing to be compared with is kept.
        """
        if score.inherited or problem(vector, self._dim) is not None:
            return
        value = score.relevance_score
        if value is not None and value < self._threshold:
            return
        self._prev = vector
        self._prev_score = value
        self._prev_at = now

    def _inherit(self, text: str, own: RelevanceScore, answers: AgentTurn | None) -> RelevanceScore:
        if is_continuation(text):
            rule = "continuation"
        elif answers is not None and is_answer(text, answers.text):
            rule = "answer"
        else:
            return own
        # A bare "Shall I?" of the agent says less of the topic than the input that led to it.
        sources = [self._prev_score, None if answers is None else answers.score]
        known = [value for value in sources if value is not None]
        if not known:
            return own
        return RelevanceScore(
            relevance_score=max(known),
            global_sim=own.global_sim,
            local_sim=own.local_sim,
            basis=f"{_INHERITED} ({rule}); {self._embedder}",
        )

    def _similarity(self, vector: Vector | None, reference: Vector | None) -> float | None:
        cos = cosine(vector, reference)
        if cos is None:
            return None
        return self._calibration.relevance(cos, cosine(vector, self._axis))

    def _fade(self, now: float | None) -> float:
        if not self._decay or now is None or self._prev_at is None:
            return 1.0
        return math.exp(-self._decay * max(0.0, now - self._prev_at) / 3600.0)

    def _score(
        self, global_sim: float | None, local_sim: float | None, terms: str
    ) -> RelevanceScore:
        match global_sim, local_sim:
            case float(to_task), float(to_prev):
                value: float | None = self._alpha * to_task + (1 - self._alpha) * to_prev
            case _:
                value = local_sim if global_sim is None else global_sim
        return RelevanceScore(value, global_sim, local_sim, f"{terms}; {self._embedder}")


def _terms(global_sim: float | None, local_sim: float | None) -> str:
    match global_sim is None, local_sim is None:
        case False, False:
            return "global+local"
        case False, True:
            return "global (no previous input)"
        case True, False:
            return "local (no task vector)"
        case _:
            return "unknown (no task vector, no previous input)"


def task_text(what: str, why: str = "") -> str:
    """The text whose vector stands for the task: `what`, newline, `why`."""
    return f"{what}\n{why}" if why.strip() else what


async def tracker_of(
    service: EmbeddingService, calibration: Calibration, task: str, why: str
) -> RelevanceTracker:
    """A tracker of a session with a task and, so far, nothing else.

    Args:
        service: the embedder.
        calibration: of the same embedder.
        task: what the session is for.
        why: may be empty.

    Raises:
        EmbeddingError: the embedder failed.
    """
    tracker = RelevanceTracker(calibration, dim=service.dim, embedder=service.name)
    tracker.set_task_5w2h((await service.embed([task_text(task, why)]))[0])
    return tracker


async def score_lines(
    service: EmbeddingService, tracker: RelevanceTracker, lines: Sequence[str]
) -> list[RelevanceScore]:
    """Score lines as the next user inputs of a session without an agent.

    Args:
        service: the embedder of the tracker.
        tracker: remembers the lines that are kept.
        lines: n inputs, in order.

    Returns:
        n scores. Only continuations inherit, from the last kept line.

    Raises:
        EmbeddingError: the embedder failed.
    """
    vectors = await service.embed(lines)
    return [tracker.on_new_input(line, vector) for line, vector in zip(lines, vectors, strict=True)]
