"""topic_coherence_agent: looks whether the talk has left the topic, in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from gh_tui.agent.memory import WorkingMemory
from gh_tui.embedding.vectors import Vector
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.memory.coherence import CoherenceTurn, Shift, TopicCoherence, first_sentence
from gh_tui.memory.continuations import is_slight
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import L1Turn

Embed = Callable[[str], Awaitable[Vector | None]]


class CoherenceWatch:
    """Feeds the turns of L1 to the rule; a confirmed shift is published and runs a pass."""

    def __init__(
        self,
        bus: EventBus,
        l1: L1Session,
        memory: WorkingMemory,
        rule: TopicCoherence,
        embed: Embed,
        *,
        each_input: bool = True,
    ) -> None:
        """Set it up.

        Args:
            bus: where it publishes.
            l1: the turns.
            memory: runs the pass after a shift.
            rule: decides.
            embed: a text to its vector, or None.
            each_input: look after each input too, not only on the schedule.
        """
        self._bus = bus
        self._l1 = l1
        self._memory = memory
        self._rule = rule
        self._embed = embed
        self._each_input = each_input
        self._seen = 0
        self._round = 0

    def has_new_turns(self) -> bool:
        """Whether there is anything to look at."""
        return len(self._l1) > self._seen

    async def restore(self, rebased: Iterable[tuple[int, str]]) -> None:
        """Take in the turns of a resumed session without deciding anything again.

        Args:
            rebased: after how many turns which input became the task, in order.
        """
        turns = self._l1.turns
        for count, iri in rebased:
            self._rule.check(await self._all_as_seen(turns[self._seen : count]))
            self._rule.rebase(self._l1.turn(iri).embedding)
            self._seen = count
        self._rule.check(await self._all_as_seen(turns[self._seen :]))
        self._seen = len(turns)

    def rebase(self, task: Vector | None) -> None:
        """Begin a new topic by decree: what follows is no shift from the old one.

        Args:
            task: float32[dim], the new task's vector.
        """
        self._seen = len(self._l1)
        self._rule.rebase(task)

    async def check_input(self) -> None:
        """Look now, if that is wanted after each input."""
        if self._each_input:
            await self.check()

    async def check(self) -> None:
        """One round: look at the turns since the last one."""
        fresh = list(self._l1.turns[self._seen :])
        if not fresh:
            return
        self._seen += len(fresh)
        self._round += 1
        result = self._rule.check(await self._all_as_seen(fresh))
        await self._bus.publish(
            ev.CoherenceChecked(
                round=self._round,
                similarities=result.similarities,
                provisional=result.provisional,
            )
        )
        if result.shift is not None:
            await self._shifted(result.shift)

    async def _shifted(self, shift: Shift) -> None:
        proposed = self._memory.before(shift.boundary_iri)
        await self._bus.publish(
            ev.TopicShiftDetected(
                boundary=shift.boundary_iri,
                similarities=shift.similarities,
                threshold=shift.threshold,
                rule=shift.rule,
                proposed=proposed,
            )
        )
        await self._memory.run_pass("topic", proposed=proposed)

    async def _all_as_seen(self, turns: Iterable[L1Turn]) -> list[CoherenceTurn]:
        """Inputs that are too slight to show a topic speak neither for one nor against it."""
        telling = (turn for turn in turns if turn.role != "user" or not is_slight(turn.text))
        return [await self._as_seen(turn) for turn in telling]

    async def _as_seen(self, turn: L1Turn) -> CoherenceTurn:
        """A long prompt is judged by its first sentence too: the rest is often material."""
        is_input = turn.role == "user"
        head = None
        if is_input and (sentence := first_sentence(turn.text)) != turn.text:
            head = await self._embed(sentence)
        return CoherenceTurn(turn.iri, turn.role, turn.text, turn.embedding, is_input, head)
