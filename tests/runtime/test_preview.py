"""A look at the next pass, which takes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gh_tui.clock import ManualClock
from gh_tui.events import types as ev
from gh_tui.events.codec import from_wire, to_wire
from gh_tui.events.state import fold
from gh_tui.plain import obey
from gh_tui.runtime import Mind
from tests.harness import Live, live

SPOKEN = "The ledger keeps one line for each payment, with payer, sum and bank day. " * 5
RULE = "Always write sums in rupiah"


def answer(body: dict[str, Any], number: int) -> dict[str, Any]:
    return {"text": f"Answer {number}. {SPOKEN}"}


async def say(run: Live, *texts: str) -> None:
    for text in texts:
        await run.session.submit(text)
        await run.session.wait_idle()


def preview_line(**fields: str) -> bytes:
    return json.dumps({"type": "user_input", "text": "/preview", **fields}).encode()


async def test_a_preview_says_what_the_pass_then_does(tmp_path: Path, mind: Mind) -> None:
    settings = ["context.budget=1700"]
    async with live(answer, tmp_path, mind, settings=settings, clock=ManualClock()) as run:
        questions = [f"How is field {n} of the ledger filled in?" for n in range(7)]
        await say(run, "Explain the ledger", RULE, *questions)
        assert not run.events(ev.PassStarted), "the budget is too small for this test"
        before = len(run.seen)
        assert await obey(run.session, preview_line(id="p1"))
        previewed, notice = (envelope.event for envelope in run.seen[before:])
        assert isinstance(previewed, ev.PassPreviewed)
        assert isinstance(notice, ev.Notice)
        assert notice.client_id == "p1"
        assert all(turn.fidelity == "full" for turn in run.session.state.turns.values())
        await say(run, "/compact")
        started = run.events(ev.PassStarted)[-1]
        taken = [c for c in run.events(ev.TurnFidelityChanged) if c.pass_ == started.pass_]
        assert taken
        assert [(c.iri, c.before, c.after, c.phase, c.terms, c.tokens_freed) for c in taken] == [
            (c.iri, c.before, c.after, c.phase, c.terms, c.tokens_freed) for c in previewed.changes
        ]
        assert previewed.tokens_before == started.tokens_before
        assert previewed.tokens_after == run.events(ev.PassFinished)[-1].tokens_after
        told = notice.text.splitlines()
        assert f"{previewed.tokens_after:,} tokens" in told[0]
        assert f"{started.tokens_before:,} tokens of 1,700 so far" in told[0]
        for change in taken:
            number = change.iri.rpartition("/")[2]
            line = next(line for line in told if line.startswith(f"#{number} "))
            assert f"→ {change.after} · frees {change.tokens_freed}" in line
        rule = next(t for t in run.session.state.turns.values() if t.text == RULE)
        assert rule.standing
        spared = next(line for line in told if line.startswith("Of these no pass may take"))
        assert "#1," in spared
        assert f"#{rule.iri.rpartition('/')[2]}," in spared


async def test_a_preview_of_nothing_says_so(tmp_path: Path, mind: Mind) -> None:
    async with live(answer, tmp_path, mind) as run:
        await say(run, "Explain the ledger", "/preview")
        assert run.events(ev.PassPreviewed)[-1].changes == ()
        told = run.events(ev.Notice)[-1].text
        assert "would take nothing" in told
        assert "Stay in view: #1–2" in told


async def test_a_preview_is_replayed_and_stands_until_the_memory_changes(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(answer, tmp_path, mind, settings=["context.budget=700"]) as run:
        await say(run, "Explain the ledger", *(f"What is field {n}?" for n in range(3)))
        await say(run, "/preview")
        previewed = run.events(ev.PassPreviewed)[-1]
        assert previewed.changes
        assert run.session.state.preview == previewed
        recorded = [from_wire(json.loads(json.dumps(to_wire(e)))) for e in run.seen if e.seq]
        assert fold(recorded).preview == previewed
        await say(run, "And field 9?")
        assert run.session.state.preview is None


@pytest.mark.parametrize(
    ("setting", "trigger", "words"),
    [
        ("eviction.max_messages=12", "messages", "runs above 12 messages; there are 12 so far"),
        ("eviction.eager=true", "eager", "A pass runs before each request"),
        ("context.budget=1100", "watermark", "runs above 935 tokens"),
    ],
)
async def test_a_preview_names_what_will_start_the_next_pass(
    setting: str, trigger: str, words: str, tmp_path: Path, mind: Mind
) -> None:
    async with live(answer, tmp_path, mind, settings=["context.budget=8000", setting]) as run:
        questions = [f"How is field {n} of the ledger filled in?" for n in range(5)]
        await say(run, "Explain the ledger", *questions, "/preview")
        assert words in run.events(ev.Notice)[-1].text.splitlines()[0]
        previewed = run.events(ev.PassPreviewed)[-1]
        assert trigger == "eager" or previewed.changes
        await say(run, *questions)
        passes = {e.pass_: e.trigger for e in run.events(ev.PassStarted)}
        assert {*passes.values()} <= {trigger}
        taken = {c.iri for c in run.events(ev.TurnFidelityChanged)}
        assert {c.iri for c in previewed.changes} <= taken
