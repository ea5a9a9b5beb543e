"""What the user has said and the agent has not begun: inputs of their own, in order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from gh_tui.agent.hooks import Hooks, Veto
from gh_tui.agent.scoring import Scored, Scorer, classified
from gh_tui.agent.task import task_from_input
from gh_tui.agent.turns import TurnWriter
from gh_tui.errors import RecordingError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ReturnReason
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import L1Turn


@dataclass(frozen=True, slots=True)
class QueuedInput:
    """An accepted input whose turn has not begun."""

    iri: str
    text: str
    attached: bool = False


class Inbox:
    """Accepts user inputs durably and turns them into turns, one at a time."""

    def __init__(
        self, bus: EventBus, l1: L1Session, scorer: Scorer, turns: TurnWriter, hooks: Hooks
    ) -> None:
        self._bus = bus
        self._l1 = l1
        self._scorer = scorer
        self._turns = turns
        self._hooks = hooks
        self._queue: deque[QueuedInput] = deque()
        self._beginning: QueuedInput | None = None

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def texts(self) -> list[str]:
        """What is queued, in order."""
        return [entry.text for entry in self._queue]

    @property
    def begins_task(self) -> bool:
        """Whether the first queued input becomes the task of the session."""
        return bool(self._queue) and self._l1.task is None

    async def accept(self, text: str, client_id: str | None, *, attached: bool = False) -> str:
        """Record an input and put it at the end of the queue; its IRI.

        Raises:
            RecordingError: if it could not be recorded; then it was not accepted.
        """
        iri = self._turns.new_iri()
        self._await_task()
        try:
            await self._bus.publish(
                ev.UserInputReceived(iri=iri, text=text, client_id=client_id, attached=attached)
            )
            self._queue.append(QueuedInput(iri, text, attached))
        finally:
            if not self._queue:
                self._scorer.task_settled()
        return iri

    def restore(self, entry: QueuedInput) -> None:
        """Put an input back that an earlier run of the program had accepted."""
        self._await_task()
        self._queue.append(entry)

    async def withdraw(self, iri: str) -> str | None:
        """Give one queued input back to the user; its text, or None if there is no such input.

        Raises:
            UsageError: if it is being begun.
            RecordingError: if that could not be recorded; then it stays queued.
        """
        entry = next((entry for entry in self._queue if entry.iri == iri), None)
        if entry is None:
            return None
        if entry is self._beginning:
            raise UsageError(f"{iri} cannot be withdrawn now: it begins. Stop the agent first")
        await self._give_back(entry, "withdrawn")
        return entry.text

    async def return_all(self, reason: ReturnReason) -> list[str]:
        """Give back every queued input that is not being begun; their texts in order.

        One that is being begun belongs to a run that started since: it becomes a turn.
        """
        texts = []
        self._scorer.task_settled()
        for entry in tuple(self._queue):
            if entry is not self._beginning and entry in self._queue:
                await self._give_back(entry, reason)
                texts.append(entry.text)
        return texts

    async def _give_back(self, entry: QueuedInput, reason: ReturnReason) -> None:
        place = self._queue.index(entry)
        del self._queue[place]  # before anything else can begin it
        try:
            await self._bus.publish(
                ev.SupplementReturned(id=entry.iri, text=entry.text, reason=reason)
            )
        except RecordingError:
            self._queue.insert(place, entry)
            raise
        if not self._queue:
            self._scorer.task_settled()

    async def begin_next(self) -> L1Turn:
        """Make a turn of the first queued input; the first one of a session becomes its task.

        Cancelled before its turn is in, it stays queued.

        Raises:
            UsageError: a hook vetoed the task; the input stays queued.
        """
        self._beginning = entry = self._queue[0]
        try:
            return await self._begin(entry)
        finally:
            self._beginning = None

    async def _begin(self, entry: QueuedInput) -> L1Turn:
        if self._l1.task is None:
            return await self._begin_task(entry)
        scored = await self._scorer.score_input(entry.text, self._turns.answered)
        found = await self._scorer.classify(entry.text, scored.vector)
        related = self._scorer.related(found, scored.vector)
        turn = await self._add(entry, scored, standing=found.standing)
        await self._bus.publish(classified(found, iri=entry.iri, related=related))
        return turn

    async def _begin_task(self, entry: QueuedInput) -> L1Turn:
        self._await_task()
        try:
            task = await self._hooks.run("TaskStart", task_from_input(entry.text))
            if isinstance(task, Veto):
                raise UsageError(f"the task was not begun: {task.reason}")
            scored = await self._scorer.score_task(entry.text)
            await self._bus.publish(ev.TaskStarted(task=task, by="user", iri=entry.iri))
            return await self._add(entry, scored, is_task=True)
        finally:  # only now: until its turn is in, another input may expect the task again
            self._scorer.task_settled()

    def _await_task(self) -> None:
        if self._l1.task is None:
            self._scorer.expect_task()

    async def _add(
        self, entry: QueuedInput, scored: Scored, *, is_task: bool = False, standing: bool = False
    ) -> L1Turn:
        try:
            return await self._turns.add_input(
                entry.iri,
                entry.text,
                scored,
                is_task=is_task,
                standing=standing,
                attached=entry.attached,
            )
        finally:
            if self._turns.added(entry.iri):
                self._queue.remove(entry)
