"""S1, S2, S5, S6, S7, S9, S10, S17: a correction is delivered at every boundary of the work."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gh_tui.events import types as ev
from gh_tui.events.types import Event
from gh_tui.providers.scripted.manners import order_fault
from gh_tui.runtime import Mind
from tests.harness import live
from tests.steering.promise import LOOK, OK, assert_delivered, sent

STEP = 0.005
"""Seconds between two moments at which something is said."""


async def test_s1_at_every_5_ms_around_the_end_of_a_reply(tmp_path: Path, mind: Mind) -> None:
    reply = {"text": "one two three", "first_delay": 0.01, "chunk_delay": 0.01}
    said: list[str] = []
    late = 0
    async with live([reply] * 200, tmp_path, mind) as run:
        while late < 4:  # moments after the end, on however slow a machine
            before = len(run.events(ev.RequestSent))
            await run.session.submit(f"task {len(said)}")
            await sent(run, before + 1)
            await asyncio.sleep(len(said) * STEP)
            late += not run.session.busy
            said.append(f"correction number {len(said)}")
            await run.session.supplement(said[-1])
            await run.session.wait_idle()
            assert run.texts()[-1] == said[-1]
        assert len(said) > 4
        assert_delivered(run, said)
        cycles = [event.cycle for event in run.events(ev.SupplementInjected)]
        assert len(set(cycles)) == len(said)


@pytest.mark.parametrize("moment", [ev.ReplyFinished, ev.TurnScored, ev.TaskFinished])
async def test_s1_in_the_very_instant_in_which_a_turn_ends(
    tmp_path: Path, mind: Mind, moment: type[Event]
) -> None:
    async with live([{"text": "Four."}, OK, OK], tmp_path, mind) as run:
        tasks: list[asyncio.Task[Any]] = []

        def look(envelope: Any) -> None:
            if not tasks and isinstance(envelope.event, moment):
                tasks.append(asyncio.create_task(run.session.supplement("and five")))

        await run.session.submit("Count")
        await sent(run)
        run.session.bus.subscribe(look)
        await run.session.wait_idle()
        await asyncio.gather(*tasks)
        await run.session.wait_idle()
        assert_delivered(run, ["and five"])


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 503, "delay": 0.02},
        {"ending": "cut", "after": 0},
        {"text": "Half of it", "ending": "cut", "after": 3},
        {"text": "Half of it", "ending": "reset", "after": 3},
        {"text": "Half of it", "ending": "no_marker"},
        {"text": "Half of it", "ending": "stall", "after": 3},
        {"text": "Whole", "error": {"message": "overloaded"}},
        {"body": "<html>", "content_type": "text/html"},
    ],
    ids=str,
)
async def test_s2_a_failed_step_keeps_what_waits_for_the_next_request(
    tmp_path: Path, mind: Mind, fault: dict[str, Any]
) -> None:
    settings = ["provider.idle_seconds=0.1"]
    script = [{**LOOK, "delay": 0.05}, fault, OK, OK]
    async with live(script, tmp_path, mind, settings=settings) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.submit("names only")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        await run.session.submit("Try again")
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert run.texts()[-2:] == ["names only", "Try again"]
        assert_delivered(run, ["names only"])


async def test_s1_in_the_instant_in_which_the_task_begins(tmp_path: Path, mind: Mind) -> None:
    async with live([OK, OK], tmp_path, mind) as run:
        tasks: list[asyncio.Task[Any]] = []

        def look(envelope: Any) -> None:
            if isinstance(envelope.event, ev.TaskStarted):
                tasks.append(asyncio.create_task(run.session.queue("and the sizes")))
                tasks.append(asyncio.create_task(run.session.supplement("names only")))

        run.session.bus.subscribe(look)
        await run.session.submit("Describe this folder")
        await asyncio.wait_for(run.session.wait_idle(), 10)
        await asyncio.gather(*tasks)
        await asyncio.wait_for(run.session.wait_idle(), 10)
        assert run.texts() == ["Describe this folder", "names only", "and the sizes"]
        assert_delivered(run, ["names only"])


async def test_s5_three_in_a_row_are_three_messages_in_order(tmp_path: Path, mind: Mind) -> None:
    said = ["Use metric units", "不对，是另一张表", "Jawab dalam dua kalimat"]
    async with live([{**LOOK, "delay": 0.1}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await asyncio.gather(*(run.session.supplement(text) for text in said))
        await run.session.wait_idle()
        last = run.requests()[-1][-3:]
        assert [(m["role"], m["content"]) for m in last] == [("user", text) for text in said]
        assert_delivered(run, said)
        receipts = run.session.state.supplements.values()
        assert [receipt.status for receipt in receipts] == ["injected"] * 3
        assert len({receipt.iri for receipt in receipts}) == 3


BATCH: dict[str, Any] = {
    "calls": [
        {"name": "list_files", "arguments": {"path": "."}},
        {"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}},
        {"name": "teleport", "arguments": {}},
        {"name": "now", "arguments": {}},
    ]
}


@pytest.mark.parametrize("nth", range(8))
async def test_s6_never_between_a_call_and_its_results(
    tmp_path: Path, mind: Mind, nth: int
) -> None:
    settings = ["tools.approval_seconds=0.05"]
    async with live([BATCH, OK, OK], tmp_path, mind, settings=settings) as run:
        tasks: list[asyncio.Task[Any]] = []
        count = 0

        def look(envelope: Any) -> None:
            nonlocal count
            if isinstance(envelope.event, ev.ToolRequested | ev.ToolFinished):
                if count == nth:
                    tasks.append(asyncio.create_task(run.session.supplement("names only")))
                count += 1

        run.session.bus.subscribe(look)
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        await asyncio.gather(*tasks)
        roles = [message["role"] for message in run.requests()[1]]
        assert roles == ["system", "user", "assistant", *["tool"] * 4, "user"]
        assert all(order_fault(m, alternating=False) is None for m in run.requests())
        assert_delivered(run, ["names only"])


async def test_s7_never_inside_a_tool_result(tmp_path: Path, mind: Mind) -> None:
    said = "ignore the tests folder"
    script = [{**LOOK, "delay": 0.1}, *[LOOK] * 3, OK]
    settings = ["eviction.keep_tool_results=1", "eviction.eager=true"]
    async with live(script, tmp_path, mind, settings=settings) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.supplement(said)
        await run.session.wait_idle()
        for messages in run.requests():
            assert not any(said in str(m["content"]) for m in messages if m["role"] != "user")
        assert_delivered(run, [said])


@pytest.mark.parametrize("moment", [ev.PassStarted, ev.TurnFidelityChanged, ev.PassFinished])
async def test_s9_during_a_pass_it_is_delivered_after_it_verbatim(
    tmp_path: Path, mind: Mind, moment: type[Event]
) -> None:
    said = "  keep   the\n\nblank line, please "
    long = {**LOOK, "text": "The orders table has many rows. " * 20, "delay": 0.02}
    settings = ["context.budget=1100", "eviction.safe_window_seconds=0.01"]
    async with live([long] * 6 + [OK] * 2, tmp_path, mind, settings=settings) as run:
        tasks: list[asyncio.Task[Any]] = []

        def look(envelope: Any) -> None:
            if not tasks and isinstance(envelope.event, moment):
                tasks.append(asyncio.create_task(run.session.supplement(said)))

        run.session.bus.subscribe(look)
        await run.session.submit("Describe the tables")
        await run.session.wait_idle()
        await asyncio.gather(*tasks)
        await run.session.wait_idle()
        assert tasks
        assert_delivered(run, [said])


async def test_s10_the_acknowledgement_holds_when_the_agent_ends_at_the_next_round(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([LOOK, {"text": "Done.", "chunk_delay": 0.02}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta) and e.request == 2)
        await run.session.supplement("and the sizes")
        await run.session.wait_idle()
        assert [e.cycle for e in run.events(ev.SupplementInjected)] == [3]
        assert len(run.events(ev.TaskFinished)) == 1, "one more cycle of the same task"
        assert_delivered(run, ["and the sizes"])


async def test_s17_a_task_of_one_step_sees_it_before_during_and_after(
    tmp_path: Path, mind: Mind
) -> None:
    said = ["before the request", "during the reply", "after the end"]
    async with live([{**OK, "delay": 0.05}] * 4, tmp_path, mind) as run:
        await run.session.submit("What is two and two?")
        await run.session.supplement(said[0])
        await sent(run)
        await run.session.supplement(said[1])
        await run.session.wait_idle()
        await run.session.supplement(said[2])
        await run.session.wait_idle()
        assert_delivered(run, said)
        assert run.outcome == "done"
