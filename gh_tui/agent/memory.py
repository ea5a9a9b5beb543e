"""WorkingMemory: L1, the window and the current query as the loop uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gh_tui.agent.attachments import Oversize, oversize, told_attached
from gh_tui.clock import Clock
from gh_tui.context.assembly import Assembled, Frame
from gh_tui.context.standing import SHARE, Standing
from gh_tui.context.window import (
    Budget,
    ContextWindowManager,
    much_protected,
    refused,
    require_fit,
)
from gh_tui.errors import MemoryFullError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import Task, Trigger
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.passes import PassRequest, Query
from gh_tui.memory.tokens import TokenEstimator, count_message, least_tokens
from gh_tui.providers.base import Usage


class WorkingMemory:
    """What the next request is made from, and the passes that keep it within the budget."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        l1: L1Session,
        window: ContextWindowManager,
        budget: Budget,
        system: str,
        *,
        standing_max: int | None,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._l1 = l1
        self._window = window
        self._budget = budget
        self._system = system
        self._standing_max = standing_max
        self._estimator = TokenEstimator()
        self._passing = asyncio.Lock()
        self._told = False
        """The user knows that what is protected holds more than its share."""
        self.refined: Task | None = None
        """The task as it was edited, if it says more than its turn."""

    @property
    def budget(self) -> int:
        """Tokens that a request may have."""
        return self._budget.tokens

    @property
    def tokens_basis(self) -> Literal["estimated", "confirmed"]:
        """Whether a server has confirmed the token counts."""
        return self._estimator.basis

    @property
    def factor(self) -> float:
        """The learned correction of token counts."""
        return self._estimator.factor

    @property
    def hides_something(self) -> bool:
        """Whether some turn is not shown in full."""
        counts = self._l1.fidelity_counts()
        return counts["full"] < sum(counts.values()) or self._l1.has_attachments

    @property
    def answered(self) -> bool:
        """Whether the model has said the last word of what it sees."""
        shown = (turn for turn in reversed(self._l1.turns) if turn.fidelity != "archived")
        last = next(shown, None)
        return last is None or last.role == "assistant"

    def oversize(self, text: str) -> Oversize | None:
        """What there is to say of an input that is too large to be sent whole unasked."""
        fixed = self._estimator.scale(count_message(self._system))
        fixed += self._l1.protected_tokens(self.factor) + int(SHARE * self.budget)
        room = self._budget.available - fixed
        return oversize(self._estimator.scale(count_message(text)), self.budget, room)

    def assemble(self) -> Assembled:
        """The request as it would be sent now.

        Raises:
            MemoryFullError: it does not fit the budget.
        """
        request = self._assemble()
        require_fit(self._l1, request, self._budget, self.factor)
        return request

    def sent(self, request: Assembled) -> None:
        """Note that a request goes out."""
        self._window.sent(request)
        self._l1.note_request()

    def delivered(self) -> None:
        """Note that the server accepted what was sent."""
        self._l1.note_delivery()

    @property
    def prompt_is_cut(self) -> bool:
        """Whether the server seems to read less than it is sent."""
        return self._estimator.cut

    def learn(self, request: Assembled, usage: Usage) -> None:
        """Take in what the server counted for a request."""
        sent = request.tokens + self._estimator.scale(self._budget.tools)
        least = sum(least_tokens(message.text) for message in request.messages)
        fresh = request.tokens - request.prefix_kept if request.prefix_kept else None
        reported, cached = usage.prompt_tokens, usage.cached_tokens or 0
        if cached > reported:  # the server counts cached tokens beside the others
            reported += cached
        self._estimator.confirm(sent, reported, least, fresh)

    async def make_room(self) -> None:
        """Run a pass if one is due before the next request.

        What no pass may take is told once it holds more than its share.
        """
        await self._tell_protected()
        trigger = self._l1.due(self._assemble().tokens, self.budget)
        if trigger is not None:
            await self.run_pass(trigger)

    async def _tell_protected(self) -> None:
        told, self._told = self._told, self._l1.protected_excess(self.budget, self.factor) > 0
        if self._told and not told:
            text = much_protected(self._l1, self.budget, self.factor)
            await self._bus.publish(ev.Notice(level="warning", text=text))

    async def shrink(self, *, again: bool = False) -> bool:
        """Make room because a request did not fit; False if nothing more can be done.

        Args:
            again: a pass was not enough, although the estimate says that it is.
        """
        return bool(await self.run_pass("overflow", again=again))

    def too_large(self, refusal: str, *, tried: int | None = None) -> MemoryFullError:
        """What there is to say when a server refuses a request for good.

        Args:
            refusal: the server's words.
            tried: how many passes were not enough; None if no pass can free more.
        """
        return refused(self._l1, self._assemble(), refusal, self.factor, tried=tried)

    async def run_pass(
        self, trigger: Trigger, proposed: Sequence[str] = (), *, again: bool = False
    ) -> bool | None:
        """Run one pass and publish it; False if nothing changed, None if it was not run.

        Passes run one after the other, so that their events do not mix. One that waited for
        another is only run if it has something of its own to do.
        """
        waits = self._passing.locked()
        async with self._passing:
            if waits and not self._still_wanted(trigger):
                text = "A memory pass is running; no second one started."
                await self._bus.publish(ev.Notice(level="info", text=text))
                return None
            events = self._l1.evict_with_query(self._pass_request(trigger, proposed, again))
            await self._bus.publish_all([self._as_sent(event) for event in events])
        changes = [event for event in events if isinstance(event, ev.TurnFidelityChanged)]
        if attached := [change.iri for change in changes if change.attached]:
            await self._bus.publish(told_attached(attached))
        return bool(changes)

    def _as_sent(self, event: ev.Event) -> ev.Event:
        """A pass may change the standing block too: its end says what a request has now."""
        if not isinstance(event, ev.PassFinished):
            return event
        return replace(event, tokens_after=self._assemble().tokens)

    def _still_wanted(self, trigger: Trigger) -> bool:
        """Whether a pass that waited for another one still has something to do."""
        if trigger in ("topic", "overflow"):
            return True
        if trigger == "command":
            return False
        return self._l1.due(self._assemble().tokens, self.budget) is not None

    def preview(self) -> ev.PassPreviewed:
        """What the next pass would do if it ran now."""
        trigger, _ = self._l1.next_pass(self._assemble().tokens, self.budget)
        request = self._pass_request(trigger)
        events = self._l1.preview_pass(request)
        changes = [event for event in events if isinstance(event, ev.TurnFidelityChanged)]
        with self._l1.as_after(changes):
            tokens_after = self._assemble().tokens
        return ev.PassPreviewed(
            policy=self._l1.config.policy,
            budget=request.budget,
            tokens_before=request.tokens_before,
            tokens_after=tokens_after,
            changes=tuple(replace(change, pass_=None) for change in changes),
        )

    def before(self, boundary: str) -> tuple[str, ...]:
        """Turns before a boundary that a pass may take, as a topic shift proposes them."""
        iris = [turn.iri for turn in self._l1.turns]
        end = iris.index(boundary) if boundary in iris else 0
        return tuple(iri for iri in iris[:end] if not self._l1.protected(iri))

    def _assemble(self) -> Assembled:
        query = self._query()
        standing = Standing(refined=self.refined, vector=query.vector, most=self._standing_max)
        frame = Frame(
            system=self._system,
            budget=self.budget,
            factor=self.factor,
            standing=standing,
        )
        return self._window.assemble(self._l1, frame)

    def _query(self) -> Query:
        for turn in reversed(self._l1.turns):
            if turn.role == "user" and not turn.withdrawn:
                return Query(turn.iri, turn.text, turn.embedding)
        return Query()

    def _pass_request(
        self, trigger: Trigger, proposed: Sequence[str] = (), again: bool = False
    ) -> PassRequest:
        request = self._assemble()
        return PassRequest(
            now=self._clock.monotonic(),
            budget=self.budget,
            tokens_before=request.tokens,
            trigger=trigger,
            query=self._query(),
            proposed=tuple(proposed),
            factor=self.factor,
            standing_tokens=request.standing_tokens,
            fits=self._budget.available,
            again=again,
        )
