"""Scores and classes of what enters a session, in the order in which it came."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gh_tui.agent.supervisor import Classification, Supervisor, related_standing
from gh_tui.clock import Clock
from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Vector, problem
from gh_tui.errors import EmbeddingError
from gh_tui.events import types as ev
from gh_tui.events.values import Task
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.relevance import AgentTurn, RelevanceScore, RelevanceTracker, task_text


@dataclass(frozen=True, slots=True)
class Scored:
    """A text with its vector (None when it has none) and its relevance."""

    vector: Vector | None
    score: RelevanceScore


class Scorer:
    """Embeds, scores and classifies; one input at a time, so that `prev` is what came before."""

    def __init__(
        self,
        embedding: EmbeddingService,
        tracker: RelevanceTracker,
        supervisor: Supervisor,
        clock: Clock,
        l1: L1Session,
    ) -> None:
        self._embedding = embedding
        self._tracker = tracker
        self._supervisor = supervisor
        self._clock = clock
        self._l1 = l1
        self._order = asyncio.Lock()
        self._task_scored = asyncio.Event()
        self._task_scored.set()

    def expect_task(self) -> None:
        """Let later inputs wait until the task, which came before them, is scored or given up."""
        self._task_scored.clear()

    def task_settled(self) -> None:
        """Score what waited for the task."""
        self._task_scored.set()

    async def set_task(self, task: Task) -> None:
        """Make `task` what inputs are compared with."""
        self._tracker.set_task_5w2h(await self.vector(task_text(task.what, task.why)))

    async def begin_task(self, task: Task) -> Task:
        """The hook TaskStart: inputs are compared with the new task from now on."""
        await self.set_task(task)
        return task

    async def vector(self, text: str) -> Vector | None:
        """The embedding of a text, or None if it cannot be compared."""
        try:
            vector: Vector = (await self._embedding.embed([text]))[0]
        except EmbeddingError:
            return None
        return None if problem(vector, self._embedding.dim) else vector

    async def score_input(self, text: str, answers: AgentTurn | None) -> Scored:
        """Score a user input; it becomes the reference of the next one if it is kept."""
        await self._task_scored.wait()
        return await self._score_input(text, answers)

    async def score_task(self, text: str) -> Scored:
        """Score the input that is the task: the reference of the next one."""
        return await self._score_input(text, None)

    async def _score_input(self, text: str, answers: AgentTurn | None) -> Scored:
        async with self._order:
            vector = await self.vector(text)
            now = self._clock.monotonic()
            score = self._tracker.on_new_input(text, vector, answers=answers, now=now)
        return Scored(vector, score)

    def remember(self, score: RelevanceScore, vector: Vector | None) -> None:
        """Take in an input that an earlier run of the program scored."""
        self._tracker.remember(score, vector)

    async def score_turn(self, text: str) -> Scored:
        """Score an agent or tool turn; nothing is remembered."""
        vector = await self.vector(text)
        return Scored(vector, self._tracker.score_turn(vector, now=self._clock.monotonic()))

    async def classify(self, text: str, vector: Vector | None) -> Classification:
        """The class of a user input after the first."""
        return await self._supervisor.classify(text, vector)

    def related(self, found: Classification, vector: Vector | None) -> str | None:
        """The older instruction that a new one may replace; worth a question, decides nothing."""
        if not found.standing:
            return None
        instructions = (turn for turn in self._l1.turns if turn.instructs and not turn.is_task)
        older = [(turn.iri, turn.embedding) for turn in instructions]
        return related_standing(vector, older, NATIVE)


def classified(
    found: Classification,
    *,
    supplement: str | None = None,
    iri: str | None = None,
    related: str | None = None,
) -> ev.InputClassified:
    """The event that says how an input was understood.

    Args:
        found: its class.
        supplement: its id, if it is a supplement.
        iri: its turn, if there is one.
        related: an older instruction that it may replace.
    """
    return ev.InputClassified(
        id=supplement,
        iri=iri,
        class_=found.class_,
        group=found.group,
        by=found.by,
        suggested=found.suggested,
        standing=found.standing,
        related=related,
    )
