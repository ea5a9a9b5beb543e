"""The slash commands: what a user can ask of the session itself, from the box or from a pipe."""

from __future__ import annotations

from dataclasses import replace

from gh_tui.agent.coherence import CoherenceWatch
from gh_tui.agent.engine import Engine
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.scoring import Scorer, classified
from gh_tui.agent.supervisor import CLASSES, of_class
from gh_tui.agent.task import task_from_input
from gh_tui.clock import Clock
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.state import SessionState
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import iri_for

HELP = {
    "/compact": "run a memory pass now",
    "/pin IRI": "protect a turn",
    "/unpin IRI": "make a pinned turn or an instruction an ordinary turn",
    "/recall IRI": "bring a turn back to full",
    "/undo": "undo the latest pass",
    "/pause": "wait before the next cycle",
    "/resume": "go on, or try again after a failure",
    "/task TEXT": "refine the task; its first wording stays in the session",
    "/rebase IRI": "make an input the task: the talk has moved on",
    "/class ID CLASS": "change how an input was understood",
    "/withdraw ID": "take a waiting input back",
    "/queue TEXT": "run TEXT after this task",
    "/exit": "leave",
}


class Commands:
    """Carries out slash commands."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        engine: Engine,
        l1: L1Session,
        memory: WorkingMemory,
        scorer: Scorer,
        coherence: CoherenceWatch,
        state: SessionState,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._engine = engine
        self._l1 = l1
        self._memory = memory
        self._scorer = scorer
        self._coherence = coherence
        self._state = state

    async def run(self, text: str, client_id: str | None = None) -> str | None:
        """Carry out one command other than /exit.

        Args:
            text: the whole line, beginning with `/`.
            client_id: goes with what /queue accepts.

        Returns:
            A line for the user, or None where the events say it all.

        Raises:
            GhError: it is unknown, incomplete, or cannot be done now; says why.
        """
        command, _, rest = text.strip().partition(" ")
        rest = rest.strip()
        match command:
            case "/compact":
                changed = await self._memory.run_pass("command")
                return None if changed else "the pass found nothing to take"
            case "/pin" | "/unpin" | "/recall":
                await self._on_turn(command, self._iri(command, rest))
            case "/undo":
                await self._undo()
            case "/pause":
                await self._engine.pause("command")
            case "/resume":
                await self._engine.resume("command")
            case "/task":
                await self._refine(_needed(command, rest))
            case "/rebase":
                await self._rebase(rest)
            case "/class":
                await self._classify(rest)
            case "/withdraw":
                await self._engine.withdraw(_needed(command, rest))
            case "/queue":
                await self._engine.input(_needed(command, rest), client_id)
            case "/help":
                return "\n".join(f"{name}  {words}" for name, words in HELP.items())
            case _:
                raise UsageError(
                    f"{command} is not a command; there are {', '.join(HELP)}. "
                    "Begin with // to send a text that starts with a slash."
                )
        return None

    def _iri(self, command: str, word: str) -> str:
        word = _needed(command, word)
        iri = iri_for(self._bus.session, int(word)) if word.isdecimal() else word
        if iri not in self._l1:
            raise UsageError(f"{command}: there is no turn {word} in this session")
        return iri

    async def _on_turn(self, command: str, iri: str) -> None:
        now, memory = self._clock.monotonic(), self._memory
        if command == "/pin":
            events = self._l1.pin(iri, now, budget=memory.budget, factor=memory.factor)
        elif command == "/unpin":
            events = self._lift(iri)
        else:
            events = self._l1.recall(iri, now, memory.factor)
        await self._bus.publish_all(events)

    def _lift(self, iri: str) -> list[ev.Event]:
        if self._l1.turn(iri).is_task:
            raise UsageError("/unpin: the task is always protected; /task refines it")
        return self._l1.demote(iri)

    async def _undo(self) -> None:
        events = self._l1.undo_pass(self._clock.monotonic(), factor=self._memory.factor)
        if not events:
            raise UsageError("/undo: there is no pass to undo")
        await self._bus.publish_all(events)

    async def _refine(self, text: str) -> None:
        if self._state.task is None:
            raise UsageError("/task: there is no task yet; the first input becomes it")
        task = replace(self._state.task, what=text)
        await self._bus.publish(ev.TaskRefined(task=task, by="user"))
        self._memory.refined = task
        await self._scorer.set_task(task)

    async def _rebase(self, word: str) -> None:
        shifts = self._state.shifts
        if not word and not shifts:
            raise UsageError("/rebase IRI: name the input that is the task now")
        iri = self._iri("/rebase", word or shifts[-1].boundary)
        turn = self._l1.turn(iri)
        if turn.role != "user":
            raise UsageError("/rebase: only an input of yours can be the task")
        task = task_from_input(turn.text)
        await self._bus.publish(ev.TaskStarted(task=task, by="user"))
        self._l1.set_task(iri)
        self._memory.refined = None
        await self._scorer.set_task(task)
        self._coherence.rebase(turn.embedding)

    async def _classify(self, rest: str) -> None:
        name, _, class_ = rest.partition(" ")
        class_ = class_.strip()
        if class_ not in CLASSES:
            raise UsageError(f"/class ID CLASS: the classes are {', '.join(CLASSES)}")
        found = of_class(class_, "user")
        supplement = self._state.supplements.get(name)
        iri = supplement.iri if supplement is not None else name
        if iri is not None and iri in self._l1:
            self._l1.set_standing(iri, found.standing)
        elif supplement is None:
            raise UsageError(f"/class: there is no input {name}")
        event = classified(found, supplement=name if supplement else None, iri=iri)
        await self._bus.publish(event)


def _needed(command: str, rest: str) -> str:
    if not rest:
        usage = next(name for name in HELP if name.split()[0] == command)
        raise UsageError(f"write it as {usage}")
    return rest
