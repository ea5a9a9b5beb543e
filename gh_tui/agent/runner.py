"""AgentRunner: the ReAct loop. Each cycle takes pending input, sends one request, runs its tools.

Everything that changes what the model sees happens at the start of a cycle, in the order in
which it is written here: supplements, then a pass if one is due, then the request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from gh_tui.agent.hooks import Hooks, Veto
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.reply import ReplyReader
from gh_tui.agent.supplements import SupplementDesk
from gh_tui.agent.toolbox import Toolbox
from gh_tui.agent.turns import TurnWriter
from gh_tui.clock import Clock
from gh_tui.context.assembly import Assembled
from gh_tui.errors import MemoryFullError, ProviderError, StreamInterrupted
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import Outcome
from gh_tui.providers.base import ChatProvider, Completed, Opened, ToolSpec, Usage
from gh_tui.providers.textcalls import calls_in_text
from gh_tui.providers.wire import as_sent

MAX_SHRINKS = 2
"""Passes that are tried for one request that does not fit."""

MAX_REPEATS = 3
"""The same calls so often in a row, and the next cycle offers no tools: the model must answer.
A model in the schema protocol is a small one and is stopped one repetition earlier."""

OF_HIDDEN_TURNS = frozenset({"recall", "search_memory"})
"""Tools that only help when some turn is not shown in full."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run of the loop ended; `text` is the answer or the reason."""

    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use."""

    max_cycles: int
    max_tokens: int | None
    temperature: float | None


class AgentRunner:
    """Runs the agent until it answers, fails or is cancelled; one run at a time."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        provider: ChatProvider,
        memory: WorkingMemory,
        desk: SupplementDesk,
        turns: TurnWriter,
        toolbox: Toolbox,
        hooks: Hooks,
        limits: RunLimits,
        *,
        cycle: int = 0,
        request: int = 0,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._provider = provider
        self._memory = memory
        self._desk = desk
        self._turns = turns
        self._toolbox = toolbox
        self._hooks = hooks
        self._limits = limits
        self._cycle = cycle
        self._request = request
        self._calls = ""
        self._repeats = 0
        self._going = asyncio.Event()
        self._going.set()
        self._step: asyncio.Future[str | None] | None = None
        self._interrupted = False

    @property
    def paused(self) -> bool:
        """Whether it waits, or will wait, between cycles."""
        return not self._going.is_set()

    def _offered(self) -> Sequence[ToolSpec]:
        """The tools of the next request.

        In the schema protocol they are no part of the prompt, so those that can find nothing
        now are left out: a small model calls what it is offered.
        """
        specs = self._toolbox.specs
        if self._provider.tool_protocol == "native":
            return () if self._repeats >= MAX_REPEATS else specs
        if self._repeats >= MAX_REPEATS - 1:
            return ()
        if self._memory.hides_something:
            return specs
        return [spec for spec in specs if spec.name not in OF_HIDDEN_TURNS]

    def pause(self) -> None:
        """Wait before the next cycle."""
        self._going.clear()

    def resume(self) -> None:
        """Go on."""
        self._going.set()

    async def has_work(self) -> bool:
        """Wait while paused; whether there is anything for the model to answer then."""
        await self._going.wait()
        return self._desk.waiting > 0 or not self._memory.answered

    def interrupt(self) -> None:
        """Cut the running step short, if one runs: the loop goes on with what is pending."""
        if self._step is not None and not self._step.done():
            self._interrupted = True
            self._step.cancel()

    async def run(self) -> RunResult:
        """Work through cycles until there is an answer and nothing is pending.

        Raises:
            asyncio.CancelledError: cancelled; what came of a reply is kept as a turn.
        """
        self._calls, self._repeats = "", 0
        answer: str | None = None
        for _ in range(self._limits.max_cycles):
            await self._going.wait()
            if answer is not None and not self._desk.pending:  # withdrawn during a pause
                return RunResult("done", answer)
            allowed = await self._hooks.run("CycleStart", self._cycle + 1)
            if isinstance(allowed, Veto):
                return RunResult("failed", allowed.reason)
            self._cycle += 1
            await self._bus.publish(ev.CycleStarted(cycle=self._cycle))
            try:
                answer = await self._interruptible(self._step_once())
            except (ProviderError, MemoryFullError) as error:
                await self._desk.deferred(str(error))
                return RunResult("failed", str(error))
            if answer is not None and not self._desk.pending:
                return RunResult("done", answer)
        return RunResult(
            "failed",
            f"stopped after {self._limits.max_cycles} cycles without an answer; "
            "say how to go on (setting tools.max_cycles)",
        )

    async def _interruptible(self, work: Coroutine[object, object, str | None]) -> str | None:
        self._step = asyncio.ensure_future(work)
        try:
            return await self._step
        except asyncio.CancelledError:
            run = asyncio.current_task()
            if not self._interrupted or (run is not None and run.cancelling()):
                raise
            return None
        finally:
            self._step, self._interrupted = None, False

    async def _step_once(self) -> str | None:
        """One cycle; the answer, or None where the loop has to go on."""
        reply = await self._cycle_once()
        if not reply.calls:
            return reply.text
        calls = json.dumps([[call.name, call.arguments] for call in reply.calls], sort_keys=True)
        self._repeats = self._repeats + 1 if calls == self._calls else 1
        self._calls = calls
        await self._toolbox.run_all(reply.calls)
        return None

    async def _cycle_once(self) -> Completed:
        await self._desk.take()
        await self._memory.make_room()
        for attempt in range(MAX_SHRINKS + 1):
            try:
                async with self._desk.sending(self._memory.assemble) as assembled:
                    return await self._send(assembled)
            except MemoryFullError:
                if attempt == MAX_SHRINKS or not await self._memory.shrink():
                    raise
            except ProviderError as error:
                if error.kind != "overflow":
                    raise
                if attempt == MAX_SHRINKS:
                    raise self._memory.too_large(str(error), tried=attempt) from error
                if not await self._memory.shrink(again=attempt > 0):
                    raise self._memory.too_large(str(error)) from error
        raise AssertionError("the loop returns or raises")

    async def _send(self, assembled: Assembled) -> Completed:
        self._request += 1
        await self._bus.publish(
            ev.RequestSent(
                request=self._request,
                cycle=self._cycle,
                purpose="agent",
                manifest=assembled.manifest,
                tokens=assembled.tokens,
                tokens_basis=self._memory.tokens_basis,
                budget=self._memory.budget,
                prefix_kept=assembled.prefix_kept,
            )
        )
        self._memory.sent(assembled)

        async def opened(accepted: Opened) -> None:
            self._memory.delivered()
            sent = as_sent(accepted.messages or assembled.messages, joined=accepted.joined)
            carriers = {iri: sent[iri] for iri in assembled.carried}
            await self._desk.delivered(carriers, self._cycle, self._request)

        reader = ReplyReader(self._bus, self._clock, self._request, opened)
        deltas = self._provider.stream(
            assembled.messages,
            self._offered(),
            max_tokens=self._limits.max_tokens,
            temperature=self._limits.temperature,
        )
        try:
            reply = await reader.read(deltas)
        except StreamInterrupted as error:
            await self._keep(reader, f"interrupted: {error}")
            await self._failed(error)
            raise
        except ProviderError as error:
            await self._failed(error)
            raise
        except asyncio.CancelledError:
            await self._keep(reader, "interrupted by the user")
            raise
        try:
            await self._turns.add_reply(reply)
            await self._after(reply, assembled)
        except asyncio.CancelledError:
            await self._toolbox.give_up(reply.calls)
            raise
        return reply

    async def _keep(self, reader: ReplyReader, reason: str) -> None:
        if reader.text:
            await self._turns.add_partial(reader.text, reason)

    async def _failed(self, error: ProviderError) -> None:
        await self._bus.publish(
            ev.ProviderFailed(request=self._request, kind=error.kind, message=str(error))
        )

    async def _learn(self, assembled: Assembled, usage: Usage) -> None:
        cut = self._memory.prompt_is_cut
        self._memory.learn(assembled, usage)
        if self._memory.prompt_is_cut != cut:
            await self._bus.publish(
                ev.TruncationSuspected(
                    request=self._request,
                    sent=assembled.tokens,
                    reported=usage.prompt_tokens,
                    cleared=cut,
                )
            )

    async def _after(self, reply: Completed, assembled: Assembled) -> None:
        if reply.usage is not None:
            await self._learn(assembled, reply.usage)
        names = {spec.name for spec in self._toolbox.specs}
        if not reply.calls and calls_in_text(reply.text, names):
            await self._bus.publish(
                ev.Notice(
                    level="warning",
                    text="The model wrote a tool call as text and nothing was run. Models that do "
                    "not call tools work with the setting provider.tool_protocol=schema.",
                )
            )
        if not reply.calls and reply.finish_reason == "length":
            await self._bus.publish(
                ev.Notice(
                    level="warning",
                    text="The answer was cut at its limit of tokens; ask for the rest, or raise "
                    "provider.max_tokens.",
                )
            )
