"""Fifteen turns in three languages: what is kept, what goes, and what counts as a new topic.

The goal stands at turn 3, small talk at 8, a key constraint at 12, a minute between two turns.
A real session plays it with a manual clock against the scripted server. Then the talk moves on
to something else for good.

    python -m tests.benchmarks fifteen_turns
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gh_tui.clock import ManualClock
from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.benchmarks.report import Row, Table, Target
from tests.harness import Live, live

LANGUAGES: Final = ("en", "zh", "id")
GOAL, CHAT, CONSTRAINT = 3, 8, 12
SAFE_SECONDS: Final = 300.0
STEP_SECONDS: Final = 60.0
SETTINGS: Final = ("eviction.eager=true", f"eviction.safe_window_seconds={SAFE_SECONDS:g}")
_TEXT: Final = Path(__file__).with_name("fifteen_turns.json")

Talk = list[tuple[str, str]]


@dataclass(slots=True)
class Outcome:
    """What was seen; ages in seconds."""

    chat_kept_until: float = 0.0
    """Age of the small talk in the last request that carried it."""
    chat_gone_from: float | None = None
    """Its age in the first request without it."""
    chat_phase: str | None = None
    """The phase that archived it."""
    goal_exact: bool = False
    constraint_exact: bool = False
    """Byte-equal in the last of the fifteen requests."""
    on_topic_kept: float = 0.0
    """Share of the other inputs that the last request carries in full."""
    shifts_before: int = 0
    """Topic shifts in the fifteen turns, the remark among them."""
    shifts_after: int = 0
    """Topic shifts once the talk has moved on."""


def read() -> dict[str, dict[str, Talk]]:
    """By language: the fifteen turns, and those after the drift, each with its answer."""
    raw = json.loads(_TEXT.read_text("utf-8"))
    return {
        language: {name: [(said, answer) for said, answer in turns] for name, turns in own.items()}
        for language, own in raw.items()
    }


async def play(talk: Talk, drift: Talk, home: Path, mind: Mind) -> Outcome:
    """Play one language's session."""
    clock, seen = ManualClock(), Outcome()
    answers = [{"text": answer} for _, answer in (*talk, *drift)]
    said = [text for text, _ in talk]
    chat = said[CHAT - 1]
    async with live(answers, home, mind, settings=SETTINGS, clock=clock) as run:
        for number, text in enumerate(said, 1):
            await _say(run, text)
            age = STEP_SECONDS * (number - CHAT)
            if age >= 0:
                _look_for(chat, age, run, seen)
            clock.advance(STEP_SECONDS)
        last = run.texts()
        seen.goal_exact = said[GOAL - 1] in last
        seen.constraint_exact = said[CONSTRAINT - 1] in last
        others = [text for text in said[:-1] if text != chat]
        seen.on_topic_kept = sum(text in last for text in others) / len(others)
        seen.chat_phase = _phase(run, chat)
        seen.shifts_before = len(run.events(ev.TopicShiftDetected))
        for text, _ in drift:
            await _say(run, text)
            clock.advance(STEP_SECONDS)
        seen.shifts_after = len(run.events(ev.TopicShiftDetected)) - seen.shifts_before
    return seen


async def _say(run: Live, text: str) -> None:
    await run.session.submit(text)
    await run.session.wait_idle()


def _look_for(text: str, age: float, run: Live, seen: Outcome) -> None:
    if any(shown.endswith(text) for shown in run.texts()):
        seen.chat_kept_until = age
    elif seen.chat_gone_from is None:
        seen.chat_gone_from = age


def _phase(run: Live, text: str) -> str | None:
    iri = next(t.iri for t in run.session.state.turns.values() if t.text == text)
    changes: list[Any] = run.events(ev.TurnFidelityChanged)
    return next((c.phase for c in changes if c.iri == iri and c.after == "archived"), None)


async def play_all(languages: Iterable[str] = LANGUAGES) -> dict[str, Outcome]:
    """Play every language; needs no data."""
    mind, found = Mind(), {}
    try:
        for language in languages:
            with tempfile.TemporaryDirectory() as home:
                texts = read()[language]
                found[language] = await play(texts["talk"], texts["drift"], Path(home), mind)
    finally:
        mind.close()
    return found


def measure() -> list[Table]:
    """One row per language."""
    rows = [
        Row(
            language,
            "result",
            15,
            (
                seen.chat_kept_until,
                seen.chat_gone_from,
                float(seen.goal_exact),
                float(seen.constraint_exact),
                seen.on_topic_kept,
                float(seen.shifts_before),
                float(seen.shifts_after),
            ),
        )
        for language, seen in asyncio.run(play_all()).items()
    ]
    return [
        Table(
            measure="The fifteen turns",
            heads=(
                *("small talk kept, s", "gone from, s", "goal exact", "constraint exact"),
                *("rest kept", "shifts, one remark", "shifts, drift"),
            ),
            rows=tuple(rows),
            targets=(
                *(Target(SAFE_SECONDS), Target(SAFE_SECONDS + STEP_SECONDS, most=True)),
                *(Target(1), Target(1), None, Target(0, most=True), Target(1)),
            ),
            items="inputs",
            note=f"a minute between two inputs, safe window {SAFE_SECONDS:g} s, a pass each cycle",
        )
    ]
