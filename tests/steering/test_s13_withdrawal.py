"""S13: what waits is listed, and can be withdrawn or edited until a request has carried it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gh_tui.agent.hooks import Veto
from gh_tui.chaos.oracle import examine
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.harness import Live, live
from tests.runtime.test_resume import crash
from tests.steering.promise import LOOK, OK, assert_delivered, sent, verdict

TASK = "Describe this folder"
SLOW = {**LOOK, "delay": 0.1}
BAD: dict[str, Any] = {"status": 400}
FIRST = "supplement-1"


async def take_and_fail(run: Live, *texts: str) -> None:
    """Say something that is taken and carried by a request that fails."""
    await run.session.submit(TASK)
    await sent(run)
    for text in texts:
        await run.session.supplement(text)
    await run.session.wait_idle()
    assert run.outcome == "failed"
    assert [entry.status for entry in run.session.state.pending] == ["taken"] * len(texts)


def faults(run: Live) -> list[str]:
    """What is wrong with the recording of a session that still runs."""
    assert run.session.recording is not None
    state, found = examine(run.session.recording, 0, finished=False)
    return found if state == run.session.state else [*found, "the recording says otherwise"]


async def test_what_waits_is_listed_and_can_be_withdrawn_until_a_request_has_carried_it(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([SLOW, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await sent(run)
        for text in ("one", "two", "three"):
            await run.session.supplement(text)
        entries = run.session.state.supplements
        assert [(e.id, e.text, e.status) for e in entries.values()] == [
            ("supplement-1", "one", "pending"),
            ("supplement-2", "two", "pending"),
            ("supplement-3", "three", "pending"),
        ]
        assert await run.session.withdraw("supplement-2") == "two"
        with pytest.raises(UsageError, match="cannot be withdrawn"):
            await run.session.withdraw("supplement-2")
        await run.session.wait_idle()
        with pytest.raises(UsageError, match="cannot be withdrawn"):
            await run.session.withdraw(FIRST)
        assert run.texts() == [TASK, "one", "three"]
        assert [e.status for e in entries.values()] == ["injected", "returned", "injected"]
        assert verdict(run).faults == []


@pytest.mark.parametrize("by", ["id", "iri", "number"])
async def test_what_was_taken_can_be_withdrawn_after_its_request_failed(
    tmp_path: Path, mind: Mind, by: str
) -> None:
    async with live([SLOW, BAD, OK, OK], tmp_path, mind) as run:
        await take_and_fail(run, "names only", "in French")
        entry = run.session.state.supplements[FIRST]
        assert entry.iri is not None
        name = {"id": FIRST, "iri": entry.iri, "number": entry.iri.rpartition("/")[2]}[by]
        await run.session.submit(f"/withdraw {name}")
        (gone,) = run.events(ev.SupplementReturned)
        assert (gone.id, gone.text, gone.reason) == (FIRST, "names only", "withdrawn")
        assert (entry.status, [e.text for e in run.session.state.pending]) == (
            "returned",
            ["in French"],
        )
        await run.session.submit("Try again")
        await run.session.wait_idle()
        assert run.texts() == [TASK, "in French", "Try again"]
        found = verdict(run)
        assert (found.delivered, found.returned, found.faults) == (1, 1, [])
        assert faults(run) == []


async def test_what_was_withdrawn_comes_back_by_no_way(tmp_path: Path, mind: Mind) -> None:
    said = "Never name the harbour of Alexandria"
    iri = ""

    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        looks: dict[int, dict[str, Any]] = {
            2: {"name": "search_memory", "arguments": {"query": "harbour of a city"}},
            3: {"name": "recall", "arguments": {"iri": iri}},
        }
        if number in looks:
            return {"calls": [looks[number]]}
        return {0: SLOW, 1: BAD}.get(number, OK)

    async with live(script, tmp_path, mind, settings=["standing.max=3"]) as run:
        await take_and_fail(run, said)
        iri = run.session.state.supplements[FIRST].iri or ""
        await run.session.submit(f"/withdraw {FIRST}")
        for command in ("/recall", "/pin", "/rebase"):
            with pytest.raises(UsageError, match="back"):
                await run.session.submit(f"{command} {iri}")
        await run.session.submit("Try again")
        await run.session.wait_idle()
        assert run.outcome == "done"
        requests = run.requests()
        assert len(requests) == 5
        assert said in str(requests[1])
        assert "Alexandria" not in str(requests[2:])
        assert "Not shown" not in str(requests[2:])
        assert "there is no turn" in str(requests[4][-1])


async def test_a_request_on_its_way_keeps_what_it_carries(tmp_path: Path, mind: Mind) -> None:
    async with live([SLOW, {**BAD, "delay": 0.1}, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await sent(run)
        await run.session.supplement("names only")
        await sent(run, 2)
        with pytest.raises(UsageError, match="on its way"):
            await run.session.withdraw(FIRST)
        await run.session.wait_idle()
        assert await run.session.withdraw(FIRST) == "names only"
        assert not run.session.state.pending


async def test_while_a_request_is_tried_again_it_is_on_its_way(tmp_path: Path, mind: Mind) -> None:
    script = [SLOW, {"status": 503, "headers": {"retry-after": "1"}}, OK]
    async with live(script, tmp_path, mind, settings=["provider.retries=2"]) as run:
        await run.session.submit(TASK)
        await sent(run)
        await run.session.supplement("names only")
        await run.until(lambda e: isinstance(e, ev.ProviderFailed) and e.retry_at is not None)
        with pytest.raises(UsageError, match="on its way"):
            await run.session.withdraw(FIRST)
        await run.session.wait_idle()
        assert_delivered(run, ["names only"])


async def test_esc_before_the_headers_makes_it_free_again(tmp_path: Path, mind: Mind) -> None:
    async with live([SLOW, {**OK, "delay": 5.0}, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await sent(run)
        await run.session.supplement("names only")
        await sent(run, 2)
        assert await run.session.cancel(by_key=True) == []
        assert await run.session.withdraw(FIRST) == "names only"
        await run.session.submit("Go on")
        await run.session.wait_idle()
        assert run.texts() == [TASK, "Go on"]
        assert verdict(run).faults == []


async def test_withdrawn_after_a_crash_it_stays_away_after_the_next(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([SLOW, BAD], tmp_path, mind) as run:
        await take_and_fail(run, "names only", "in French")
        recording = crash(run, tmp_path)
    async with live([OK], tmp_path, mind, resume=recording) as again:
        iri = again.session.state.supplements[FIRST].iri
        assert await again.session.withdraw(str(iri)) == "names only"
        recording = again.session.recording or recording
    async with live([OK], tmp_path, mind, resume=recording) as third:
        assert [e.text for e in third.session.state.pending] == ["in French"]
        await third.session.submit("/resume")
        await third.session.wait_idle()
        assert third.texts() == [TASK, "in French"]
        assert "Not shown" not in str(third.requests())
        assert faults(third) == []


async def test_withdrawn_during_a_pause_nothing_is_sent(tmp_path: Path, mind: Mind) -> None:
    async with live([OK, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await run.session.wait_idle()
        await run.session.submit("/pause")
        await run.session.supplement("names only")
        await run.until(lambda e: isinstance(e, ev.TurnAdded) and e.is_supplement)
        assert await run.session.withdraw(FIRST) == "names only"
        await run.session.submit("/resume")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert len(run.requests()) == 1
        assert (run.outcome, run.session.busy) == ("done", False)
        await run.session.submit("Go on")
        await run.session.wait_idle()
        assert run.texts() == [TASK, "Go on"]


async def test_withdrawn_during_a_pause_after_the_answer_ends_the_task(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([{"text": "Four.", "delay": 0.1}, OK], tmp_path, mind) as run:
        await run.session.submit("Count")
        await sent(run)
        await run.session.submit("/pause")
        await run.session.supplement("and five")
        await run.until(lambda e: isinstance(e, ev.TurnAdded) and e.role == "assistant")
        await asyncio.sleep(0.05)
        await run.session.withdraw(FIRST)
        await run.session.submit("/resume")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert len(run.requests()) == 1
        assert [(e.outcome, e.text) for e in run.events(ev.TaskFinished)] == [("done", "Four.")]


async def test_queued_inputs_can_be_withdrawn_by_number_or_iri(tmp_path: Path, mind: Mind) -> None:
    async with live([SLOW, OK, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await sent(run)
        for text in ("first", "second", "third"):
            await run.session.queue(text)
        one, two, _ = run.session.state.queued
        assert await run.session.withdraw(two) == "second"
        await run.session.submit(f"/withdraw {one.rpartition('/')[2]}")
        assert list(run.session.state.queued.values()) == ["third"]
        await run.session.wait_idle()
        assert run.texts() == [TASK, "third"]
        with pytest.raises(UsageError, match="cannot be withdrawn"):
            await run.session.withdraw(one)
        assert verdict(run).faults == faults(run) == []


async def test_queued_inputs_can_be_withdrawn_after_a_failure_and_after_a_resume(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([{**BAD, "delay": 0.1}], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await sent(run)
        for text in ("first", "second", "third"):
            await run.session.queue(text)
        await run.session.wait_idle()
        assert await run.session.withdraw(next(iter(run.session.state.queued))) == "first"
        recording = crash(run, tmp_path)
    async with live([OK], tmp_path, mind, resume=recording) as again:
        assert list(again.session.state.queued.values()) == ["second", "third"]
        await again.session.submit(f"/withdraw {next(iter(again.session.state.queued))}")
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.texts() == [TASK, "third"]
        assert faults(again) == []


async def test_an_input_that_begins_is_not_withdrawn(tmp_path: Path, mind: Mind) -> None:
    async with live([OK], tmp_path, mind) as run:
        begins, may = asyncio.Event(), asyncio.Event()

        async def wait(task: Any) -> Any:
            begins.set()
            await may.wait()
            return task

        (await run.session.hooks()).add("TaskStart", wait)
        await run.session.submit(TASK)
        await begins.wait()
        with pytest.raises(UsageError, match="it begins"):
            await run.session.withdraw("1")
        may.set()
        await run.session.wait_idle()
        assert run.texts() == [TASK]


async def test_without_the_task_that_was_withdrawn_the_rest_goes_on(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([OK], tmp_path, mind) as run:

        def refuse(task: Any) -> Any:
            return Veto("not today") if task.what == TASK else task

        (await run.session.hooks()).add("TaskStart", refuse)
        await run.session.queue(TASK)
        await run.session.supplement("names only")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        recording = crash(run, tmp_path)
    async with live([OK], tmp_path, mind, resume=recording) as again:
        assert await again.session.withdraw("1") == TASK
        await again.session.submit("/resume")
        await asyncio.wait_for(again.session.wait_idle(), 5)
        assert again.texts() == ["names only"]


async def test_the_limit_counts_what_is_queued_and_what_comes_at_once(
    tmp_path: Path, mind: Mind
) -> None:
    settings = ["supplements.limit=4"]
    async with live([SLOW, *[OK] * 9], tmp_path, mind, settings=settings) as run:
        await run.session.submit(TASK)
        await sent(run)
        await run.session.supplement("one")
        await run.session.queue("two")
        said = [run.session.queue(f"more {n}") for n in range(2)]
        said += [run.session.supplement(f"and more {n}") for n in range(2)]
        came = await asyncio.gather(*said, return_exceptions=True)
        refused = [error for error in came if isinstance(error, UsageError)]
        assert len(refused) == 2
        assert "4 inputs are waiting" in str(refused[0])
        state = run.session.state
        assert len(state.pending) + len(state.queued) == 4
        await run.session.withdraw(FIRST)
        await run.session.queue("now there is room")
        await run.session.wait_idle()
        assert run.texts()[-1] == "now there is room"
