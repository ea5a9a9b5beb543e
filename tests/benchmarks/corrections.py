"""What the user asked for stays byte-equal, and what was corrected is obeyed.

`measure` needs no model: a long session in each language under budgets of 10, 25 and 50 % of its
tokens, and, in 24 dialogues, whether the correction stands above the question that depends on
it. `measure_with_model` asks the local model that question in the same 24 dialogues: the turns
before it are played against the scripted server, and the session is then resumed with the model.
Its baseline is the same dialogue as raw history.

    python -m tests.benchmarks corrections
    python -m tests.benchmarks corrections_model
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gh_tui.agent.tools.calculator import Calculator
from gh_tui.agent.tools.files import ListFiles, ReadFile, WriteFile
from gh_tui.agent.tools.memory import Recall, SearchMemory
from gh_tui.agent.tools.time import Now
from gh_tui.context.prompts import system_prompt
from gh_tui.providers.base import Completed, Message
from gh_tui.providers.local.provider import LocalProvider
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths
from tests.benchmarks.byte_equal import byte_equal
from tests.benchmarks.report import Kind, Row, Table, Target
from tests.harness import live

LANGUAGES: Final = ("en", "zh", "id")
SMALL: Final = ("standing.max=3", "context.budget=1500")
"""What the local model gets."""
_TEXT: Final = Path(__file__).with_name("corrections.json")
_OBEYED: Final = 0.90
_TOOLS: Final = (Recall, SearchMemory, ReadFile, ListFiles, Calculator, Now, WriteFile)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """An instruction, turns about other things, its correction, more of them, a question."""

    language: str
    turns: tuple[tuple[str, str], ...]
    """All inputs before the question with their answers."""
    before: int
    """Other turns between the instruction and its correction."""
    after: int
    """Other turns between the correction and the question."""
    instruction: str
    correction: str
    question: str
    wanted: re.Pattern[str]
    """What an answer by the correction holds."""

    def obeyed(self, answer: str) -> bool:
        """Whether an answer follows the correction."""
        return bool(self.wanted.search(answer))


def read() -> list[Dialogue]:
    """The 24 dialogues; in three of each language the instruction is the task itself."""
    raw = json.loads(_TEXT.read_text("utf-8"))
    found = []
    for language, own in raw.items():
        fillers = [(asked, answer) for asked, answer in own["fillers"]]
        for number, item in enumerate(own["items"]):
            before, after = item["between"]
            turned = fillers[number:] + fillers[:number]
            turns = [
                (item["instruction"], own["understood"]),
                *turned[:before],
                (item["correction"], own["understood"]),
                *turned[before : before + after],
            ]
            if not item.get("first"):
                turns.insert(0, (own["task"], own["understood"]))
            found.append(
                Dialogue(
                    language=language,
                    turns=tuple(turns),
                    before=before,
                    after=after,
                    instruction=item["instruction"],
                    correction=item["correction"],
                    question=item["question"],
                    wanted=re.compile(item["wanted"], re.IGNORECASE),
                )
            )
    return found


async def record(dialogue: Dialogue, home: Path, mind: Mind) -> Path:
    """Play the turns before the question; the recording."""
    answers = [{"text": answer} for _, answer in dialogue.turns]
    async with live(answers, home, mind, settings=SMALL) as run:
        for text, _ in dialogue.turns:
            await run.session.submit(text)
            await run.session.wait_idle()
        path = run.session.recording
    if path is None:
        raise RuntimeError("nothing was recorded")
    return path


async def asked(dialogue: Dialogue, home: Path, mind: Mind) -> str:
    """The last message of the request with the question, as a small model gets it."""
    path = await record(dialogue, home, mind)
    async with live([{"text": "."}], home, mind, settings=SMALL, resume=path) as run:
        await run.session.submit(dialogue.question)
        await run.session.wait_idle()
        return run.texts()[-1]


async def answered(dialogue: Dialogue, home: Path, mind: Mind) -> str:
    """What the local model answers in a session that goes on from the recording."""
    path = await record(dialogue, home, mind)
    session = Session(
        load_settings(None, {}, ["provider.name=local"]),
        Paths(home, home),
        home / "workspace",
        interactive=False,
        mind=mind,
        resume=path,
        environ=os.environ,
    )
    try:
        await session.start()
        await session.submit(dialogue.question)
        await session.wait_idle()
        return session.state.answer or ""
    finally:
        await session.close()


async def answered_raw(dialogue: Dialogue, provider: LocalProvider) -> str:
    """What the model answers to the plain history."""
    tools = [kind.spec for kind in _TOOLS]
    messages = [Message("system", system_prompt(tools, "schema"))]
    for text, answer in dialogue.turns:
        messages += [Message("user", text), Message("assistant", answer)]
    messages.append(Message("user", dialogue.question))
    async with aclosing(provider.stream(messages, tools)) as stream:
        async for delta in stream:
            if isinstance(delta, Completed):
                return delta.text
    return ""


async def _standing(mind: Mind) -> Table:
    rows = []
    for language in LANGUAGES:
        above, beside = 0, 0
        own = [dialogue for dialogue in read() if dialogue.language == language]
        for dialogue in own:
            with tempfile.TemporaryDirectory() as home:
                last = await asked(dialogue, Path(home), mind)
            above += dialogue.correction in last
            beside += dialogue.instruction in last
        rows.append(Row(language, "result", len(own), (above / len(own), beside / len(own))))
    return Table(
        measure="Corrections, what stands above the question for a small model",
        heads=("correction", "replaced instruction too"),
        rows=tuple(rows),
        targets=(Target(1.0), Target(0.0, most=True)),
        items="dialogues",
    )


def measure() -> list[Table]:
    """The tables that need no model and no data."""
    return asyncio.run(_measure())


async def _measure() -> list[Table]:
    mind = Mind()
    try:
        return [await _standing(mind), await byte_equal(mind)]
    finally:
        mind.close()


async def ask_all(dialogues: Sequence[Dialogue], mind: Mind) -> list[str]:
    """The local model's answers, each in a session of its own."""
    answers = []
    for dialogue in dialogues:
        with tempfile.TemporaryDirectory() as home:
            answers.append(await answered(dialogue, Path(home), mind))
    return answers


async def ask_all_raw(dialogues: Iterable[Dialogue]) -> list[str]:
    """The same questions after the plain history."""
    provider = LocalProvider()
    try:
        await provider.warm_up()
        return [await answered_raw(dialogue, provider) for dialogue in dialogues]
    finally:
        await provider.aclose()


async def _with_model() -> list[Table]:
    dialogues, mind = read(), Mind()
    try:
        ours = await ask_all(dialogues, mind)
    finally:
        mind.close()
    plain = await ask_all_raw(dialogues)
    rows = []
    wrong = []
    for language in LANGUAGES:
        own = [place for place, d in enumerate(dialogues) if d.language == language]
        for method, answers in (("raw history", plain), ("gh_tui", ours)):
            hits = [dialogues[place].obeyed(answers[place]) for place in own]
            kind: Kind = "also" if answers is ours else "baseline"
            rows.append(Row(f"{method}, {language}", kind, len(own), (sum(hits) / len(own),)))
    for method, answers in (("raw history", plain), ("gh_tui", ours)):
        hits = [d.obeyed(answer) for d, answer in zip(dialogues, answers, strict=True)]
        kind = "result" if answers is ours else "baseline"
        rows.append(Row(f"{method}, all", kind, len(hits), (sum(hits) / len(hits),)))
    for dialogue, answer in zip(dialogues, ours, strict=True):
        if not dialogue.obeyed(answer):
            wrong.append(f"{dialogue.question} -> {answer!r}")
    return [
        Table(
            measure="Corrections obeyed by the local model",
            heads=("obeyed",),
            rows=tuple(rows),
            targets=(Target(_OBEYED),),
            items="dialogues",
            note="not obeyed: " + ("; ".join(wrong) or "none"),
        )
    ]


def measure_with_model() -> list[Table]:
    """Ask the local model; minutes."""
    return asyncio.run(_with_model())
