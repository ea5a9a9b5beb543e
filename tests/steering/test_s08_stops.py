"""S8, S11, S12, S15, S16: stopping, failing, pausing and commands never cost a text."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.plain import obey
from gh_tui.runtime import Mind
from tests.harness import live
from tests.steering.promise import LOOK, OK, assert_delivered, sent, verdict

SLOW = {**LOOK, "delay": 0.3}


@pytest.mark.parametrize("by_key", [True, False])
async def test_s8_esc_hands_back_everything_that_waits_and_runs_nothing(
    tmp_path: Path, mind: Mind, by_key: bool
) -> None:
    async with live([SLOW, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.supplement("names only")
        await run.session.queue("then the sizes")
        await run.session.supplement("in French")
        back = await run.session.cancel(by_key=by_key)
        assert back == ["names only", "in French", "then the sizes"]
        assert not run.session.busy
        await asyncio.sleep(0.05)
        assert len(run.requests()) == 1
        assert not run.session.state.pending
        assert not run.session.state.queued
        await run.session.submit("Something else")
        await run.session.wait_idle()
        assert run.texts() == ["Describe this folder", "Something else"]
        found = verdict(run)
        assert (found.returned, found.lost, found.faults) == (2, 0, [])


async def test_s8_what_the_agent_has_taken_already_is_not_handed_back_and_not_lost(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([{**LOOK, "delay": 0.05}, SLOW, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.supplement("names only")
        await sent(run, 2)
        assert await run.session.cancel(by_key=True) == []
        await run.session.submit("Go on")
        await run.session.wait_idle()
        assert run.texts() == ["Describe this folder", "names only", "Go on"]
        assert_delivered(run, ["names only"])


async def test_s8_esc_twice_is_as_esc_once(tmp_path: Path, mind: Mind) -> None:
    async with live([SLOW], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.supplement("names only")
        twice = await asyncio.gather(run.session.cancel(by_key=True), run.session.cancel())
        assert sorted(twice) == [[], ["names only"]]
        assert len(run.events(ev.SupplementReturned)) == 1
        assert len(run.events(ev.TaskFinished)) == 1


@pytest.mark.parametrize("line", ["/compact", "/pin 1", "/help", "/pause", "/resume", "/task New"])
async def test_s11_a_command_is_a_command_while_the_agent_works(
    tmp_path: Path, mind: Mind, line: str
) -> None:
    async with live([{**LOOK, "delay": 0.1}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.submit(line)
        if run.session.state.paused:
            await run.session.submit("/resume")
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert not run.session.state.supplements
        assert line not in str(run.requests())


async def test_s11_what_is_no_command_is_refused_and_exit_leaves(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([SLOW], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        with pytest.raises(UsageError, match="/nonsense is not a command"):
            await run.session.submit("/nonsense")
        stays = await obey(
            run.session, json.dumps({"type": "user_input", "text": "/exit"}).encode()
        )
        assert not stays
        assert not run.session.state.supplements
        assert not run.session.state.queued


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 401}, {"ending": "cut", "after": 0}])
async def test_s12_an_error_is_an_end_state(
    tmp_path: Path, mind: Mind, fault: dict[str, Any]
) -> None:
    async with live([{**fault, "delay": 0.1}, OK, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.supplement("names only")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert run.outcome == "failed"
        assert not run.session.busy
        assert [entry.text for entry in run.session.state.pending] == ["names only"]
        await run.session.submit("/resume")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert run.outcome == "done"
        assert_delivered(run, ["names only"])


@pytest.mark.parametrize("text", ["y", "yes", "allow", "ok", "好的", "ya", "y\n"])
async def test_s15_nothing_that_is_typed_into_the_box_answers_an_approval(
    tmp_path: Path, mind: Mind, text: str
) -> None:
    write = {"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    async with live([{"calls": [write]}, OK], tmp_path, mind, interactive=True) as run:
        await run.session.submit("Write a file")
        asked = await run.until(lambda e: isinstance(e, ev.ToolRequested))
        await run.session.submit(text)
        with pytest.raises(UsageError, match="waits for approval"):
            await run.session.approve("another call", True)
        await asyncio.sleep(0.05)
        assert not run.events(ev.ToolApproval)
        assert not (tmp_path / "workspace" / "a.txt").exists()
        await run.session.approve(asked.call, False)
        await run.session.wait_idle()
        assert not (tmp_path / "workspace" / "a.txt").exists()
        assert_delivered(run, [text])


@pytest.mark.parametrize("word", ["/resume", "resume", "go on", "继续", "lanjutkan"])
async def test_s16_a_pause_ends_by_command_and_by_text(
    tmp_path: Path, mind: Mind, word: str
) -> None:
    async with live([{**LOOK, "delay": 0.05}, OK, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.submit("/pause")
        await run.session.supplement("names only")
        await asyncio.sleep(0.2)
        assert run.session.state.paused
        assert len(run.requests()) == 1
        await run.session.submit(word)
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert run.events(ev.AgentResumed)
        assert run.outcome == "done"
        assert_delivered(run, ["names only", *([] if word.startswith("/") else [word])])


async def test_s16_esc_ends_a_pause(tmp_path: Path, mind: Mind) -> None:
    async with live([{**LOOK, "delay": 0.05}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.submit("/pause")
        await run.session.supplement("names only")
        await asyncio.sleep(0.1)
        assert await asyncio.wait_for(run.session.cancel(by_key=True), 5) == ["names only"]
        assert not run.session.busy
        assert not run.session.state.paused
        await run.session.submit("Start again")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert run.outcome == "done"
