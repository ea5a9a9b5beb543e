"""A session whose program ended without a word goes on as if nothing had happened."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from gh_tui.errors import RecordingError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.runtime import Mind, Session
from gh_tui.settings.model import Settings
from gh_tui.settings.paths import Paths
from tests.harness import Live, live

LOOK: dict[str, Any] = {"calls": [{"name": "list_files", "arguments": {"path": "."}}]}


def crash(run: Live, folder: Path) -> Path:
    """What a power cut would leave: the file as it is now."""
    assert run.session.recording is not None
    folder.mkdir(exist_ok=True)
    target = folder / run.session.recording.name
    shutil.copy(run.session.recording, target)
    return target


async def say(run: Live, *texts: str) -> None:
    for text in texts:
        await run.session.submit(text)
        await run.session.wait_idle()


async def test_waiting_supplements_are_there_and_go_with_the_next_input_in_order(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([{**LOOK, "delay": 5.0}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("in one sentence")
        await run.session.submit("用中文")
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        assert not again.session.busy
        assert again.requests() == []
        assert [s.text for s in again.session.state.pending] == ["in one sentence", "用中文"]
        await again.session.submit("Are you there?")
        await again.session.wait_idle()
        wanted = ["Describe this folder", "in one sentence", "用中文", "Are you there?"]
        assert again.texts() == wanted
        assert [s.status for s in again.session.state.supplements.values()] == ["injected"] * 2


def test_a_recording_that_cannot_be_resumed_is_not_kept_locked(tmp_path: Path, mind: Mind) -> None:
    recording = tmp_path / "empty.jsonl"
    recording.write_bytes(b"not a record\n")
    for _ in range(2):
        with pytest.raises(RecordingError, match="no readable record"):
            Session(
                Settings(),
                Paths(tmp_path, tmp_path),
                tmp_path,
                interactive=False,
                mind=mind,
                resume=recording,
            )


async def test_a_taken_supplement_stays_the_same_turn(tmp_path: Path, mind: Mind) -> None:
    script: list[dict[str, Any]] = [{**LOOK, "delay": 0.2}, {"delay": 5.0}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("names only")
        await run.until(lambda e: isinstance(e, ev.RequestSent) and e.request == 2)
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.texts() == ["Describe this folder", "names only"]
        records = [r.envelope for r in read_records(recording) if r.envelope]
        turns = [e.event for e in records if isinstance(e.event, ev.TurnAdded)]
        assert len([t for t in turns if t.supplement]) == 1
        injected = [e.event for e in records if isinstance(e.event, ev.SupplementInjected)]
        assert len(injected) == 1


async def test_a_call_without_result_gets_a_synthetic_one_and_does_not_run_again(
    tmp_path: Path, mind: Mind
) -> None:
    write = {"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}
    script = [{"calls": [write, *LOOK["calls"]]}]
    async with live(script, tmp_path, mind, interactive=True) as run:
        await run.session.submit("Write a.txt and list")
        await run.until(lambda e: isinstance(e, ev.ToolRequested))
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("Go on")
        await again.session.wait_idle()
        roles = [message["role"] for message in again.requests()[0]]
        assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
        results = [m["content"] for m in again.requests()[0] if m["role"] == "tool"]
        assert "interrupted" in results[0]
        assert "not run" in results[1]
        assert not (tmp_path / "workspace" / "a.txt").exists()


async def test_a_partial_reply_is_marked_in_the_next_request(tmp_path: Path, mind: Mind) -> None:
    words = " ".join(f"word{n}" for n in range(60))
    async with live([{"text": words, "chunk_delay": 0.05}], tmp_path, mind) as run:
        await run.session.submit("Write a poem")
        await run.until(lambda e: isinstance(e, ev.ReplyProgress))
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("Go on")
        await again.session.wait_idle()
        partial = again.requests()[0][2]
        assert partial["role"] == "assistant"
        assert partial["content"].startswith("word0")
        assert "interrupted" in partial["content"]


async def test_memory_goes_on_where_it_was(tmp_path: Path, mind: Mind) -> None:
    settings = ["context.budget=900"]
    long = {"text": "The orders table has many rows and each is checked by hand. " * 8}
    async with live([long] * 6, tmp_path, mind, settings=settings) as run:
        for number in range(6):
            await run.session.submit(f"Describe table {number} of the orders database")
            await run.session.wait_idle()
        await run.session.submit("/pin 3")
        before = {i: (t.fidelity, t.pinned) for i, t in run.session.state.turns.items()}
        assert {fidelity for fidelity, _ in before.values()} > {"full"}
        scores = {i: t.relevance_score for i, t in run.session.state.turns.items()}
        recording = crash(run, tmp_path)
    async with live([long], tmp_path, mind, settings=settings, resume=recording) as again:
        state = again.session.state
        assert {i: (t.fidelity, t.pinned) for i, t in state.turns.items()} == before
        await again.session.submit("/undo")
        assert all(turn.fidelity == "full" for turn in state.turns.values() if turn.pinned)
        await again.session.submit("Describe table 7 of the orders database")
        await again.session.wait_idle()
        assert {i: state.turns[i].relevance_score for i in scores} == scores
        last = state.passes[max(state.passes)]
        assert last.pass_ == len(state.passes)
        await again.session.close()
        assert fold(r.envelope for r in read_records(recording) if r.envelope) == state


async def test_what_was_undone_before_is_not_undone_again(tmp_path: Path, mind: Mind) -> None:
    settings = ["context.budget=900"]
    long = {"text": "The orders table has many rows and each is checked by hand. " * 8}

    def away(run: Live) -> int:
        return sum(turn.fidelity != "full" for turn in run.session.state.turns.values())

    async with live([long] * 9, tmp_path, mind, settings=settings) as run:
        for number in range(9):
            await run.session.submit(f"Describe table {number} of the orders database")
            await run.session.wait_idle()
        assert len(run.session.state.passes) > 1
        await run.session.submit("/undo")
        before = away(run)
        assert before
        recording = crash(run, tmp_path)
    async with live([], tmp_path, mind, settings=settings, resume=recording) as again:
        await again.session.submit("/undo")
        assert away(again) < before


async def test_what_was_brought_back_is_spared_until_a_request_has_shown_it(
    tmp_path: Path, mind: Mind
) -> None:
    fields = "The orders table holds one row for each order, with its customer, price and state. "
    settings = ["context.budget=1200"]

    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {"text": f"Answer {number}. {fields * 4}"}

    async with live(script, tmp_path, mind, settings=settings) as run:
        await say(run, "Describe the orders", *(f"How is column {n} filled?" for n in range(8)))
        await say(run, "/compact", "/undo")
        back = {c.iri for c in run.events(ev.TurnFidelityChanged) if c.phase == "undo"}
        assert back
        recording = crash(run, tmp_path)
        await say(run, "Go on")
        later = crash(run, tmp_path / "later")
    async with live(script, tmp_path, mind, settings=settings, resume=recording) as again:
        await say(again, "/compact", "Go on")
        manifest = again.events(ev.RequestSent)[0].manifest
        assert {e.iri for e in manifest if e.fidelity == "full"} >= back
    async with live(script, tmp_path, mind, settings=settings, resume=later) as again:
        await say(again, "Once more", "/compact")
        assert back & {c.iri for c in again.events(ev.TurnFidelityChanged)}, "spared for ever"


async def test_undo_leaves_what_the_user_made_an_attachment(tmp_path: Path, mind: Mind) -> None:
    over = {"status": 400, "error": {"message": "Too long.", "code": "context_length_exceeded"}}
    log = "".join(f"line {number} of the pasted log\n" for number in range(600))
    script: list[dict[str, Any]] = [{"text": "One."}, over, over, {"text": "Two."}]
    async with live(script, tmp_path, mind) as run:
        await say(run, "Describe the orders", log)
        assert run.turn(3).attached
        await say(run, "/recall 3", "/attach 3")
        recording = crash(run, tmp_path)
    async with live([], tmp_path, mind, resume=recording) as again:
        with contextlib.suppress(UsageError):
            await again.session.submit("/undo")
        assert again.turn(3).attached


async def test_what_became_the_task_is_the_task_after_a_resume(tmp_path: Path, mind: Mind) -> None:
    script: list[dict[str, Any]] = [{"text": "Fine."}, {"text": "Good."}]
    async with live(script, tmp_path, mind) as run:
        for text in ("Plan a library service", "Bake a sourdough bread at home", "/rebase 3"):
            await run.session.submit(text)
            await run.session.wait_idle()
        assert run.session.state.task_iri == run.turn(3).iri
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("How long does it rest?")
        await again.session.wait_idle()
        assert again.texts()[0] == "Bake a sourdough bread at home"
        with pytest.raises(UsageError, match="the task is always protected"):
            await again.session.submit("/unpin 3")


async def test_an_input_that_waited_its_turn_goes_with_resume(tmp_path: Path, mind: Mind) -> None:
    async with live([{**LOOK, "delay": 5.0}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.queue("Then count the files")
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        assert list(again.session.state.queued.values()) == ["Then count the files"]
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.texts() == ["Describe this folder", "Then count the files"]


async def test_resume_after_a_cut_reply_asks_for_the_rest(tmp_path: Path, mind: Mind) -> None:
    script: list[dict[str, Any]] = [
        {**LOOK, "delay": 0.2},
        {"text": "Half of", "ending": "stall", "after": 3},
    ]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("names only")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta) and e.request == 2)
        await run.session.cancel()
        recording = crash(run, tmp_path)
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join(line for line in lines if b"SupplementInjected" not in line))
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.outcome == "done"
        assert again.texts()[:2] == ["Describe this folder", "names only"]


async def test_a_pause_does_not_outlive_the_program(tmp_path: Path, mind: Mind) -> None:
    async with live([{"text": "Ok."}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        await run.session.submit("/pause")
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        assert not again.session.state.paused
        await again.session.submit("Go on")
        await again.session.wait_idle()
        assert again.outcome == "done"


async def test_damaged_lines_are_told_and_the_rest_is_there(tmp_path: Path, mind: Mind) -> None:
    async with live([{"text": "Ok."}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        recording = crash(run, tmp_path)
    first, *rest = recording.read_bytes().splitlines(keepends=True)
    before = b"".join([first, b"\x00garbage\n", *rest[:2], b'{"v":1,"seq":\n', *rest[2:]])
    recording.write_bytes(before)
    async with live([{"text": "Yes."}], tmp_path, mind, resume=recording) as again:
        (notice,) = again.events(ev.Notice)
        assert "2 lines" in notice.text
        await again.session.submit("Still there?")
        await again.session.wait_idle()
        assert again.texts()[0] == "Describe this folder"
        assert recording.read_bytes().startswith(before)


async def test_a_pass_that_a_crash_cut_within_an_exchange_leaves_no_half_of_it(
    tmp_path: Path, mind: Mind
) -> None:
    two = {"calls": LOOK["calls"] * 2}
    async with live([two, {"text": "Ok."}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        unit = [run.turn(number).iri for number in (2, 3, 4)]
        first = ev.TurnFidelityChanged(
            iri=unit[0], before="full", after="archived", phase="fusion", terms={}, tokens_freed=9
        )
        await run.session.bus.publish(first)
        recording = crash(run, tmp_path)
    async with live([{"text": "Ok."}], tmp_path, mind, resume=recording) as again:
        assert [again.session.state.turns[iri].fidelity for iri in unit] == ["full"] * 3
        await again.session.submit("Go on")
        await again.session.wait_idle()
        assert again.outcome == "done"
