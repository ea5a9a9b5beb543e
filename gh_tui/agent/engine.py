"""The engine: begins accepted inputs one after the other, runs the agent on each, and ends tasks.

What is accepted is delivered: an input that comes while the agent finishes starts the next run
by itself; after a failure everything waits, visibly, for the user's next word.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence

from gh_tui.agent.approval import ApprovalDesk, Decision
from gh_tui.agent.attachments import Oversize, attaches, told
from gh_tui.agent.coherence import CoherenceWatch
from gh_tui.agent.hooks import Hooks, Veto
from gh_tui.agent.inbox import Inbox
from gh_tui.agent.runner import AgentRunner, RunResult
from gh_tui.agent.supplements import SupplementDesk
from gh_tui.agent.turns import uninterrupted
from gh_tui.errors import GhError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ReturnReason
from gh_tui.memory.turn import iri_for
from gh_tui.text import one_line

_QUOTED = 5


class Engine:
    """Drives one session."""

    def __init__(
        self,
        bus: EventBus,
        inbox: Inbox,
        desk: SupplementDesk,
        runner: AgentRunner,
        coherence: CoherenceWatch,
        approvals: ApprovalDesk,
        hooks: Hooks,
        measure: Callable[[str], Oversize | None],
    ) -> None:
        self._bus = bus
        self._inbox = inbox
        self._desk = desk
        self._runner = runner
        self._coherence = coherence
        self._approvals = approvals
        self._hooks = hooks
        self._measure = measure
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._run: asyncio.Task[RunResult | None] | None = None
        self._coming = 0
        self._held = False
        self._retry = False
        desk.on_control = self.control
        self._loop = asyncio.create_task(self._work(), name="engine")

    @property
    def busy(self) -> bool:
        """Whether a task runs or is about to."""
        return not self._idle.is_set()

    @property
    def paused(self) -> bool:
        """Whether the agent waits between cycles."""
        return self._runner.paused

    async def input(self, text: str, client_id: str | None = None, attach: bool = False) -> None:
        """Accept an input of its own: it runs when what came before is done.

        Args:
            text: what the user says.
            client_id: goes with what is recorded of it.
            attach: as an attachment; one that does not fit whole becomes one, and that is told.

        Raises:
            UsageError: if the queue limit is reached.
            RecordingError: if it could not be recorded; then it was not accepted.
        """
        found = self._measure(text)
        attached = attaches(found, attach)

        async def work() -> None:
            with self._place():
                iri = await self._inbox.accept(text, client_id, attached=attached)
            self._start()
            await self._tell(iri, found, attach)

        # Once it is on disk it also runs, even if whoever said it has gone.
        await uninterrupted(work())

    async def supplement(
        self, text: str, client_id: str | None = None, attach: bool = False
    ) -> str:
        """Accept an input for the running task, as `input`; with none running, a run starts.

        Returns:
            Its id.

        Raises:
            UsageError: if the queue limit is reached.
            RecordingError: if it could not be recorded; then it was not accepted.
        """
        found = self._measure(text)
        attached = attaches(found, attach)

        async def work() -> str:
            with self._place():
                name = await self._desk.accept(text, client_id, attached=attached)
            self._start()
            await self._tell(name, found, attach)
            return name

        return await uninterrupted(work())

    async def _tell(self, name: str, found: Oversize | None, attach: bool) -> None:
        """Say that an input went as an attachment, if nobody asked for that."""
        if found is not None and not attach and attaches(found, attach):
            with contextlib.suppress(GhError):  # the input itself is on disk
                await self._bus.publish(told(name, found))

    async def interrupt(self, text: str, client_id: str | None = None, attach: bool = False) -> str:
        """Accept a supplement and cut the running step short, so that it is delivered now.

        A pause ends, since nothing is delivered during one.

        Returns and raises as `supplement`.
        """
        name = await self.supplement(text, client_id, attach)
        self._runner.interrupt()
        if self._runner.paused:
            await self.resume("now")
        return name

    async def control(self, class_: str) -> None:
        """Do what an input of a control class asks for; the input itself is delivered too.

        Args:
            class_: Pause, Resume, SkipCurrentStep or AbortCurrentStep.
        """
        if class_ == "Pause":
            await self.pause("input")
        elif class_ == "Resume" and self._runner.paused:
            await self.resume("input")
        elif class_ in ("SkipCurrentStep", "AbortCurrentStep"):
            self._runner.interrupt()

    async def withdraw(self, name: str) -> str:
        """Give back one supplement that no request has carried, or one queued input; its text.

        Args:
            name: a supplement's id, or the number or IRI of a turn or of a queued input.

        Raises:
            UsageError: if it does not wait (any more), or is on its way; says which.
            RecordingError: if that could not be recorded; then it waits as before.
        """
        iri = iri_for(self._bus.session, int(name)) if name.isdecimal() else name

        async def work() -> str:
            text = await self._inbox.withdraw(iri)
            return await self._desk.withdraw(iri) if text is None else text

        return await uninterrupted(work())

    def decide(self, call: str, decision: Decision) -> None:
        """Answer a call that waits for approval.

        Raises:
            UsageError: if no such call waits.
        """
        if not self._approvals.decide(call, decision):
            raise UsageError(f"no call {call!r} waits for approval")

    async def cancel(self, reason: ReturnReason) -> list[str]:
        """Stop the agent and hand back what it has not taken, in order."""
        run = self._run
        if run is not None and not run.done():
            run.cancel()
            await asyncio.wait([run])
        texts = await self._desk.return_all(reason)
        texts += await self._inbox.return_all(reason)
        if run is not None:
            await self._idle.wait()
        return texts

    async def pause(self, by: str) -> None:
        """Wait before the next cycle."""
        if not self._runner.paused:
            self._runner.pause()
            await self._bus.publish(ev.AgentPaused(by=by))

    async def resume(self, by: str) -> None:
        """Go on after a pause, or try again what a failure left waiting."""
        if self._runner.paused:
            self._runner.resume()
            await self._bus.publish(ev.AgentResumed(by=by))
        elif not self.busy and (len(self._inbox) or await self._runner.has_work()):
            self._retry = True
            self._start()

    async def wait_idle(self) -> None:
        """Return when no task runs and no accepted input is left to begin."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stop at once; accepted inputs stay in the recording as pending."""
        for task in (self._run, self._loop):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait([task])
        await self._desk.close()

    def _start(self) -> None:
        self._held = False
        self._idle.clear()
        self._wake.set()

    def _has_work(self) -> bool:
        return not self._held and bool(self._retry or len(self._inbox) or self._desk.pending)

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._has_work():
                await self._run_once()
            if not self._wake.is_set():
                self._idle.set()

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """A place among what waits while the agent works, for an input that is being accepted."""
        waiting = self._desk.pending + len(self._inbox) + self._coming
        if self.busy and waiting >= self._desk.limit:
            raise UsageError(
                f"{self._desk.limit} inputs are waiting already; let the agent read some, or "
                "withdraw one (setting supplements.limit)"
            )
        self._coming += 1
        try:
            yield
        finally:
            self._coming -= 1

    async def _run_once(self) -> None:
        self._run = asyncio.create_task(self._run_task(), name="run")
        await asyncio.wait([self._run])
        result: RunResult | None
        if self._run.cancelled():
            result = RunResult("cancelled", "stopped by the user")
        elif (error := self._run.exception()) is not None:
            result = RunResult("failed", _words(error))
        else:
            result = self._run.result()
        self._run = None
        self._held = result is not None and result.outcome != "done"
        self._runner.resume()
        if result is not None:
            await self._finish(result)

    async def _run_task(self) -> RunResult | None:
        """The result; None if what was to be run has been withdrawn."""
        self._retry = False
        # What was typed before the next input stands before it; nothing stands before the task.
        if not self._inbox.begins_task:
            await self._desk.take()
        if len(self._inbox):
            await self._inbox.begin_next()
            await self._coherence.check_input()
        if not await self._runner.has_work():
            return None
        result = await self._runner.run()
        await self._coherence.check_input()
        return result

    async def _finish(self, result: RunResult) -> None:
        try:
            changed = await self._hooks.run("TaskEnd", result)
        except Exception as error:  # the engine outlives any hook
            changed = RunResult("failed", _words(error))
        if isinstance(changed, Veto):
            changed = RunResult("failed", changed.reason)
        with contextlib.suppress(GhError):
            await self._bus.publish(ev.TaskFinished(outcome=changed.outcome, text=changed.text))
            if changed.outcome == "failed" and (texts := self._inbox.texts + self._desk.texts):
                told = waits(texts, self._bus.session)
                await self._bus.publish(ev.Notice(level="warning", text=told))


def waits(texts: Sequence[str], session: str) -> str:
    """What waits after a failure, and how to go on with it.

    Args:
        texts: at least one input that was not delivered.
        session: its id.
    """
    quoted = ", ".join(f"«{one_line(text, 60)}»" for text in texts[:_QUOTED])
    more = ", …" if len(texts) > _QUOTED else ""
    subject = "1 of your inputs waits" if len(texts) == 1 else f"{len(texts)} of your inputs wait"
    return (
        f"{subject}: {quoted}{more}. Your next input or /resume sends what waits; after the end "
        f"of the program, gh-tui resume {session} does."
    )


def _words(error: BaseException) -> str:
    if isinstance(error, GhError):
        return str(error)
    return f"an error inside the program stopped the task ({type(error).__name__}); try again"
