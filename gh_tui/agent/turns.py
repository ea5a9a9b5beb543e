"""The one place where turns come into being: recorded, scored, then in L1 and L0."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
from typing import TypeVar

from gh_tui.agent.scoring import Scored, Scorer
from gh_tui.clock import Clock
from gh_tui.embedding.vectors import pack
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ToolCall
from gh_tui.memory.l0 import L0
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.relevance import AgentTurn
from gh_tui.memory.turn import L1Turn, iri_for, new_turn
from gh_tui.providers.base import Completed

T = TypeVar("T")


async def uninterrupted(work: Coroutine[object, object, T]) -> T:
    """Finish `work` however often the caller is cancelled; then the cancellation goes on."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at: the cancellation is what counts
        raise


class TurnWriter:
    """Adds turns to a session."""

    def __init__(
        self, bus: EventBus, clock: Clock, l1: L1Session, l0: L0, scorer: Scorer, first: int = 1
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._l1 = l1
        self._l0 = l0
        self._scorer = scorer
        self._next = first
        self.latest_agent: L1Turn | None = None
        """The last assistant turn."""

    @property
    def answered(self) -> AgentTurn | None:
        """What the next input answers."""
        agent = self.latest_agent
        return None if agent is None else AgentTurn(agent.text, agent.relevance_score)

    def new_iri(self) -> str:
        """The next IRI of this session."""
        iri = iri_for(self._bus.session, self._next)
        self._next += 1
        return iri

    def added(self, iri: str) -> bool:
        """Whether a turn is in."""
        return iri in self._l1

    def turn(self, iri: str) -> L1Turn:
        """A turn that is in."""
        return self._l1.turn(iri)

    def withdraw(self, iri: str, factor: float) -> list[ev.Event]:
        """Hide a turn from the model for good; the events that say so, not yet published."""
        self._l0.withdraw(iri)
        return self._l1.withdraw(iri, factor)

    def set_standing(self, iri: str, standing: bool) -> None:
        """Follow the class of an input whose turn is in."""
        self._l1.set_standing(iri, standing)

    async def add_input(
        self,
        iri: str,
        text: str,
        scored: Scored,
        *,
        is_task: bool = False,
        standing: bool = False,
        attached: bool = False,
        supplement: str | None = None,
    ) -> L1Turn:
        """Add a user input that was scored before."""
        turn = new_turn(
            iri,
            "user",
            text,
            created_at=self._clock.monotonic(),
            is_task=is_task,
            is_supplement=supplement is not None,
            standing=standing,
            attached=attached,
        )
        return await uninterrupted(self._add(turn, scored, supplement))

    async def add_reply(self, reply: Completed) -> L1Turn:
        """Add the assistant's message with its calls."""
        turn = new_turn(
            self.new_iri(),
            "assistant",
            reply.text,
            created_at=self._clock.monotonic(),
            calls=reply.calls,
            provider_blocks=reply.blocks,
        )
        self.latest_agent = await self._score_and_add(turn)
        return self.latest_agent

    async def add_partial(self, text: str, reason: str) -> L1Turn:
        """Add what came of a reply that was cut short, with a mark that says so."""
        turn = new_turn(
            self.new_iri(),
            "assistant",
            f"{text}\n\n[{reason}]",
            created_at=self._clock.monotonic(),
        )
        self.latest_agent = await self._score_and_add(turn)
        return self.latest_agent

    async def add_result(self, call: ToolCall, text: str, *, ok: bool) -> L1Turn:
        """Add the result of a tool call."""
        turn = new_turn(
            self.new_iri(),
            "tool",
            text,
            created_at=self._clock.monotonic(),
            ok=ok,
            call_id=call.id,
            name=call.name,
        )
        return await self._score_and_add(turn)

    async def _score_and_add(self, turn: L1Turn) -> L1Turn:
        async def work() -> L1Turn:
            return await self._add(turn, await self._scorer.score_turn(turn.text), None)

        return await uninterrupted(work())

    async def _add(self, turn: L1Turn, scored: Scored, supplement: str | None) -> L1Turn:
        added = ev.TurnAdded(
            iri=turn.iri,
            role=turn.role,
            text=turn.text,
            summary=turn.summary,
            tokens=turn.tokens,
            is_supplement=turn.is_supplement,
            standing=turn.standing,
            calls=turn.calls,
            call_id=turn.call_id,
            provider_blocks=turn.provider_blocks,
            supplement=supplement,
            name=turn.name,
            attached=turn.attached,
        )
        await self._bus.publish(added)
        self._l0.add(added)
        score, vector = scored.score, scored.vector
        if vector is not None:
            self._l0.add_vector(turn.iri, vector)
        turn = replace(turn, embedding=vector, relevance_score=score.relevance_score)
        self._l1.add(turn)
        if turn.role == "user":
            self._l1.hold(turn.iri)
        await self._bus.publish(
            ev.TurnScored(
                iri=turn.iri,
                relevance_score=score.relevance_score,
                global_sim=score.global_sim,
                local_sim=score.local_sim,
                basis=score.basis,
                embedding=None if vector is None else pack(vector),
            )
        )
        return turn
