"""What a fault at a bad moment must not do: each of these was found by `gh-tui chaos`."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gh_tui.errors import GhError, RecordingError, SettingsError
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.journal.disk import Disk
from gh_tui.journal.reader import read_records
from gh_tui.providers.scripted import ScriptedServer
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths
from tests.harness import Live, live
from tests.runtime.test_resume import crash

CALLS: dict[str, Any] = {
    "calls": [
        {"name": "list_files", "arguments": {"path": "."}},
        {"name": "now", "arguments": {}},
    ]
}


class FullDisk(Disk):
    """Refuses the lines that hold a word, so often."""

    def __init__(self) -> None:
        self.word = b"\0"
        self.times = 0

    def refuse(self, word: str, times: int = 1) -> None:
        self.word, self.times = word.encode(), times

    def write(self, descriptor: int, data: bytes) -> int:
        if self.times and self.word in data:
            self.times -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)


def when(run: Live, wanted: Callable[[ev.Event], bool], act: Callable[[], Any]) -> None:
    """Do something at once, the first time that an event comes."""
    tasks: list[asyncio.Task[Any]] = []

    def look(envelope: Envelope) -> None:
        if not tasks and wanted(envelope.event):
            tasks.append(asyncio.create_task(act()))

    run.session.bus.subscribe(look)


def added(role: str) -> Callable[[ev.Event], bool]:
    return lambda e: isinstance(e, ev.TurnAdded) and e.role == role


def is_taken(event: ev.Event) -> bool:
    return isinstance(event, ev.TurnAdded) and event.is_supplement


def results(run: Live) -> list[str]:
    return [turn.text for turn in run.session.state.turns.values() if turn.role == "tool"]


async def test_a_cancel_between_a_reply_and_its_tools_gives_each_call_a_result(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([CALLS], tmp_path, mind) as run:
        when(run, added("assistant"), run.session.cancel)
        await run.session.submit("What is here?")
        await run.session.wait_idle()
        assert run.outcome == "cancelled"
        assert ["interrupted" in text for text in results(run)] == [True, True]
        assert not run.events(ev.ToolRequested)
        await run.session.submit("And now?")
        await run.session.wait_idle()
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("Go on")
        await again.session.wait_idle()
        assert again.outcome == "done"


async def test_a_cancel_while_a_result_is_recorded_ends_the_call(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([CALLS], tmp_path, mind) as run:
        when(run, added("tool"), run.session.cancel)
        await run.session.submit("What is here?")
        await run.session.wait_idle()
        assert len(results(run)) == 2
        assert [e.call for e in run.events(ev.ToolFinished)] == ["call_1", "call_2"]


async def test_a_second_cancel_does_not_cut_short_what_the_first_must_finish(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([CALLS], tmp_path, mind) as run:

        async def twice() -> None:
            first = asyncio.create_task(run.session.cancel())
            for _ in range(20):
                await asyncio.sleep(0)
                await asyncio.sleep(0.0005)
                engine_run = next((t for t in asyncio.all_tasks() if t.get_name() == "run"), None)
                if engine_run is not None:
                    engine_run.cancel()
            await first

        when(run, lambda e: isinstance(e, ev.ToolRequested), twice)
        await run.session.submit("What is here?")
        await run.session.wait_idle()
        events = run.events(ev.TurnAdded, ev.TaskFinished)
        kinds = [e.role if isinstance(e, ev.TurnAdded) else "end" for e in events]
        assert kinds == ["user", "assistant", "tool", "tool", "end"]


async def test_esc_in_the_instant_of_an_approval_stops_the_agent(
    tmp_path: Path, mind: Mind
) -> None:
    write = {"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    script: list[dict[str, Any]] = [{"calls": [write]}, {"text": "Ok."}]
    async with live(script, tmp_path, mind, settings=["tools.approval_seconds=5"]) as run:
        await run.session.submit("Write a file")
        asked = await run.until(lambda e: isinstance(e, ev.ToolRequested))
        await asyncio.sleep(0.05)
        cancelling = asyncio.create_task(run.session.cancel(by_key=True))
        await run.session.approve(asked.call, True)
        await cancelling
        assert run.outcome == "cancelled"
        assert len(run.requests()) == 1


async def test_a_cancel_at_the_very_end_of_a_reply_ends_it_once(tmp_path: Path, mind: Mind) -> None:
    async with live([{"text": "Four."}, {"text": "Five."}], tmp_path, mind) as run:
        when(run, lambda e: isinstance(e, ev.ReplyFinished), run.session.cancel)
        await run.session.submit("Count")
        await run.session.wait_idle()
        assert [e.outcome for e in run.events(ev.ReplyFinished)] == ["complete"]


async def test_a_call_id_that_came_before_does_not_say_that_a_call_began(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [CALLS, {**CALLS, "text": "Once more."}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("What is here?")
        await run.until(lambda e: isinstance(e, ev.TurnAdded) and e.text == "Once more.")
        recording = crash(run, tmp_path)
    lines = recording.read_bytes().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if b"Once more." in line and b"TurnAdded" in line)
    recording.write_bytes(b"".join(lines[: end + 1]))
    async with live([], tmp_path, mind, resume=recording) as again:
        assert ["it was not run" in text for text in results(again)[-2:]] == [True, True]


async def test_a_result_that_could_not_be_recorded_does_not_prevent_a_resume(
    tmp_path: Path, mind: Mind
) -> None:
    disk = FullDisk()
    async with live([CALLS, {"text": "Ok."}], tmp_path, mind, disk=disk) as run:
        disk.refuse('"role":"tool"', 2)
        await run.session.submit("What is here?")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        await run.session.submit("Try again")
        await run.session.wait_idle()
        assert run.outcome == "done"
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("Go on")
        await again.session.wait_idle()
        assert again.outcome == "done"


async def test_a_full_disk_never_costs_an_accepted_supplement(tmp_path: Path, mind: Mind) -> None:
    for word in ('"type":"TurnAdded"', '"type":"SupplementScored"', '"type":"InputClassified"'):
        home = tmp_path / word.strip('"').replace('":"', "-")
        home.mkdir()
        disk = FullDisk()
        script: list[dict[str, Any]] = [{**CALLS, "delay": 0.1}, {"text": "Ok."}, {"text": "Ok."}]
        async with live(script, home, mind, disk=disk) as run:
            await run.session.submit("What is here?")
            await run.until(lambda e: isinstance(e, ev.RequestSent))
            if word.endswith('TurnAdded"'):
                disk.refuse('"supplement":"supplement-1"')
            else:
                disk.refuse(word)
            await run.session.submit("names only")
            await run.session.submit("in French")
            await run.session.wait_idle()
            await run.session.submit("/resume")
            await run.session.wait_idle()
            assert not disk.times
            assert run.texts() == ["What is here?", "names only", "in French"], word


async def test_what_could_not_be_recorded_was_not_accepted(tmp_path: Path, mind: Mind) -> None:
    disk = FullDisk()
    async with live([{"text": "Ok."}, {"text": "Ok."}], tmp_path, mind, disk=disk) as run:
        disk.refuse("precious")
        try:
            await run.session.submit("precious")
        except RecordingError as error:
            assert "No space" in str(error)
        else:
            raise AssertionError("it was accepted")
        await run.session.submit("again")
        await run.session.wait_idle()
        assert run.texts() == ["again"]


async def test_a_session_that_could_not_be_recorded_at_its_start_starts_with_the_next_input(
    tmp_path: Path, mind: Mind
) -> None:
    disk = FullDisk()
    disk.refuse("SessionStarted", times=2)
    async with ScriptedServer([{"text": "Ok."}]) as server:
        flags = ["provider.name=openai", f"provider.base_url={server.base_url}"]
        settings = load_settings(None, {}, [*flags, "provider.model=scripted"])
        session = Session(
            settings, Paths(tmp_path, tmp_path), tmp_path, interactive=True, mind=mind, disk=disk
        )
        with pytest.raises(RecordingError, match="No space"):
            await session.start()
        with pytest.raises(RecordingError, match="No space"):
            async with asyncio.timeout(5):
                await session.submit("hello")
        await session.submit("hello")
        await session.wait_idle()
        assert session.state.answer == "Ok."
        await session.close()
    assert session.recording is not None
    records = [r.envelope.event for r in read_records(session.recording) if r.envelope]
    assert [type(event) for event in records][:2] == [ev.SessionStarted, ev.UserInputReceived]


async def test_a_session_that_never_started_leaves_nothing(tmp_path: Path, mind: Mind) -> None:
    disk = FullDisk()
    disk.refuse("SessionStarted")
    with pytest.raises(RecordingError):
        async with live([], tmp_path, mind, disk=disk):
            pass
    with pytest.raises(SettingsError):
        async with live([], tmp_path, mind, settings=["provider.name=scripted"]):
            pass
    assert list((tmp_path / "sessions").iterdir()) == []


async def test_what_no_request_has_carried_is_in_the_next_whatever_passes_take(
    tmp_path: Path, mind: Mind
) -> None:
    settings = ["eviction.max_messages=4", "eviction.preserve_recent=0"]
    script: list[dict[str, Any]] = [{"text": "Ok."}, *[{"status": 500}] * 5, {"text": "Ok."}]
    async with live(script, tmp_path, mind, settings=settings) as run:
        said = ["Sort the reports", *[f"What about table number {n}?" for n in range(6)]]
        for text in said:
            await run.session.submit(text)
            await run.session.wait_idle()
        assert run.events(ev.PassStarted)
        assert [text for text in run.texts() if text in said] == said


async def test_closing_while_an_input_is_scored_leaves_nothing_behind(
    tmp_path: Path, mind: Mind
) -> None:
    problems: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, what: problems.append(what))
    async with live([{**CALLS, "delay": 5.0}], tmp_path, mind) as run:
        await run.session.submit("What is here?")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        for number in range(1, 6):
            await run.session.submit(f"a text that was never embedded before {number} {tmp_path}")
        await run.session.submit("/withdraw supplement-5")
        await run.session.close()
        recording = run.session.recording
    gc.collect()
    await asyncio.sleep(0.05)
    assert problems == []
    assert recording is not None
    last = list(read_records(recording))[-1].envelope
    assert last is not None
    assert isinstance(last.event, ev.SessionEnded)


async def test_a_closed_session_says_so(tmp_path: Path, mind: Mind) -> None:
    async with live([], tmp_path, mind) as run:
        session = run.session
    try:
        await session.submit("Hello")
    except GhError as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("it was accepted")


async def test_an_input_whose_sender_was_cancelled_is_delivered_all_the_same(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [{**CALLS, "delay": 0.1}, {"text": "Ok."}, {"text": "Ok."}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("What is here?")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        for send in (run.session.supplement("names only"), run.session.queue("then rest")):
            sending = asyncio.create_task(send)
            await asyncio.sleep(0)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        await run.session.wait_idle()
        assert run.texts() == ["What is here?", "names only", "then rest"]


async def test_a_class_changed_while_a_turn_is_recorded_is_followed(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [{**CALLS, "delay": 0.1}, {"text": "Ok."}]
    async with live(script, tmp_path, mind) as run:
        when(run, is_taken, lambda: run.session.command("/class supplement-1 ProvideConstraint"))
        await run.session.submit("What is here?")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.supplement("okay")
        await run.session.wait_idle()
        (entry,) = run.session.state.supplements.values()
        assert entry.class_ == "ProvideConstraint"
        assert run.session.state.turns[entry.iri or ""].standing
