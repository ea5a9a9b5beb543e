"""A session from input to answer, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gh_tui.events import types as ev
from gh_tui.events.state import SessionState, fold
from gh_tui.journal.reader import read_records
from gh_tui.runtime import Mind
from tests.harness import live

LOOK: dict[str, Any] = {
    "text": "Let me look.",
    "calls": [{"name": "list_files", "arguments": {"path": "."}}],
}


async def test_a_task_runs_its_tools_and_ends_with_an_answer(tmp_path: Path, mind: Mind) -> None:
    async with live([LOOK, {"text": "It is empty."}], tmp_path, mind) as run:
        await run.session.submit("What is in this folder?")
        await run.session.wait_idle()
        roles = [turn.role for turn in run.session.state.turns.values()]
        assert roles == ["user", "assistant", "tool", "assistant"]
        assert run.session.state.answer == "It is empty."
        assert run.session.state.outcome == "done"
        second = run.requests()[1]
        assert [m["role"] for m in second] == ["system", "user", "assistant", "tool"]
        assert "empty" in second[-1]["content"]


async def test_the_recording_folds_to_the_live_state(tmp_path: Path, mind: Mind) -> None:
    async with live([LOOK, {"text": "Empty."}, {"text": "Bye."}], tmp_path, mind) as run:
        await run.session.submit("What is here?")
        await run.session.wait_idle()
        await run.session.submit("Thanks, that is all")
        await run.session.wait_idle()
        await run.session.close()
        path = run.session.recording
        assert path is not None
        records = list(read_records(path))
        assert [r.envelope.seq for r in records if r.envelope] == list(range(1, len(records) + 1))
        assert fold(r.envelope for r in records if r.envelope) == run.session.state
        assert run.session.state != SessionState()


async def test_supplements_are_in_the_next_request_once_verbatim_after_the_results(
    tmp_path: Path, mind: Mind
) -> None:
    slow = {**LOOK, "delay": 0.3}
    async with live([slow, {"text": "Done."}], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("Use   metric units\n only!")
        await run.session.submit("用中文回答")
        await run.session.wait_idle()
        last = run.requests()[1]
        assert [m["role"] for m in last[-4:]] == ["assistant", "tool", "user", "user"]
        assert [m["content"] for m in last[-2:]] == ["Use   metric units\n only!", "用中文回答"]
        flat = str(run.requests())
        assert flat.count("metric units") == 1
        receipts = list(run.session.state.supplements.values())
        assert [s.status for s in receipts] == ["injected", "injected"]
        assert all(run.session.state.turns[s.iri or ""].is_supplement for s in receipts)
        injected = run.events(ev.SupplementInjected)
        assert [i.request for i in injected] == [2, 2]


async def test_inputs_that_come_while_the_embedder_loads_are_scored_in_their_order(
    tmp_path: Path,
) -> None:
    cold = Mind()
    try:
        async with live([{"text": "It is done."}], tmp_path, cold, repeat=True) as run:
            task = "Migrate the orders table to Postgres 16"
            await run.session.queue(task)
            await run.session.supplement("Use the test server for Postgres")
            await run.session.wait_idle()
            first, second = list(run.session.state.turns.values())[:2]
            assert [first.text, second.is_supplement] == [task, True]
            assert (first.global_sim, first.local_sim) == (1.0, None)
            assert first.basis is not None
            assert first.basis.startswith("global (no previous input)")
            scored = run.events(ev.SupplementScored)[0]
            assert scored.local_sim is not None
            assert scored.local_sim == scored.global_sim, "the task is the previous input"
    finally:
        cold.close()


async def test_a_supplement_at_the_tail_of_the_last_reply_starts_one_more_cycle(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(
        [{"text": "Four.", "chunk_delay": 0.05}, {"text": "Five."}], tmp_path, mind
    ) as run:
        await run.session.submit("Count")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta))
        await run.session.submit("count one more")
        await run.session.wait_idle()
        assert run.session.state.answer == "Five."
        assert run.texts() == ["Count", "count one more"]


async def test_a_failed_request_keeps_the_supplement_for_the_next(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [{**LOOK, "delay": 0.2}, {"status": 500}, {"text": "Fine."}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("only the names")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        assert [s.status for s in run.session.state.supplements.values()] == ["taken"]
        assert run.events(ev.SupplementDeferred)
        await run.session.submit("/resume")
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert run.texts()[-1] == "only the names"
        assert len(run.events(ev.SupplementInjected)) == 1


async def test_escape_hands_back_what_was_not_taken_and_keeps_the_partial_reply(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [
        {"text": "one two three four", "chunk_delay": 0.2},
        {"text": "Ok."},
    ]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Count to a hundred")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta))
        await run.session.submit("slower")
        assert await run.session.cancel(by_key=True) == ["slower"]
        assert not run.session.busy
        assert run.session.state.outcome == "cancelled"
        assert [s.returned for s in run.session.state.supplements.values()] == ["escape"]
        await run.session.submit("Start again")
        await run.session.wait_idle()
        partial = run.requests()[-1][2]
        assert partial["role"] == "assistant"
        assert partial["content"].startswith("one")
        assert "interrupted" in partial["content"]
        assert "slower" not in str(run.requests()[-1])


def _asks_for(path: str) -> Callable[[ev.Event], bool]:
    return lambda e: isinstance(e, ev.ToolRequested) and e.arguments["path"] == path


async def test_a_write_waits_for_approval_and_a_denied_one_writes_nothing(
    tmp_path: Path, mind: Mind
) -> None:
    def write(name: str) -> dict[str, Any]:
        return {"calls": [{"name": "write_file", "arguments": {"path": name, "content": "hi\n"}}]}

    script: list[dict[str, Any]] = [write("yes.txt"), write("no.txt"), {"text": "Done."}]
    async with live(script, tmp_path, mind, interactive=True) as run:
        await run.session.submit("Write two files")
        for name, allow in (("yes.txt", True), ("no.txt", False)):
            asked = await run.until(_asks_for(name))
            assert asked.needs_approval
            assert "hi" in asked.preview
            await run.session.approve(asked.call, allow)
        await run.session.wait_idle()
        assert (tmp_path / "workspace" / "yes.txt").read_text() == "hi\n"
        assert not (tmp_path / "workspace" / "no.txt").exists()
        assert [t.ok for t in run.events(ev.ToolFinished)] == [True, False]


async def test_without_an_approval_headless_denies_in_time(tmp_path: Path, mind: Mind) -> None:
    call = {"calls": [{"name": "write_file", "arguments": {"path": "x", "content": "x"}}]}
    settings = ["tools.approval_seconds=0.05"]
    async with live([call, {"text": "Then not."}], tmp_path, mind, settings=settings) as run:
        await run.session.submit("Write x")
        await run.session.wait_idle()
        assert [(a.decision, a.by) for a in run.events(ev.ToolApproval)] == [("deny", "timeout")]
        told = "not run: nobody answered the request for approval in time"
        assert [event.error for event in run.events(ev.ToolFinished)] == [told]
        assert run.requests()[-1][-1]["content"] == told
        assert not (tmp_path / "workspace" / "x").exists()


async def test_the_key_is_nowhere_in_the_recording(tmp_path: Path, mind: Mind) -> None:
    script = [{"text": "The key is sk-canary-123."}]
    async with live(script, tmp_path, mind, key="sk-canary-123") as run:
        await run.session.submit("Repeat sk-canary-123")
        await run.session.wait_idle()
        assert run.session.recording is not None
        assert b"canary" not in run.session.recording.read_bytes()
        assert "canary" not in str([e for e in run.seen if not isinstance(e.event, ev.ReplyDelta)])


async def test_now_stops_the_step_and_delivers_at_once(tmp_path: Path, mind: Mind) -> None:
    script: list[dict[str, Any]] = [
        {"text": "one two three four five", "chunk_delay": 0.3},
        {"text": "Ok."},
    ]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Count to a hundred")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta))
        await run.session.submit("/now only even numbers")
        await run.session.wait_idle()
        assert run.outcome == "done"
        roles = [message["role"] for message in run.requests()[-1]]
        assert roles == ["system", "user", "assistant", "user"]
        assert run.texts()[-1] == "only even numbers"
        assert [r.outcome for r in run.events(ev.ReplyFinished)] == ["cancelled", "complete"]


async def test_a_control_phrase_acts_and_an_ordinary_sentence_with_its_words_does_not(
    tmp_path: Path, mind: Mind
) -> None:
    script: list[dict[str, Any]] = [{**LOOK, "delay": 0.3}, {"text": "Done."}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.until(lambda e: isinstance(e, ev.RequestSent))
        await run.session.submit("pause the video when the list ends")
        await run.session.submit("pause")
        await run.until(lambda e: isinstance(e, ev.ToolFinished))
        await asyncio.sleep(0.1)
        assert run.paused()
        assert len(run.events(ev.RequestSent)) == 1
        await run.session.submit("go on")
        await run.session.wait_idle()
        assert not run.paused()
        assert run.texts() == [
            "Describe this folder",
            "pause the video when the list ends",
            "pause",
            "go on",
        ]
        classes = [event.class_ for event in run.events(ev.InputClassified)]
        assert classes[0] != "Pause"
        assert classes[1:] == ["Pause", "Resume"]


async def test_the_same_call_again_and_again_ends_in_a_request_without_tools(
    tmp_path: Path, mind: Mind
) -> None:
    other = {"calls": [{"name": "now", "arguments": {}}]}
    script = [LOOK, LOOK, other, LOOK, LOOK, LOOK, {"text": "Enough."}]
    async with live(script, tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        offered = ["tools" in request.body for request in run.server.requests]
        assert offered == [True] * 6 + [False]
        assert run.session.state.answer == "Enough."


async def test_in_the_schema_protocol_a_model_is_offered_what_can_help(
    tmp_path: Path, mind: Mind
) -> None:
    look = '{"thought":"t","tool":"list_files","args":{"path":"."}}'
    script = [{"text": look}, {"text": look}, {"text": '{"thought":"t","answer":"Enough."}'}]
    settings = ["provider.tool_protocol=schema"]
    async with live(script, tmp_path, mind, settings=settings) as run:
        await run.session.submit("Describe this folder")
        await run.session.wait_idle()
        formats = [str(request.body["response_format"]) for request in run.server.requests]
        assert ["list_files" in text for text in formats] == [True, True, False]
        assert not any("search_memory" in text for text in formats)
        assert run.session.state.answer == "Enough."


@pytest.mark.parametrize("wanted", [True, False])
async def test_reasoning_goes_back_where_the_setting_asks_for_it(
    tmp_path: Path, mind: Mind, wanted: bool
) -> None:
    script = [{"reasoning": "Two files.", "text": "There are two."}, {"text": "Yes."}]
    settings = [f"provider.send_reasoning={wanted}"]
    async with live(script, tmp_path, mind, settings=settings) as run:
        for text in ("How many files are there?", "Are you sure?"):
            await run.session.submit(text)
            await run.session.wait_idle()
        answer = run.requests()[-1][2]
    assert answer["content"] == "There are two."
    assert answer.get("reasoning_content") == ("Two files." if wanted else None)


def test_small_products_use_one_thread_as_long_as_a_mind_is_open() -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        mind = Mind()
        assert threads() == {1}
        mind.close()
        assert threads() == {2}
