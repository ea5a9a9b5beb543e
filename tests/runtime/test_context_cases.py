"""What other programs lost, hid or repeated when their context filled up, on a live session.

The cases are C3 to C15 of the house's list; those not here are tested where they live.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.vectors import unpack
from gh_tui.events import types as ev
from gh_tui.providers.scripted.manners import count_usage
from gh_tui.runtime import Mind
from tests.benchmarks.fifteen_turns import read
from tests.harness import Live, live

LONG = "The orders table holds one row for each order, with its customer, price and state. " * 4
OVERFLOW: dict[str, Any] = {
    "status": 400,
    "error": {"message": "too long", "code": "context_length_exceeded"},
}
SMALL = ["context.budget=900"]


async def say(run: Live, *texts: str) -> None:
    for text in texts:
        await run.session.submit(text)
        await run.session.wait_idle()


def answer(body: dict[str, Any], number: int) -> dict[str, Any]:
    return {"text": f"Answer {number}. {LONG}"}


def questions(number: int) -> list[str]:
    return [f"How is column {n} of the orders table filled?" for n in range(number)]


async def test_c3_a_pass_says_what_it_took_and_one_undo_brings_it_all_back(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(answer, tmp_path, mind, settings=SMALL) as run:
        await say(run, "Describe the orders database", *questions(8))
        started, finished = run.events(ev.PassStarted)[-1], run.events(ev.PassFinished)[-1]
        taken = [c for c in run.events(ev.TurnFidelityChanged) if c.pass_ == started.pass_]
        assert taken
        for change in taken:
            assert change.phase in ("mask", "threshold", "fusion")
            assert change.before != change.after
            assert {"relevance_score", "age"} <= set(change.terms)
        freed = sum(change.tokens_freed for change in taken)
        assert started.tokens_before - finished.tokens_after == freed > 0
        await run.session.submit("/undo")
        back = run.events(ev.TurnFidelityChanged)[-len(taken) :]
        assert {c.phase for c in back} == {"undo"}
        await say(run, "Go on")
        shown = {e.iri: e.fidelity for e in run.events(ev.RequestSent)[-1].manifest}
        assert {shown[change.iri] for change in taken} == {"full"}


async def test_c4_an_overflow_is_tried_twice_then_explained_and_the_session_goes_on(
    tmp_path: Path, mind: Mind
) -> None:
    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return OVERFLOW if 3 <= number < 6 else answer(body, number)

    async with live(script, tmp_path, mind) as run:
        await say(run, "Describe the orders database", *questions(2))
        before = len(run.requests())
        await say(run, "And the customers?")
        assert run.outcome == "failed"
        assert 1 <= len(run.requests()) - before <= 3
        assert run.session.state.answer
        await say(run, "Are you still there?")
        assert run.outcome == "done"


async def test_c4_after_two_attempts_it_is_said_that_more_can_be_tried(
    tmp_path: Path, mind: Mind
) -> None:
    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return OVERFLOW if 12 <= number < 16 else answer(body, number)

    async with live(script, tmp_path, mind) as run:
        await say(run, "Describe the orders database", *questions(12))
        told = run.session.state.answer
        assert run.outcome == "failed"
        assert "still too many after 2 passes" in told
        assert "/resume tries again with further passes" in told
        passes = len(run.events(ev.PassStarted))
        await say(run, "/resume")
        assert run.outcome == "done"
        assert len(run.events(ev.PassStarted)) > passes


TASK = "Describe the orders database. " + "".join(
    f"Column {number} belongs to team {number * 37 % 991}. " for number in range(300)
)


@pytest.mark.parametrize("refused", [(0,), (1, 2), (0, 1)])
async def test_c4_an_overflow_never_cuts_the_task_and_says_what_the_user_can_do(
    tmp_path: Path, mind: Mind, refused: tuple[int, ...]
) -> None:
    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return OVERFLOW if number in refused else answer(body, number)

    async with live(script, tmp_path, mind, settings=["context.budget=16000"]) as run:
        await say(run, TASK, "And the customers?", "And the invoices?")
        assert {run.texts(number)[0] for number in range(len(run.requests()))} == {TASK}
        assert not any(change.attached for change in run.events(ev.TurnFidelityChanged))
        told = [e.text for e in run.events(ev.TaskFinished) if e.outcome == "failed"]
        assert told
        for text in told:
            assert "the task 2" in text
            assert "/attach 1 frees" in text
        await say(run, "/attach 1", "Once more?")
        assert len(run.texts()[0]) < len(TASK) / 2
        await say(run, "/recall 1", "Whole?")
        assert (run.texts()[0], run.outcome) == (TASK, "done")


async def test_c4_what_cannot_be_freed_is_not_tried_again_and_again(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(answer, tmp_path, mind, settings=["context.budget=100"]) as run:
        for text in ("Describe the orders database", "Are you there?", "And now?"):
            await say(run, text)
            assert run.outcome == "failed"
            assert "context.budget" in run.session.state.answer
        assert run.events(ev.PassStarted) == []
        assert run.requests() == []


async def test_c3_one_undo_shows_whole_again_what_an_overflow_made_an_attachment(
    tmp_path: Path, mind: Mind
) -> None:
    log = "".join(f"line {number} of the pasted log\n" for number in range(600))

    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return OVERFLOW if number in (1, 2) else answer(body, number)

    async with live(script, tmp_path, mind) as run:
        await say(run, "Describe the orders database", log)
        turn = run.turn(3)
        assert (turn.attached, run.outcome) == (True, "done")
        attached = next(c for c in run.events(ev.TurnFidelityChanged) if c.attached)
        done = [e for e in run.events(ev.PassFinished) if e.pass_ == attached.pass_]
        assert done[0].tokens_after == run.events(ev.RequestSent)[-1].tokens
        assert any("/undo" in notice.text for notice in run.events(ev.Notice))
        await say(run, "/undo", "Go on")
        assert log in run.texts()
        assert not turn.attached


async def test_c5_one_number_on_one_basis_everywhere(tmp_path: Path, mind: Mind) -> None:
    async with live(answer, tmp_path, mind, settings=SMALL) as run:
        rule = "Never name a customer in your answers"
        await say(run, "Describe the orders database", rule, *questions(8))
        said_again = 0
        for sent in run.events(ev.RequestSent):
            assert sent.tokens == sum(entry.tokens for entry in sent.manifest)
            assert sent.budget == 900
            said_again += any(entry.part == "standing" for entry in sent.manifest)
        assert said_again > 3
        assert run.session.state.request == run.events(ev.RequestSent)[-1]
        kinds = (ev.PassFinished, ev.RequestSent)
        for one, other in zip(run.events(*kinds), run.events(*kinds)[1:], strict=False):
            if isinstance(one, ev.PassFinished) and isinstance(other, ev.RequestSent):
                assert one.tokens_after == other.tokens
        bases = [sent.tokens_basis for sent in run.events(ev.RequestSent)]
        assert bases[0] == "estimated"
        assert bases[-1] == "confirmed"
        started = run.events(ev.SessionStarted)[0]
        assert (started.window_source, started.window) == ("server", 32_768)


def without_usage(body: dict[str, Any], number: int) -> dict[str, Any]:
    text = {"role": "assistant", "content": f"Answer {number}. {LONG}"}
    deltas: list[tuple[dict[str, Any], str | None]] = [(text, None), ({}, "stop")]
    choices = [[{"index": 0, "delta": d, "finish_reason": reason}] for d, reason in deltas]
    return {"events": [*({"choices": choice} for choice in choices), "[DONE]"]}


async def test_c6_without_usage_the_estimate_is_shown_and_fires(tmp_path: Path, mind: Mind) -> None:
    async with live(without_usage, tmp_path, mind, settings=SMALL) as run:
        await say(run, "Describe the orders database", *questions(16))
        assert run.outcome == "done"
        sent = run.events(ev.RequestSent)
        assert {event.tokens_basis for event in sent} == {"estimated"}
        assert all(0 < event.tokens <= event.budget for event in sent)
        assert [event.trigger for event in run.events(ev.PassStarted)].count("watermark") >= 2


def assert_nothing_learned(run: Live, told: ev.TruncationSuspected) -> None:
    """After a cut is noticed each turn is estimated as before, in request after request."""
    later = [sent for sent in run.events(ev.RequestSent) if sent.request > told.request]
    assert len(later) > 3
    counts: dict[str | None, set[int]] = {}
    for entry in (entry for sent in later for entry in sent.manifest if entry.iri):
        counts.setdefault(entry.iri, set()).add(entry.tokens)
    assert {len(tokens) for tokens in counts.values()} == {1}


async def test_c7_a_prompt_that_the_server_cut_is_told_and_not_learned_from(
    tmp_path: Path, mind: Mind
) -> None:
    def cut(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {**answer(body, number), "usage": {"prompt_tokens": 200, "completion_tokens": 90}}

    async with live(cut, tmp_path, mind) as run:
        await say(run, "Describe the orders database", *questions(10))
        told = run.events(ev.TruncationSuspected)
        assert told
        assert told[-1].reported == 200
        assert len(told) == 1, "one cause is told once"
        sent = {event.request: event for event in run.events(ev.RequestSent)}
        assert told[-1].sent == sent[told[-1].request].tokens
        assert run.session.state.truncation == told[-1]
        assert_nothing_learned(run, told[0])


async def test_c7_a_prompt_that_outgrows_a_silent_limit_by_small_steps_is_told(
    tmp_path: Path, mind: Mind
) -> None:
    limit, real = 2048, list[int]()

    def cut(body: dict[str, Any], number: int) -> dict[str, Any]:
        real.append(count_usage(body, "", "")["prompt_tokens"])
        usage = {"prompt_tokens": min(limit, real[-1]), "completion_tokens": 90}
        return {**answer(body, number), "usage": usage}

    async with live(cut, tmp_path, mind) as run:
        await say(run, "Describe the orders database", *questions(24))
        (told,) = run.events(ev.TruncationSuspected)
        assert told.reported == limit
        assert real[told.request - 1] < limit + 900
        assert max(b - a for a, b in pairwise(real)) < 400
        assert_nothing_learned(run, told)


async def test_c7_a_server_that_reads_whole_prompts_is_not_suspected(
    tmp_path: Path, mind: Mind
) -> None:
    table = "| 项目 | 状态 |\n|---|---|\n" + "| 订单数据库迁移的结果 | 已经完成并且通过 |\n" * 24
    rows = "\n".join(f"{n:>12} {n * 7919 % 1000:>12}  ok" for n in range(400))

    def whole(body: dict[str, Any], number: int) -> dict[str, Any]:
        if number == 1:
            return {"calls": [{"name": "read_file", "arguments": {"path": "rows.txt"}}]}
        return {"text": table if number == 0 else f"Answer {number}. {LONG}"}

    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "rows.txt").write_text(rows)
    async with live(whole, tmp_path, mind) as run:
        await say(run, "Describe the orders database", "Read rows.txt", *questions(3))
        assert run.events(ev.TruncationSuspected) == []
        assert run.events(ev.RequestSent)[-1].tokens_basis == "confirmed"


async def test_c9_passes_asked_for_at_once_and_during_a_reply_run_one_by_one(
    tmp_path: Path, mind: Mind
) -> None:
    def slow(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {**answer(body, number), "chunk_delay": 0.004 if number == 8 else 0.0}

    async with live(slow, tmp_path, mind, settings=["context.budget=2500"]) as run:
        await say(run, "Describe the orders database", *questions(7))
        before = len(run.events(ev.PassStarted))
        await run.session.submit("Which column is the widest?")
        await run.until(lambda e: isinstance(e, ev.ReplyDelta) and e.request == 9)
        told = await asyncio.gather(*(run.session.submit("/compact") for _ in range(4)))
        assert told.count("the pass found nothing to take") <= 1, "only of a pass that ran"
        await run.session.wait_idle()
        assert run.outcome == "done"
        kinds = [type(e) for e in run.events(ev.PassStarted, ev.PassFinished)]
        assert kinds == [ev.PassStarted, ev.PassFinished] * (len(kinds) // 2)
        numbers = [event.pass_ for event in run.events(ev.PassStarted)]
        assert numbers == sorted(set(numbers))
        assert len(numbers) - before <= 5


COOKING = (
    (
        "I want to bake bread on Sunday: how much flour do I need for one loaf?",
        "500 grams of flour.",
    ),
    ("How long does the dough have to rise?", "The dough rises for two hours."),
    ("Which oven temperature is best for a crust?", "Bake the bread at 240 degrees."),
    ("Can I replace the yeast with sourdough?", "Yes, use 100 grams of sourdough for the bread."),
    ("How do I keep the bread fresh?", "Keep the bread in a linen bag."),
)


async def test_c10_each_new_topic_is_found_once(tmp_path: Path, mind: Mind) -> None:
    texts = read()["en"]
    turns = [*texts["talk"][:7], *texts["drift"], *COOKING]
    async with live([{"text": told} for _, told in turns], tmp_path, mind) as run:
        await say(run, *(said for said, _ in turns))
        boundaries = [
            run.session.state.turns[shift.boundary].text
            for shift in run.events(ev.TopicShiftDetected)
        ]
        assert boundaries == [texts["drift"][0][0], COOKING[0][0]]


@pytest.mark.parametrize("followed", ["now fix it", "ok", "继续", "lanjut", "why?", "改一下"])
async def test_c11_a_short_follow_up_is_no_shift_and_nothing_goes(
    followed: str, tmp_path: Path, mind: Mind
) -> None:
    turns = read()["en"]["talk"][:6]
    script = [{"text": told} for _, told in turns] + [{"text": "Done."}] * 3
    async with live(script, tmp_path, mind) as run:
        await say(run, *(said for said, _ in turns), followed, followed, followed)
        assert not run.events(ev.TopicShiftDetected, ev.PassStarted, ev.TurnFidelityChanged)
        assert len(run.texts()) == len(turns) + 3


async def test_c13_failed_attempts_and_their_reason_survive(tmp_path: Path, mind: Mind) -> None:
    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        if number == 1:
            call = {"name": "read_file", "arguments": {"path": "schema/orders-v7.sql"}}
            return {"text": LONG, "calls": [call]}
        return answer(body, number)

    async with live(script, tmp_path, mind, settings=SMALL) as run:
        await say(run, "Describe the orders database", "Read the schema of the orders")
        call = next(t for t in run.session.state.turns.values() if t.calls)
        await say(run, *questions(12))
        contents = [str(m["content"]) for request in run.requests() for m in request]
        lines = {text for text in contents if text.endswith(call.iri)}
        assert lines, "the exchange never became a line, so this proves nothing"
        for line in lines:
            assert "schema/orders-v7.sql" in line
            assert "no such file" in line.lower() or "not found" in line.lower()


async def test_c15_scores_use_the_range_that_the_threshold_needs(
    tmp_path: Path, mind: Mind
) -> None:
    for language, texts in read().items():
        home = tmp_path / language
        home.mkdir()
        script = [{"text": told} for _, told in texts["talk"]]
        async with live(script, home, mind) as run:
            await say(run, *(said for said, _ in texts["talk"]))
            scores = {
                turn.text: turn.relevance_score
                for turn in run.session.state.turns.values()
                if turn.role == "user" and turn.relevance_score is not None
            }
            known = list(scores.values())
            assert scores[texts["talk"][7][0]] < 0.3
            assert sum(score >= 0.3 for score in known) >= 12
            assert max(known) - min(known) > 0.4


async def test_c15_passes_compare_in_the_calibrated_range(tmp_path: Path, mind: Mind) -> None:
    settings = [*SMALL, "eviction.policy=classic"]
    async with live(answer, tmp_path, mind, settings=settings) as run:
        await say(run, "Describe the orders database", *questions(8))
        vectors = {e.iri: unpack(e.embedding) for e in run.events(ev.TurnScored) if e.embedding}
        queries = {e.pass_: e.query_iri for e in run.events(ev.PassStarted)}
        changes = [c for c in run.events(ev.TurnFidelityChanged) if c.phase == "fusion"]
        assert len(changes) > 4
        for change in changes:
            cosine = float(vectors[change.iri] @ vectors[queries[change.pass_]])
            similarity = NATIVE.similarity(np.array([cosine], np.float32))[0]
            assert change.terms["query"] == pytest.approx(similarity, abs=0.002)
