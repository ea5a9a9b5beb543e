"""The slash commands: what a user can ask of the session itself, from the box or from a pipe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from gh_tui.agent.answers import Answers
from gh_tui.agent.coherence import CoherenceWatch
from gh_tui.agent.command_list import COMMANDS, SPEAKING
from gh_tui.agent.engine import Engine
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.preview import preview_words
from gh_tui.agent.scoring import Scorer, classified
from gh_tui.agent.supervisor import CLASSES, of_class
from gh_tui.agent.supplements import SupplementDesk
from gh_tui.agent.task import task_from_input
from gh_tui.clock import Clock
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.state import SessionState
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import iri_for

Handler = Callable[[str, str | None], Awaitable[str | None]]


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
        desk: SupplementDesk,
        answers: Answers,
        coherence: CoherenceWatch,
        state: SessionState,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._engine = engine
        self._l1 = l1
        self._memory = memory
        self._scorer = scorer
        self._desk = desk
        self._answers = answers
        self._coherence = coherence
        self._state = state
        self._handlers: dict[str, Handler] = {
            "/adds": self._adds,
            "/attach": self._attach,
            "/class": self._classify,
            "/compact": self._compact,
            "/help": self._help,
            "/pause": self._pause,
            "/pin": self._pin,
            "/preview": self._preview,
            "/rebase": self._rebase,
            "/recall": self._recall,
            "/replaces": self._replaces,
            "/resume": self._resume,
            "/task": self._refine,
            "/undo": self._undo,
            "/unpin": self._unpin,
            "/unrelated": self._unrelated,
            "/withdraw": self._withdraw,
        }

    async def run(
        self, text: str, client_id: str | None = None, attach: bool = False
    ) -> str | None:
        """Carry out one command other than /exit.

        Args:
            text: the whole line, beginning with `/`.
            client_id: goes with what /now and /queue accept.
            attach: whether that goes as an attachment.

        Returns:
            A line for the user, or None where the events say it all.

        Raises:
            GhError: it is unknown, incomplete, or cannot be done now; says why.
        """
        name, _, rest = text.strip().partition(" ")
        command = next((command for command in COMMANDS if command.name == name), None)
        handler = self._handlers.get(name)
        if command is None or (handler is None and name not in SPEAKING):
            known = ", ".join(command.usage for command in COMMANDS)
            raise UsageError(
                f"{name} is not a command; there are {known}. "
                "Begin with // to send a text that starts with a slash."
            )
        if command.needs_arguments and not rest.strip():
            raise UsageError(f"write it as {command.usage}")
        if handler is not None:
            return await handler(rest.strip(), client_id)
        speak = self._engine.interrupt if name == "/now" else self._engine.input
        await speak(rest.strip(), client_id, attach)
        return None

    async def _help(self, rest: str, client_id: str | None) -> str:
        return "\n".join(f"{command.usage}  {command.help}" for command in COMMANDS)

    async def _compact(self, rest: str, client_id: str | None) -> str | None:
        changed = await self._memory.run_pass("command")
        return "the pass found nothing to take" if changed is False else None

    async def _preview(self, rest: str, client_id: str | None) -> None:
        found = self._memory.preview()
        words = preview_words(found, self._l1)
        await self._bus.publish(found)
        await self._bus.publish(ev.Notice(level="info", text=words, client_id=client_id))

    async def _pin(self, rest: str, client_id: str | None) -> None:
        iri = self._iri("/pin", rest)
        if (newer := self._l1.turn(iri).replaced_by) is not None:
            raise UsageError(f"/pin: {newer} replaces turn {rest}; say it again to have it back")
        now, memory = self._clock.monotonic(), self._memory
        events = self._l1.pin(iri, now, budget=memory.budget, factor=memory.factor)
        await self._bus.publish_all(events)

    async def _unpin(self, rest: str, client_id: str | None) -> None:
        iri = self._iri("/unpin", rest)
        if self._l1.turn(iri).is_task:
            raise UsageError("/unpin: the task is always protected; /task refines it")
        await self._bus.publish_all(self._l1.demote(iri))

    async def _recall(self, rest: str, client_id: str | None) -> None:
        iri = self._iri("/recall", rest)
        events = self._l1.recall(iri, self._clock.monotonic(), self._memory.factor)
        await self._bus.publish_all(events)

    async def _attach(self, rest: str, client_id: str | None) -> None:
        iri = self._iri("/attach", rest)
        events = self._l1.attach(iri, self._memory.factor)
        if not events:
            raise UsageError(
                f"/attach: only an input of yours that is large and shown whole; turn {rest} is not"
            )
        await self._bus.publish_all(events)

    async def _pause(self, rest: str, client_id: str | None) -> None:
        await self._engine.pause("command")

    async def _resume(self, rest: str, client_id: str | None) -> None:
        await self._engine.resume("command")

    async def _withdraw(self, rest: str, client_id: str | None) -> None:
        await self._engine.withdraw(rest)

    def _iri(self, command: str, word: str) -> str:
        iri = iri_for(self._bus.session, int(word)) if word.isdecimal() else word
        if iri not in self._l1:
            raise UsageError(f"{command}: there is no turn {word} in this session")
        if self._l1.turn(iri).withdrawn:
            raise UsageError(f"{command}: you took turn {word} back; say it again to use it")
        return iri

    async def _undo(self, rest: str, client_id: str | None) -> None:
        events = self._l1.undo_pass(self._clock.monotonic(), factor=self._memory.factor)
        if not events:
            raise UsageError("/undo: there is no pass to undo")
        await self._bus.publish_all(events)

    async def _refine(self, text: str, client_id: str | None) -> None:
        if self._state.task is None:
            raise UsageError("/task: there is no task yet; the first input becomes it")
        task = replace(self._state.task, what=text)
        await self._bus.publish(ev.TaskRefined(task=task, by="user"))
        self._memory.refined = task
        await self._scorer.set_task(task)

    async def _rebase(self, word: str, client_id: str | None) -> None:
        shifts = self._state.shifts
        if not word and not shifts:
            raise UsageError("/rebase IRI: name the input that is the task now")
        iri = self._iri("/rebase", word or shifts[-1].boundary)
        turn = self._l1.turn(iri)
        if turn.role != "user":
            raise UsageError("/rebase: only an input of yours can be the task")
        task = task_from_input(turn.text)
        await self._bus.publish(ev.TaskStarted(task=task, by="user", iri=iri))
        await self._bus.publish_all(self._l1.set_task(iri, self._memory.factor))
        self._memory.refined = None
        await self._scorer.set_task(task)
        self._coherence.rebase(turn.embedding)

    async def _classify(self, rest: str, client_id: str | None) -> None:
        name, _, class_ = rest.partition(" ")
        class_ = class_.strip()
        if class_ not in CLASSES:
            raise UsageError(f"/class ID CLASS: the classes are {', '.join(CLASSES)}")
        found = of_class(class_, "user")
        supplement = self._state.supplements.get(name)
        iri = supplement.iri if supplement is not None else self._iri("/class", name)
        back: list[ev.Event] = []
        if iri is not None and iri in self._l1:
            back = self._l1.set_standing(iri, found.standing, self._memory.factor)
        elif supplement is not None:
            self._desk.reclassify(name, found)
        event = classified(found, supplement=name if supplement else None, iri=iri)
        await self._bus.publish_all([event, *back])
        if found.acts:
            await self._engine.control(class_)

    async def _replaces(self, rest: str, client_id: str | None) -> None:
        await self._answers.answer(rest, "replaces")

    async def _adds(self, rest: str, client_id: str | None) -> None:
        await self._answers.answer(rest, "adds")

    async def _unrelated(self, rest: str, client_id: str | None) -> None:
        await self._answers.answer(rest, "unrelated")
