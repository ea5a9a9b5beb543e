"""Carrying out a plan in this process: a real session, a real server on loopback, and crashes.

A crash drops every object of the session at once; the recording goes on as a copy that is cut
at a random byte after what was last synced, as a power cut would leave it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path

from gh_tui.chaos.life import Life
from gh_tui.chaos.oracle import Verdict, examine
from gh_tui.chaos.plan import Action, Plan
from gh_tui.chaos.stage import Stage
from gh_tui.errors import GhError
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.runtime import Mind, Session

PATIENCE = 30.0
"""Seconds without any event after which a run counts as hung; a whole one takes a fraction of 1."""
_QUIET = 0.004
_PAUSE = 0.1
"""Seconds after which somebody ends a pause."""
_TRIES = 6
_RESUMED = 0.3
"""Share of the crashes after which the user asks for what waited, before saying anything else."""


class Run:
    """One faulted session."""

    def __init__(self, plan: Plan, home: Path, mind: Mind) -> None:
        self._stage = Stage(plan)
        self._home = home
        self._mind = mind
        self._acting: set[asyncio.Task[None]] = set()
        self._started = 0
        self._answered = False
        """The latest task of this life ended with an answer."""
        self._crashed = asyncio.Event()
        self._cut = home
        self._patience = asyncio.timeout(None)
        self._life: Life

    async def go(self) -> Verdict:
        """Carry out the plan and judge it."""
        try:
            async with asyncio.timeout(PATIENCE) as self._patience:
                await self._live()
                return self._stage.judge(await self._finish())
        except TimeoutError:
            await self._leave()
            return Verdict(faults=[f"hung: nothing happened for {PATIENCE:g} s"])

    async def _live(self) -> None:
        await self._begin(None)
        for text in self._stage.plan.inputs:
            await self._say(text)
            await self._settle()
        while (action := self._stage.next_missed()) is not None:
            self._start(action)
            await self._settle()

    async def _begin(self, recording: Path | None) -> None:
        self._life = Life(self._stage, self._home, self._mind, recording, self._hear)
        self._crashed.clear()
        self._answered = False
        started = self._started
        await self._life.start()
        if recording is not None:
            await self._look_around(started)

    async def _look_around(self, started: int) -> None:
        """After a resume: every promise is known, and nothing runs by itself."""
        state = self._life.session.state
        self._stage.faults += self._stage.promises.broken_by(state, self._life.recording)
        await asyncio.sleep(_QUIET)
        if (self._life.server.requests or self._life.session.busy) and started == self._started:
            self._stage.faults.append("something ran by itself after the resume")

    async def _settle(self) -> None:
        """Wait until the agent rests; a crash in between is followed by a resume."""
        while True:
            crash = asyncio.create_task(self._crashed.wait())
            rest = asyncio.create_task(self._rest())
            try:
                await asyncio.wait({crash, rest}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                crash.cancel()
                rest.cancel()
                await asyncio.gather(crash, rest, return_exceptions=True)
            if not self._crashed.is_set():
                self._look_for_idlers()
                return
            await self._revive()
            if self._stage.chance.random() < _RESUMED:
                await self._say("/resume")

    def _look_for_idlers(self) -> None:
        """An agent that rests after its answer has nothing waiting for it."""
        state = self._life.session.state
        if self._answered and (state.pending or state.queued):
            self._stage.faults.append("the agent rests although something waits")

    async def _rest(self) -> None:
        """Return when nobody says or does anything any more."""
        session = self._life.session
        while self._acting or session.busy:
            if self._acting:
                await asyncio.wait(set(self._acting), timeout=_PAUSE)
            else:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(session.wait_idle(), _PAUSE)
            if session.state.paused:  # by an input that was a phrase of control
                await session.command("/resume")

    async def _revive(self) -> None:
        for task in self._acting:
            task.cancel()
        await asyncio.gather(*self._acting, return_exceptions=True)
        await self._close_life()
        # It may have ended before a whole line was on disk.
        await self._begin(self._cut if b"\n" in self._cut.read_bytes() else None)

    async def _close_life(self) -> None:
        await self._life.end()
        self._stage.log += self._life.log or []

    async def _finish(self) -> SessionState:
        """End as the plan says; the state that the recording is left with."""
        if self._stage.plan.ending == "crash":
            self._crash()
            await self._close_life()
            state, faults = examine(self._cut, self._stage.crashes, finished=False)
            faults += self._stage.promises.broken_by(state, self._cut)
        else:
            if self._stage.plan.ending == "drain":
                await self._drain()
            session, recording = self._life.session, self._life.recording
            await self._close_life()
            state, faults = examine(recording, self._stage.crashes, finished=True)
            faults += _inner_faults(session, state)
        self._stage.faults += faults
        return state

    async def _drain(self) -> None:
        """With a healthy server whatever waits must go."""
        self._stage.calm()
        for attempt in range(_TRIES):
            await self._say("/resume" if attempt % 2 else "Go on, please")
            await self._settle()
            state = self._life.session.state
            if state.outcome == "done" and not (state.pending or state.queued):
                return
        self._stage.faults.append(
            f"still waiting at the end: {[entry.text for entry in state.pending]} "
            f"{list(state.queued.values())}; last: {state.answer}"
        )

    async def _leave(self) -> None:
        for task in self._acting:
            task.cancel()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._life.end(), 2.0)

    async def _say(self, text: str) -> None:
        with contextlib.suppress(GhError):
            await self._life.session.submit(text)

    # What happens meanwhile.

    def _hear(self, envelope: Envelope) -> None:
        self._patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
        event = envelope.event
        if isinstance(event, ev.TaskFinished):
            self._answered = event.outcome == "done"
        if isinstance(event, ev.ToolRequested) and event.needs_approval:
            self._spawn(self._approve(event.call))
        for action in self._stage.hear(envelope):
            self._start(action)

    def _start(self, action: Action) -> None:
        self._started += 1
        self._spawn(self._act(action))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._acting.add(task)
        task.add_done_callback(self._acting.discard)

    async def _approve(self, call: str) -> None:
        chance = self._stage.chance
        await asyncio.sleep(chance.choice((0.0, 0.005, 0.1)))
        with contextlib.suppress(GhError):
            await self._life.session.approve(call, chance.random() < 0.7)

    async def _act(self, action: Action) -> None:
        if action.delay:
            await asyncio.sleep(action.delay)
        if self._crashed.is_set():
            return
        if action.kind == "crash":
            self._crash()
            return
        with contextlib.suppress(GhError):
            await self._do(action)

    def _crash(self) -> None:
        self._stage.crashes += 1
        folder = self._home / f"life{self._stage.crashes}"
        self._cut = self._life.crash(folder, self._stage.chance)
        self._crashed.set()

    async def _do(self, action: Action) -> None:
        session = self._life.session
        match action.kind:
            case "supplement":
                await session.supplement(action.text)
            case "submit":
                await session.submit(action.text)
            case "queue":
                await session.queue(action.text)
            case "cancel" | "escape":
                await session.cancel(by_key=action.kind == "escape")
            case "pause":
                await session.command("/pause")
                await asyncio.sleep(self._stage.chance.random() * 0.02)
                await session.command("/resume")
            case _:
                await self._command(action)

    async def _command(self, action: Action) -> None:
        """One of the commands that need nothing, an entry, or a turn."""
        session, chance = self._life.session, self._stage.chance
        match action.kind:
            case "compact" | "undo":
                await session.command(f"/{action.kind}")
            case "now":
                await session.command(f"/now {action.text}")
            case "withdraw":
                waiting = [entry.id for entry in session.state.pending]
                if waiting := [*waiting, *session.state.queued]:
                    await session.withdraw(chance.choice(waiting))
            case "class":
                if known := list(session.state.supplements):
                    await session.command(f"/class {chance.choice(known)} AddContext")
            case _:
                if turns := list(session.state.turns):
                    await session.command(f"/{action.kind} {chance.choice(turns)}")


def _inner_faults(session: Session, recorded: SessionState) -> list[str]:
    """What is wrong with a session that was closed."""
    faults = [f"a subscriber raised {error!r}" for error in session.bus.failures]
    if recorded != session.state:
        faults.append("the recording does not fold to the live state")
    return faults
