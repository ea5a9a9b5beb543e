"""Faulted sessions with real processes: `gh-tui run --json`, SIGKILL, `gh-tui resume ID --json`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from gh_tui.chaos.oracle import Verdict, examine
from gh_tui.chaos.plan import Action, Plan, make_plan
from gh_tui.chaos.process import ProcessLife
from gh_tui.chaos.stage import Stage
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState

PATIENCE = 180.0
"""Seconds for a run."""
_STEP = 0.02
_QUIET = 0.15
"""Seconds without a line after which a session that says it is done is believed."""
_DEAF = 5.0
"""Seconds to wait for an acknowledgement."""
_TRIES = 6


class KillRun:
    """One faulted session over several processes."""

    def __init__(self, plan: Plan, home: Path) -> None:
        self._stage = Stage(plan)
        self._home = home
        self._acting: set[asyncio.Task[None]] = set()
        self._started = 0
        self._killed = False
        self._state = SessionState()
        self._owed = False
        """An input came after the last end of a task, so another one is to begin."""
        self._unheard = 0
        """Inputs that the program was given and has not acknowledged."""
        self._cycles = 0
        self._life: ProcessLife

    async def go(self) -> Verdict:
        """Carry out the plan and judge it."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._begin(None)
                for text in self._stage.plan.inputs:
                    await self._say("user_input", text)
                    await self._settle()
                while (action := self._stage.next_missed()) is not None:
                    self._start(action)
                    await self._settle()
                return self._stage.judge(await self._finish())
        except TimeoutError:
            return Verdict(faults=[f"hung: not done after {PATIENCE:g} s"])
        finally:
            await self._drop_actions()
            await self._life.kill()

    async def _begin(self, session: str | None) -> None:
        self._killed, self._owed, self._unheard = False, False, 0
        self._life = ProcessLife(self._stage, self._home, session, self._hear)
        started, cycles = self._started, self._cycles
        await self._life.start()
        if session is None:
            return
        self._stage.faults += self._stage.promises.broken_by(self._state, self._recording)
        await asyncio.sleep(_QUIET)
        if (self._life.server.requests or self._cycles > cycles) and started == self._started:
            self._stage.faults.append("something ran by itself after the resume")

    @property
    def _recording(self) -> Path:
        return self._home / "sessions" / f"{self._state.session}.jsonl"

    async def _settle(self) -> None:
        """Wait until the agent rests; a kill in between is followed by a resume."""
        while not (self._killed or self._at_rest()):
            if self._life.ended:
                self._stage.faults.append(f"the program ended: {self._life.complaint}")
                return
            if self._state.paused and self._life.seconds_quiet > _QUIET:
                await self._say("user_input", "/resume")
            await asyncio.sleep(_STEP)
        if self._killed:
            await self._revive()
            await self._settle()

    def _at_rest(self) -> bool:
        """Nothing is at work, as far as the lines tell."""
        state = self._state
        patience = _DEAF if self._unheard > 0 else _QUIET
        if self._acting or state.running or self._life.seconds_quiet < patience:
            return False
        waiting = state.queued or any(s.status == "pending" for s in state.supplements.values())
        return not (waiting and self._owed)

    async def _revive(self) -> None:
        await self._drop_actions()
        await self._end_life()
        name = self._state.session
        if not name:  # killed before it said a word
            await self._begin(None)
            return
        self._state, faults = examine(self._recording, self._stage.crashes, finished=False)
        self._stage.faults += faults
        await self._begin(name)

    async def _end_life(self) -> None:
        await self._life.kill()
        self._stage.log += self._life.log

    async def _drop_actions(self) -> None:
        for task in self._acting:
            task.cancel()
        await asyncio.gather(*self._acting, return_exceptions=True)

    async def _finish(self) -> SessionState:
        finished = self._stage.plan.ending != "crash"
        if self._stage.plan.ending == "drain":
            await self._drain()
        if finished:
            await self._life.stop()
            self._stage.log += self._life.log
        else:
            self._stage.crashes += 1
            await self._end_life()
        state, faults = examine(self._recording, self._stage.crashes, finished=finished)
        faults += self._stage.promises.broken_by(state, self._recording)
        self._stage.faults += faults
        return state

    async def _drain(self) -> None:
        self._stage.calm()
        for attempt in range(_TRIES):
            await self._say("user_input", "/resume" if attempt % 2 else "Go on, please")
            self._owed = True
            await self._settle()
            state = self._state
            if state.outcome == "done" and not (state.pending or state.queued):
                return
        self._stage.faults.append(
            f"still waiting at the end: {[entry.text for entry in state.pending]} "
            f"{list(state.queued.values())}; last: {state.answer}"
        )

    # What happens meanwhile.

    def _hear(self, envelope: Envelope) -> None:
        self._state.apply(envelope)
        self._note(envelope.event)
        event = envelope.event
        if isinstance(event, ev.ToolRequested) and event.needs_approval:
            self._spawn(Action("approve", "", 0, 0.005, event.call))
        for action in self._stage.hear(envelope):
            self._start(action)

    def _note(self, event: ev.Event) -> None:
        match event:
            case ev.UserInputReceived() | ev.SupplementaryInputReceived():
                self._owed = True
                self._unheard -= 1
            case ev.TaskFinished(outcome=outcome):
                self._owed = outcome == "done"
            case ev.CycleStarted():
                self._cycles += 1
            case _:
                pass

    async def _say(self, kind: str, text: str) -> None:
        """Something that the program must acknowledge."""
        self._unheard += not text.startswith("/") or text.startswith("/now ")
        await self._life.say(kind, text)

    def _start(self, action: Action) -> None:
        self._started += 1
        self._spawn(action)

    def _spawn(self, action: Action) -> None:
        task = asyncio.create_task(self._act(action))
        self._acting.add(task)
        task.add_done_callback(self._acting.discard)

    async def _act(self, action: Action) -> None:
        await asyncio.sleep(action.delay)
        if self._killed:
            return
        life, chance = self._life, self._stage.chance
        match action.kind:
            case "crash":
                self._stage.crashes += 1
                self._killed = True
                life.shoot()
            case "supplement" | "submit":
                await self._say("supplementary_input", action.text)
            case "queue":
                await self._say("user_input", action.text)
            case "now":
                await self._say("user_input", f"/now {action.text}")
            case "approve":
                decision = "allow" if chance.random() < 0.7 else "deny"
                await life.send({"type": "approval", "call": action.text, "decision": decision})
            case "cancel" | "escape":
                await life.send({"type": "cancel"})
            case "pause":
                await life.say("user_input", "/pause")
                await asyncio.sleep(chance.random() * 0.05)
                await life.say("user_input", "/resume")
            case "withdraw":
                waiting = [entry.id for entry in self._state.pending]
                if waiting := [*waiting, *self._state.queued]:
                    await life.say("user_input", f"/withdraw {chance.choice(waiting)}")
            case _:
                await life.say("user_input", f"/{action.kind}")


async def run_killed(seed: int) -> Verdict:
    """One faulted session with processes and SIGKILL."""
    with tempfile.TemporaryDirectory(prefix="gh-tui-chaos-") as home:
        return await KillRun(make_plan(seed, kill=True), Path(home)).go()


async def run_all_killed(seeds: Iterable[int]) -> AsyncIterator[tuple[int, Verdict]]:
    """Such sessions, as many at once as there are cores; results as they come."""
    waiting = iter(seeds)
    running: dict[asyncio.Task[Verdict], int] = {}
    while True:
        while len(running) < (os.cpu_count() or 1) and (seed := next(waiting, None)) is not None:
            running[asyncio.create_task(run_killed(seed))] = seed
        if not running:
            return
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            yield running.pop(task), task.result()
