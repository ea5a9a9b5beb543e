"""Questions about instructions that are close to one another: only the user answers them."""

from __future__ import annotations

from dataclasses import replace

from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.scoring import classified
from gh_tui.agent.supervisor import of_class
from gh_tui.errors import UsageError
from gh_tui.events.bus import EventBus
from gh_tui.events.entries import SupplementState, TurnState
from gh_tui.events.state import SessionState
from gh_tui.events.values import Answer
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import iri_for


class Answers:
    """Takes the user's answers; one about an entry that is not with the agent yet is kept.

    What is kept is in the recording, and so in the state: a resumed session knows it as well.
    """

    def __init__(
        self, bus: EventBus, l1: L1Session, memory: WorkingMemory, state: SessionState
    ) -> None:
        self._bus = bus
        self._l1 = l1
        self._memory = memory
        self._state = state

    async def answer(self, name: str, answer: Answer) -> None:
        """Say how a new instruction stands to the older one that it is close to.

        On `replaces` the older one is archived, at the latest before the next request goes out;
        the others only close the question.

        Args:
            name: the new instruction: a supplement's id, or a turn's number or IRI.
            answer: what the user says.

        Raises:
            UsageError: nothing was asked about it, or it is to replace the task.
        """
        entry, turn = self._asked(name)
        asked = entry or turn
        older = None if asked is None else asked.related or asked.older
        if asked is None or older is None or older not in self._l1:
            raise UsageError(f"/{answer}: nothing was asked about {name}")
        if turn is not None and asked.related is None:
            raise UsageError(f"/{answer}: the question about {name} is answered already")
        if answer == "replaces" and self._l1.turn(older).is_task:
            raise UsageError("/replaces: the older one is the task now; /task refines it")
        found = of_class(asked.class_ or "AddContext", "user")
        standing = asked.related is not None or found.standing
        suggested = None if entry is None else entry.suggested
        event = classified(
            replace(found, standing=standing, suggested=suggested),
            supplement=None if entry is None else entry.id,
            iri=None if turn is None else turn.iri,
        )
        await self._bus.publish(replace(event, answer=answer, older=older))
        if turn is not None and answer == "replaces":
            await self._replace(older, turn.iri)

    async def settle(self) -> None:
        """Do what was said of entries that have become turns since."""
        for entry in self._state.pending:
            older, newer = entry.older, entry.iri
            if entry.answer != "replaces" or older is None or newer is None:
                continue
            if older in self._l1 and self._l1.turn(older).replaced_by is None:
                await self._replace(older, newer)

    async def _replace(self, older: str, newer: str) -> None:
        events = self._l1.replace_instruction(older, newer, self._memory.factor)
        await self._bus.publish_all(events)

    def _asked(self, name: str) -> tuple[SupplementState | None, TurnState | None]:
        """The receipt and the turn of a name, as far as there are such."""
        iri = iri_for(self._bus.session, int(name)) if name.isdecimal() else name
        entries = self._state.supplements.values()
        entry = next((e for e in entries if e.id == name or e.iri == iri), None)
        turn = self._state.turns.get((entry.iri or "") if entry is not None else iri)
        return entry, turn
