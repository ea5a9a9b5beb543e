"""Running the calls of a reply: checked, approved where needed, recorded before and after."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from gh_tui.agent.approval import ApprovalDesk
from gh_tui.agent.hooks import Hooks, Veto
from gh_tui.agent.tools.base import Tool, ToolResult, check_arguments
from gh_tui.agent.turns import TurnWriter, uninterrupted
from gh_tui.errors import ToolError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ToolCall
from gh_tui.providers.base import ToolSpec

INTERRUPTED = "[interrupted before it finished; it was not run again]"


class Toolbox:
    """The tools of one session."""

    def __init__(
        self,
        bus: EventBus,
        tools: Sequence[Tool],
        approvals: ApprovalDesk,
        hooks: Hooks,
        turns: TurnWriter,
    ) -> None:
        self._bus = bus
        self._tools = {tool.spec.name: tool for tool in tools}
        self._approvals = approvals
        self._hooks = hooks
        self._turns = turns

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of the tools."""
        return tuple(tool.spec for tool in self._tools.values())

    async def run_all(self, calls: Sequence[ToolCall]) -> None:
        """Run calls one after the other; afterwards each has exactly one result, always.

        Raises:
            asyncio.CancelledError: cancelled; what had no result got a synthetic one.
        """
        open_calls = list(calls)
        try:
            while open_calls:
                result = await self._run(open_calls[0])
                await self._close(open_calls.pop(0), result)
        finally:
            await self.give_up(open_calls)

    async def give_up(self, calls: Sequence[ToolCall]) -> None:
        """Give each of these calls, which will not run, a synthetic result."""

        async def work() -> None:
            for call in calls:
                await self._close(call, ToolResult(INTERRUPTED, ok=False))

        await uninterrupted(work())

    async def close_unfinished(self, call: ToolCall, *, begun: bool) -> None:
        """Give a synthetic result to a call that a crash left without one; it never runs again.

        Args:
            call: the call.
            begun: it may have run, in whole or in part.
        """
        text = INTERRUPTED if begun else "[the program ended before it ran; it was not run]"
        await self._close(call, ToolResult(text, ok=False))

    async def _run(self, call: ToolCall) -> ToolResult:
        try:
            preview = await self._check(call)
            started = await self._hooks.run("ToolStart", call)
            if isinstance(started, Veto):
                raise ToolError(f"not run: {started.reason}")
            if started != call:
                call = replace(started, id=call.id)
                preview = await self._check(call)
        except ToolError as error:
            await self._request(call, None)
            return ToolResult(str(error), ok=False)
        if (refusal := await self._refusal(call, preview)) is not None:
            return ToolResult(refusal, ok=False)
        try:
            result = ToolResult(await self._tools[call.name].run(call.arguments))
        except ToolError as error:
            result = ToolResult(str(error), ok=False)
        changed = await self._hooks.run("ToolEnd", result)
        return ToolResult(changed.reason, ok=False) if isinstance(changed, Veto) else changed

    async def _check(self, call: ToolCall) -> str | None:
        if call.error is not None:
            raise ToolError(call.error)
        tool = self._tools.get(call.name)
        if tool is None:
            raise ToolError(f"there is no tool {call.name!r}; there are: {', '.join(self._tools)}")
        check_arguments(tool.spec, call.arguments)
        return await asyncio.to_thread(tool.preview, call.arguments)

    async def _refusal(self, call: ToolCall, preview: str | None) -> str | None:
        """Why a call may not run; None if it may."""
        if preview is None:
            await self._request(call, None)
            return None
        with self._approvals.expecting(call.id):
            await self._request(call, preview)
            decision, by = await self._approvals.wait(call.id)
        await self._bus.publish(ev.ToolApproval(call=call.id, decision=decision, by=by))
        if decision == "allow":
            return None
        if by == "timeout":
            return "not run: nobody answered the request for approval in time"
        return "not run: the user denied it"

    async def _request(self, call: ToolCall, preview: str | None) -> None:
        await self._bus.publish(
            ev.ToolRequested(
                call=call.id,
                name=call.name,
                arguments=call.arguments,
                needs_approval=preview is not None,
                preview=preview or "",
            )
        )

    async def _close(self, call: ToolCall, result: ToolResult) -> None:
        await uninterrupted(self._finish(call, result))

    async def _finish(self, call: ToolCall, result: ToolResult) -> None:
        turn = await self._turns.add_result(call, result.text, ok=result.ok)
        await self._bus.publish(
            ev.ToolFinished(
                call=call.id,
                name=call.name,
                ok=result.ok,
                iri=turn.iri,
                tokens=turn.tokens,
                error=None if result.ok else result.text,
            )
        )
