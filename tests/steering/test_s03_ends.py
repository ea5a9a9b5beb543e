"""S3, S4, S14: what was accepted outlives the program, and stays with its session."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from gh_tui.chaos.life import WatchedDisk
from gh_tui.events import types as ev
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.providers.scripted import ScriptedServer
from gh_tui.runtime import Mind
from tests.harness import live
from tests.runtime.test_resume import crash
from tests.steering.promise import LOOK, OK, assert_delivered, sent


@pytest.mark.parametrize("kind", ["supplement", "queue"])
async def test_s3_what_enter_accepted_is_there_after_a_power_cut(
    tmp_path: Path, mind: Mind, kind: str
) -> None:
    disk = WatchedDisk()
    async with live([{**LOOK, "delay": 5.0}], tmp_path, mind, disk=disk) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await getattr(run.session, kind)("names only")
        assert run.session.recording is not None
        recording = tmp_path / run.session.recording.name
        recording.write_bytes(run.session.recording.read_bytes()[: disk.synced])
    async with live([OK, OK], tmp_path, mind, resume=recording) as again:
        state = again.session.state
        waiting = [entry.text for entry in state.pending] + list(state.queued.values())
        assert waiting == ["names only"]
        assert any("Not delivered" in notice.text for notice in state.notices)
        assert again.requests() == []
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.texts() == ["Describe this folder", "names only"]
        if kind == "supplement":
            assert_delivered(again, ["names only"], run)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
async def test_s4_a_closed_terminal_leaves_the_streamed_text_and_every_entry_on_disk(
    tmp_path: Path, number: signal.Signals
) -> None:
    words = " ".join(f"word{n}" for n in range(400))
    async with ScriptedServer([{"text": words, "chunk_delay": 0.02}]) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gh_tui.cli", "run", "--json", "Write a poem"),
            *("--provider", "openai", "--base-url", server.base_url, "--model", "scripted"),
            env={**os.environ, "GH_TUI_HOME": str(tmp_path)},
            cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        async for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "ReplyDelta" and "word3" in event["text"]:
                said = {"type": "supplementary_input", "text": "in four lines"}
                process.stdin.write(json.dumps(said).encode() + b"\n")
            if event["type"] == "USER_SUPPLEMENTARY_INPUT":
                process.send_signal(number)
        assert await process.wait() == 128 + number
    (recording,) = (tmp_path / "sessions").glob("*.jsonl")
    state = fold(r.envelope for r in read_records(recording) if r.envelope)
    assert [entry.text for entry in state.pending] == ["in four lines"]
    partial = list(state.turns.values())[-1]
    assert partial.role == "assistant"
    assert partial.text.startswith("word0 word1 word2 word3")
    assert "interrupted" in partial.text


async def test_s14_what_waits_in_one_session_never_lands_in_another(
    tmp_path: Path, mind: Mind
) -> None:
    homes = [tmp_path / name for name in ("a", "b")]
    for home in homes:
        home.mkdir()
    slow = {**LOOK, "delay": 0.15}
    async with (
        live([slow, OK], homes[0], mind) as first,
        live([slow, OK], homes[1], mind) as second,
    ):
        await asyncio.gather(first.session.submit("Task one"), second.session.submit("Task two"))
        await asyncio.gather(sent(first), sent(second))
        await first.session.supplement("for one")
        await second.session.supplement("for two")
        recording = crash(first, tmp_path)
        await asyncio.gather(first.session.wait_idle(), second.session.wait_idle())
        assert_delivered(first, ["for one"])
        assert_delivered(second, ["for two"])
        assert "for one" not in str(second.requests())
        assert "for two" not in str(first.requests())
    async with live([OK], homes[1], mind, resume=recording) as again:
        assert again.session.id == first.session.id
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.texts() == ["Task one", "for one"]
        assert all(e.session == first.session.id for e in again.seen)
        assert not again.events(ev.UserInputReceived)
