"""Hooks may change or veto what comes, and their word is respected."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gh_tui.agent.hooks import Hooks, Veto
from gh_tui.agent.tools.base import ToolResult
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.values import Task, ToolCall
from gh_tui.runtime import Mind
from tests.harness import live

LOOK: dict[str, Any] = {"calls": [{"name": "list_files", "arguments": {"path": "."}}]}

WRITE: dict[str, Any] = {
    "calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "x\n"}}]
}


async def test_hooks_run_in_order_and_a_veto_ends_the_chain() -> None:
    hooks = Hooks()
    seen: list[str] = []

    async def first(value: str) -> str:
        seen.append(value)
        return value + "!"

    async def second(value: str) -> Veto:
        seen.append(value)
        return Veto("enough")

    for hook in (first, second, first):
        hooks.add("TaskEnd", hook)
    assert await hooks.run("TaskEnd", "a") == Veto("enough")
    assert seen == ["a", "a!"]
    assert await hooks.run("CycleStart", 7) == 7


async def test_a_tool_that_is_vetoed_does_not_run_and_the_agent_is_told(
    tmp_path: Path, mind: Mind
) -> None:
    async def veto(call: ToolCall) -> Veto:
        return Veto(f"{call.name} is not for today")

    async with live([LOOK, {"text": "Then not."}], tmp_path, mind) as run:
        (await run.session.hooks()).add("ToolStart", veto)
        await run.session.submit("List the files")
        await run.session.wait_idle()
        assert [finished.ok for finished in run.events(ev.ToolFinished)] == [False]
        assert "not for today" in run.requests()[-1][-1]["content"]


async def test_a_vetoed_call_asks_nobody_for_an_approval(tmp_path: Path, mind: Mind) -> None:
    async def veto(call: ToolCall) -> Veto:
        return Veto("not for today")

    script = [WRITE, {"text": "Then not."}]
    async with live(script, tmp_path, mind, interactive=True) as run:
        (await run.session.hooks()).add("ToolStart", veto)
        await run.session.submit("Write it down")
        async with asyncio.timeout(10):
            await run.session.wait_idle()
        (asked,) = run.events(ev.ToolRequested)
        assert not asked.needs_approval
        with pytest.raises(UsageError, match="waits for approval"):
            await run.session.approve(asked.call, True)
        assert not (tmp_path / "workspace" / "a.txt").exists()


async def test_what_a_hook_makes_of_a_call_is_what_is_asked_and_run(
    tmp_path: Path, mind: Mind
) -> None:
    async def elsewhere(call: ToolCall) -> ToolCall:
        return replace(call, arguments={**call.arguments, "path": "b.txt"})

    script = [WRITE, {"text": "Done."}]
    async with live(script, tmp_path, mind, interactive=True) as run:
        (await run.session.hooks()).add("ToolStart", elsewhere)
        await run.session.submit("Write it down")
        asked = await run.until(lambda event: isinstance(event, ev.ToolRequested))
        assert asked.preview.startswith("Create b.txt")
        await run.session.approve(asked.call, True)
        await run.session.wait_idle()
        assert [path.name for path in (tmp_path / "workspace").iterdir()] == ["b.txt"]


async def test_a_result_can_be_changed_before_anyone_sees_it(tmp_path: Path, mind: Mind) -> None:
    async def shorten(result: ToolResult) -> ToolResult:
        return replace(result, text="[cut]")

    async with live([LOOK, {"text": "Fine."}], tmp_path, mind) as run:
        (await run.session.hooks()).add("ToolEnd", shorten)
        await run.session.submit("List the files")
        await run.session.wait_idle()
        assert run.requests()[-1][-1]["content"] == "[cut]"
        assert "[cut]" in [turn.text for turn in run.session.state.turns.values()]


async def test_a_hook_that_raises_ends_the_task_and_not_the_engine(
    tmp_path: Path, mind: Mind
) -> None:
    async def broken(result: object) -> object:
        raise RuntimeError("no")

    async with live([{"text": "One."}, {"text": "Two."}], tmp_path, mind) as run:
        (await run.session.hooks()).add("TaskEnd", broken)
        for text in ("Do it", "Again"):
            await run.session.submit(text)
            async with asyncio.timeout(10):
                await run.session.wait_idle()
        assert [end.outcome for end in run.events(ev.TaskFinished)] == ["failed", "failed"]
        assert run.texts() == ["Do it", "Again"]


async def test_a_task_that_is_vetoed_sends_nothing_and_keeps_the_input(
    tmp_path: Path, mind: Mind
) -> None:
    async def veto(task: Task) -> Veto:
        return Veto("not now")

    async with live([{"text": "Fine."}], tmp_path, mind) as run:
        (await run.session.hooks()).add("TaskStart", veto)
        await run.session.submit("Do it")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        assert run.requests() == []
        assert await run.session.cancel(by_key=True) == ["Do it"]
