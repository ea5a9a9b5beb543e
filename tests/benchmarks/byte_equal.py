"""Which of the user's words are byte-equal in the last request of a long session, under budgets.

One session per language: a task, instructions and corrections among turns about other things,
tool results, every other correction as a supplement while a tool runs, and a pin. It is played
once in full for its tokens, then under 10, 25 and 50 % of them, beside what is fixed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.benchmarks.report import Kind, Row, Table, Target
from tests.harness import Live, live

BUDGETS: Final = (0.10, 0.25, 0.50)
_TEXT: Final = Path(__file__).with_name("corrections.json")
_FILLERS: Final = 2
"""After each instruction and each correction."""
_LONG: Final = (
    " This is said at some length, as answers are, and most of it nobody needs again." * 4
)
_NOTES: Final = "notes.txt"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the last request carried of a session."""

    inputs: list[bool]
    """For each input of the user, whether it is byte-equal in the request."""
    guarded: list[bool]
    """The same for the task, supplements, standing instructions and the pin."""
    recoverable: list[bool]
    """For each input that is not, whether its IRI gives the whole text."""
    tokens: int
    """Of all turns in full."""
    fixed: int
    """Of the system prompt."""


@dataclass(frozen=True, slots=True)
class Saying:
    """One input, and whether it comes while a tool runs."""

    text: str
    supplement: bool = False


def script_of(own: dict[str, Any]) -> list[Saying]:
    """The inputs of one language's session."""
    fillers = [asked for asked, _ in own["fillers"]]
    said = [Saying(own["task"])]
    for number, item in enumerate(own["items"]):
        turned = fillers[number:] + fillers[:number]
        said.append(Saying(item["instruction"]))
        said += [Saying(text) for text in turned[:_FILLERS]]
        said.append(Saying(item["correction"], supplement=number % 2 == 1))
        said += [Saying(text) for text in turned[_FILLERS : 2 * _FILLERS]]
    return said


def reply(body: dict[str, Any], number: int) -> dict[str, Any]:
    """Reads the notes for every third input, slowly enough for a supplement; else it answers."""
    if number % 3 == 0 and body["messages"][-1]["role"] == "user":
        call = {"name": "read_file", "arguments": {"path": _NOTES}}
        return {"text": "I look into the notes.", "calls": [call], "delay": 0.05}
    return {"text": f"Answer {number}.{_LONG}"}


async def play(said: Sequence[Saying], budget: int | None, home: Path, mind: Mind) -> Kept:
    """Play a session under a budget; None is none."""
    workspace = home / "workspace"
    workspace.mkdir()
    (workspace / _NOTES).write_text("A line of the notes that nobody needs twice.\n" * 30, "utf-8")
    settings = [f"context.budget={budget or 10**6}", "context.window=2000000"]
    async with live(reply, home, mind, settings=settings) as run:
        for number, saying in enumerate(said):
            if saying.supplement:
                await run.session.submit("Look into the notes once more")
                await run.until(_sent_after(run.events(ev.RequestSent)[-1].request))
                await run.session.supplement(saying.text)
            else:
                await run.session.submit(saying.text)
            await run.session.wait_idle()
            if run.outcome != "done":
                raise RuntimeError(f"input {number} failed: {run.session.state.answer}")
            if number == _FILLERS:
                answer = next(t for t in run.session.state.turns.values() if t.role == "assistant")
                await run.session.submit(f"/pin {answer.iri}")
        return await _kept(run)


def _sent_after(request: int) -> Callable[[ev.Event], bool]:
    return lambda event: isinstance(event, ev.RequestSent) and event.request > request


async def _kept(run: Live) -> Kept:
    messages = run.requests()[-1]
    shown = {str(message["content"]) for message in messages}
    last = str(messages[-1]["content"])
    turns = list(run.session.state.turns.values())
    first = turns[0].iri
    inputs, guarded, recoverable = [], [], []
    # The answer to the last request came after it.
    for turn in turns[:-1]:
        exact = turn.text in shown or last.endswith(turn.text)
        if turn.role == "user":
            inputs.append(exact)
            if not exact:
                recoverable.append(await run.session.full_text(turn.iri) == turn.text)
        if turn.iri == first or turn.is_supplement or turn.standing or turn.pinned:
            guarded.append(exact)
    sent = run.events(ev.RequestSent)[-1]
    fixed = sum(entry.tokens for entry in sent.manifest if entry.part == "system")
    return Kept(inputs, guarded, recoverable, sum(turn.tokens for turn in turns), fixed)


async def byte_equal(mind: Mind) -> Table:
    """The table over all languages; needs no data."""
    raw = json.loads(_TEXT.read_text("utf-8"))
    found: dict[float, list[Kept]] = {share: [] for share in BUDGETS}
    for own in raw.values():
        said = script_of(own)
        whole = await _play_in_temporary(said, None, mind)
        for share in BUDGETS:
            budget = whole.fixed + int(share * whole.tokens)
            found[share].append(await _play_in_temporary(said, budget, mind))
    rows = []
    for share, sessions in found.items():
        inputs = [flag for kept in sessions for flag in kept.inputs]
        guarded = [flag for kept in sessions for flag in kept.guarded]
        rest = [flag for kept in sessions for flag in kept.recoverable]
        figures = (_share(guarded), float(len(guarded)), _share(inputs), _share(rest))
        kind: Kind = "result" if share >= 0.25 else "also"
        rows.append(Row(f"budget {share:.0%}", kind, len(inputs), figures))
    return Table(
        measure="Byte-equal in the last request",
        heads=("protected", "protected turns", "all user turns", "rest by IRI"),
        rows=tuple(rows),
        targets=(Target(1.0), None, None, Target(1.0)),
        items="user turns",
        note="protected: the task, supplements, standing instructions, the pin",
    )


async def _play_in_temporary(said: Sequence[Saying], budget: int | None, mind: Mind) -> Kept:
    with tempfile.TemporaryDirectory() as home:
        return await play(said, budget, Path(home), mind)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 1.0
