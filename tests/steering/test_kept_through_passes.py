"""After five passes of every kind, what the user asked to hold is byte-equal in the next request.

That is the task, each supplement, each standing instruction and each pin.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.harness import Live, live
from tests.steering.promise import LOOK, sent

TASK = "  Describe the orders database,\nand find the slow reports.  "
SAID = ["Use the test environment, not production", "什么都不要删除", "Jawab dalam dua kalimat"]
STANDING = "Never change the schema without asking me first"
PINNED = "Pinned: the index on customer_id was dropped on 14 May at 09:12, by hand."
TABLES = ("orders", "customers", "invoices", "reports", "users", "items", "prices", "stock")
SUBJECTS = (
    "Bake a cake with plums and cinnamon",
    "Which train goes from Lisbon to Porto on Sunday?",
    "Explain how a violin is tuned",
    "My cat does not eat any more",
    "What is the capital of Mongolia?",
    "Translate this poem about the sea",
    "The tyre of my bicycle is flat",
)

FILL = "The table holds one row for each day and each shop, and nobody has looked at it. "
OVERFLOW: dict[str, Any] = {
    "status": 400,
    "error": {"message": "too long", "code": "context_length_exceeded"},
}
SETTINGS: dict[str, list[str]] = {
    "command": ["context.budget=6000"],
    "eager": ["eviction.eager=true", "context.budget=6000"],
    "watermark": ["context.budget=1300"],
    "overflow": ["context.budget=6000"],
    "topic": ["coherence.rule=adjacent", "context.budget=6000"],
    "messages": ["eviction.max_messages=12", "context.budget=6000"],
}


class Script:
    """Answers at length, works with tools now and then, and refuses when it is told to."""

    def __init__(self) -> None:
        self.overflows = 0
        self.slow = False

    def __call__(self, body: dict[str, Any], number: int) -> dict[str, Any]:
        if self.overflows:
            self.overflows -= 1
            return OVERFLOW
        if self.slow:
            self.slow = False
            return {**LOOK, "delay": 0.1}
        answered = body["messages"][-1]["role"] == "tool"
        if number % 3 or answered:
            return {"text": PINNED if number == 1 else f"Answer {number}. {FILL * 4}"}
        return {"text": FILL, "calls": LOOK["calls"] * 2}


async def begin(run: Live, script: Script) -> str:
    """Say everything that is to be kept; the IRI of the pin."""
    script.slow = True
    await run.session.submit(TASK)
    await sent(run)
    for text in SAID:
        await run.session.supplement(text)
    await run.session.wait_idle()
    await run.session.submit(STANDING)
    await run.session.wait_idle()
    state = run.session.state
    assert [t.standing for t in state.turns.values() if t.text == STANDING] == [True]
    pin = next(turn.iri for turn in state.turns.values() if turn.text == PINNED)
    await run.session.submit(f"/pin {pin}")
    return pin


@pytest.mark.parametrize("trigger", list(SETTINGS))
async def test_what_must_hold_is_byte_equal_after_five_passes(
    tmp_path: Path, mind: Mind, trigger: str
) -> None:
    script = Script()
    settings = [*SETTINGS[trigger], "eviction.safe_window_seconds=0.001"]
    if trigger != "overflow":
        settings += ["eviction.relevance_threshold=0.9", "eviction.preserve_recent=1"]
    async with live(script, tmp_path, mind, settings=settings) as run:
        await begin(run, script)
        rounds = 0
        while passes(run, trigger) < 5:
            rounds += 1
            assert rounds < 60, "the passes did not come"
            if trigger == "command":
                await run.session.submit("/compact")
            script.overflows = int(trigger == "overflow")
            await run.session.submit(subject(trigger, rounds))
            await run.session.wait_idle()
        assert run.outcome == "done"
        await run.session.submit("And what else?")
        await run.session.wait_idle()
        messages = run.requests()[-1]
        assert messages[1] == {"role": "user", "content": TASK}
        last = run.texts()
        assert [text for text in last if text in SAID] == SAID
        assert STANDING in last
        assert PINNED in [m["content"] for m in messages if m["role"] == "assistant"]
        assert any(text.endswith("And what else?") for text in last)
        gone = [t for t in run.session.state.turns.values() if t.fidelity != "full"]
        assert gone, "the passes took nothing, so they prove nothing"


def passes(run: Live, trigger: str) -> int:
    return sum(event.trigger == trigger for event in run.events(ev.PassStarted))


def subject(trigger: str, number: int) -> str:
    """The next thing to say; for topic passes always about something else."""
    if trigger == "topic":
        return SUBJECTS[number % len(SUBJECTS)]
    return f"What is in the table {TABLES[number % len(TABLES)]}, number {number}?"
