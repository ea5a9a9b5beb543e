"""The desk for supplementary input: accept durably, score at once, hand over exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from gh_tui.agent.answers import Answers
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.scoring import Scored, Scorer, classified
from gh_tui.agent.supervisor import Classification
from gh_tui.agent.turns import TurnWriter, uninterrupted
from gh_tui.context.assembly import Assembled
from gh_tui.embedding.vectors import pack
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ReturnReason
from gh_tui.memory.supplements import SupplementaryInputStore, SupplementEntry
from gh_tui.memory.turn import L1Turn
from gh_tui.providers.wire import SentMessage


@dataclass(frozen=True, slots=True)
class _Understood:
    scored: Scored
    classification: Classification


class SupplementDesk:
    """Takes supplements from the user and gives them to the running loop."""

    def __init__(
        self,
        bus: EventBus,
        store: SupplementaryInputStore,
        scorer: Scorer,
        turns: TurnWriter,
        memory: WorkingMemory,
        answers: Answers,
        first: int = 1,
    ) -> None:
        self._bus = bus
        self._store = store
        self._scorer = scorer
        self._turns = turns
        self._memory = memory
        self._answers = answers
        self._next = first
        self._understanding: dict[str, asyncio.Task[_Understood]] = {}
        self._running: set[asyncio.Task[_Understood]] = set()
        self._undelivered: dict[str, str] = {}
        self._on_its_way: frozenset[str] = frozenset()
        self._handing = asyncio.Lock()
        """Held while an entry goes from one hand to another: none is in two."""
        self._classes: dict[str, Classification] = {}
        """What the user says of entries that are pending."""
        self.on_control: Callable[[str], Awaitable[None]] | None = None
        """Told the class of an input that, as a whole, is a control phrase."""

    @property
    def pending(self) -> int:
        """How many entries no turn was made of yet."""
        return self._store.pending_count

    @property
    def waiting(self) -> int:
        """How many entries no request has carried yet."""
        return self._store.pending_count + len(self._undelivered)

    @property
    def texts(self) -> list[str]:
        """What no request has carried yet, in order."""
        taken = [self._turns.turn(iri).text for iri in self._undelivered.values()]
        return taken + [entry.content for entry in self._store.snapshot_pending()]

    @property
    def limit(self) -> int:
        """How many inputs may wait."""
        return self._store.limit

    async def accept(self, text: str, client_id: str | None, *, attached: bool = False) -> str:
        """Record a supplement and put it in the queue; returns its id once it is on disk.

        Raises:
            RecordingError: if it could not be recorded; then it was not accepted.
        """
        name = f"supplement-{self._next}"
        self._next += 1
        await self._bus.publish(
            ev.SupplementaryInputReceived(
                id=name, text=text, client_id=client_id, attached=attached
            )
        )
        self._wait(SupplementEntry(name, text, attached=attached))
        return name

    def restore(self, name: str, text: str, iri: str | None, *, attached: bool = False) -> None:
        """Put back an entry that an earlier run of the program had accepted and not delivered.

        Args:
            name: its id.
            text: what the user wrote.
            iri: its turn, if one was made of it.
            attached: it goes as an attachment.
        """
        if iri is not None:
            self._undelivered[name] = iri
            return
        self._wait(SupplementEntry(name, text, attached=attached))

    def _wait(self, entry: SupplementEntry) -> None:
        self._store.store(entry)
        self._begin_understanding(entry)

    async def take(self) -> list[L1Turn]:
        """Make turns of all pending entries, in order; each leaves the queue as its turn is in.

        What the user said meanwhile of an instruction and an older one is done then.
        """
        turns = []
        for entry in self._store.snapshot_pending():
            understood = await self._understood(entry)
            async with self._handing:
                if self._store.withdraw(entry.id) is None:  # withdrawn meanwhile
                    continue
                turns.append(await self._make_turn(entry, understood))
        await self._answers.settle()
        for name, iri in list(self._undelivered.items()):
            turn = self._turns.turn(iri)
            if turn.replaced_by is not None and not turn.is_task:
                await uninterrupted(self._take_back(name, "replaced"))
        return turns

    @asynccontextmanager
    async def sending(self, assemble: Callable[[], Assembled]) -> AsyncIterator[Assembled]:
        """A request as it goes out: what it carries cannot be withdrawn on its way.

        Args:
            assemble: makes the request of what there is at that moment.
        """
        async with self._handing:
            request = assemble()
            self._on_its_way = request.carried
        try:
            yield request
        finally:
            self._on_its_way = frozenset()

    async def _make_turn(self, entry: SupplementEntry, understood: _Understood) -> L1Turn:
        iri = self._turns.new_iri()
        self._undelivered[entry.id] = iri
        found = self._classes.pop(entry.id, understood.classification)
        try:
            return await self._turns.add_input(
                iri,
                entry.content,
                understood.scored,
                standing=found.standing,
                attached=entry.attached,
                supplement=entry.id,
            )
        finally:
            if self._turns.added(iri):
                self._understanding.pop(entry.id, None)
                if entry.id in self._classes:  # changed while the turn was recorded
                    self._turns.set_standing(iri, self._classes.pop(entry.id).standing)
            else:
                del self._undelivered[entry.id]
                self._store.put_back(entry)

    def reclassify(self, name: str, found: Classification) -> None:
        """Follow the user's word on the class of a pending entry."""
        self._classes[name] = found

    async def delivered(
        self, carriers: Mapping[str, SentMessage], cycle: int, request: int
    ) -> None:
        """Note that a request got its 2xx headers; `carriers` are its messages by their IRIs."""
        for name, iri in list(self._undelivered.items()):
            sent = carriers.get(iri)
            if sent is None:
                continue
            del self._undelivered[name]
            await self._bus.publish(
                ev.SupplementInjected(
                    id=name,
                    iri=iri,
                    cycle=cycle,
                    request=request,
                    content=None if sent.content == self._turns.turn(iri).text else sent.content,
                    place=sent.place,
                    messages=sent.count,
                )
            )

    async def deferred(self, reason: str) -> None:
        """Note that the request failed: what it was to carry stays taken."""
        async with self._handing:
            for name, iri in self._undelivered.items():
                await self._bus.publish(ev.SupplementDeferred(id=name, iri=iri, reason=reason))

    async def withdraw(self, name: str) -> str:
        """Give one entry back that no request has carried yet; returns its text.

        Args:
            name: its id, or the IRI of its turn.

        Raises:
            UsageError: if a request has carried it, or is carrying it now.
            RecordingError: if that could not be recorded; then it waits as before.
        """
        name = next((known for known, iri in self._undelivered.items() if iri == name), name)
        return await self._take_back(name, "withdrawn")

    async def return_all(self, reason: ReturnReason) -> list[str]:
        """Give back every entry of which no turn was made; their texts in order."""
        texts = []
        async with self._handing:
            for entry in self._store.snapshot_pending():
                await self._return(entry, reason)
                texts.append(entry.content)
        return texts

    async def settle(self) -> None:
        """Wait until everything accepted so far is scored and classified."""
        await asyncio.gather(*self._understanding.values(), return_exceptions=True)

    async def close(self) -> None:
        """Stop scoring and classifying; what is pending stays so in the recording."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _take_back(self, name: str, reason: ReturnReason) -> str:
        async with self._handing:
            entry = self._store.find(name)
            if entry is not None:
                await self._return(entry, reason)
                return entry.content
            iri = self._undelivered.get(name)
            if iri is None:
                raise UsageError(
                    f"{name} is not waiting (any more), so it cannot be withdrawn; what a "
                    "request has carried stays"
                )
            if iri in self._on_its_way:
                raise UsageError(
                    f"{name} cannot be withdrawn now: a request with it is on its way. "
                    "Stop the agent first, or wait; if the request fails, it can be"
                )
            turn = self._turns.turn(iri)
            if turn.is_task:
                raise UsageError(f"{name} is the task now, so it cannot be withdrawn; see /rebase")
            await self._bus.publish(ev.SupplementReturned(id=name, text=turn.text, reason=reason))
            del self._undelivered[name]
            await self._bus.publish_all(self._turns.withdraw(iri, self._memory.factor))
            return turn.text

    async def _return(self, entry: SupplementEntry, reason: ReturnReason) -> None:
        await self._bus.publish(
            ev.SupplementReturned(id=entry.id, text=entry.content, reason=reason)
        )
        self._store.withdraw(entry.id)
        self._understanding.pop(entry.id, None)

    def _begin_understanding(self, entry: SupplementEntry) -> asyncio.Task[_Understood]:
        task = asyncio.create_task(self._understand(entry))
        self._understanding[entry.id] = task
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[_Understood]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: whoever needs the entry asks again

    async def _understood(self, entry: SupplementEntry) -> _Understood:
        task = self._understanding.get(entry.id)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            # It could not be recorded then; an entry must not wait for ever because of that.
            task = self._begin_understanding(entry)
        return await asyncio.shield(task)

    async def _understand(self, entry: SupplementEntry) -> _Understood:
        name, text = entry.id, entry.content
        scored = await self._scorer.score_input(text, self._turns.answered)
        score, vector = scored.score, scored.vector
        self._store.update(replace(entry, embedding=vector, relevance_score=score.relevance_score))
        await self._bus.publish(
            ev.SupplementScored(
                id=name,
                relevance_score=score.relevance_score,
                global_sim=score.global_sim,
                local_sim=score.local_sim,
                basis=score.basis,
                embedding=None if vector is None else pack(vector),
            )
        )
        found = await self._scorer.classify(text, vector)
        related = self._scorer.related(found, vector)
        await self._bus.publish(classified(found, supplement=name, related=related))
        if found.acts and self.on_control is not None:
            await self.on_control(found.class_)
        return _Understood(scored, found)
