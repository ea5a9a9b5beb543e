"""Does the relevance score keep what belongs to the task and drop small talk, at 0.3?

Each labelled input is scored against its task as the first input of a session, and each
labelled session from its first line to its last, as `gh-tui score` does. The calibration that
the program ships comes from a reference set of its own that holds none of these texts, so no
task is left out for it; the row that fits the two calibration points on this data leaves out
the task that it is tried on. `relevance_sessions.json` holds sessions written for this project,
most of them by people who had not seen the program; what is off topic in them is small talk,
or in the last table requests for something else.

    python -m tests.benchmarks --data DATA relevance
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gh_tui.embedding.calibration import NATIVE, Calibration
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.memory.relevance import score_lines, tracker_of
from tests.benchmarks.report import Kind, Row, Table, Target

LANGUAGES: Final = ("en", "zh", "id")
THRESHOLD: Final = 0.3
_LEAST: Final = 0.95
_MANY: Final = 0.9
_OWN: Final = Path(__file__).with_name("relevance_sessions.json")
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Pair:
    """An input and the task it was given with."""

    language: str
    label: str
    """`on`, `off_smalltalk` or `off_tech`."""
    task: str
    text: str
    group: str
    """The name of the task, the same in all languages."""


@dataclass(frozen=True, slots=True)
class Told:
    """A short session with a label for each line: it belongs to the task, or nobody said."""

    language: str
    task: str
    lines: tuple[str, ...]
    labels: tuple[bool | None, ...]


def read(data: Path) -> tuple[list[Pair], list[Told]]:
    """The pairs of an input and a task, and the sessions.

    Raises:
        OSError: the file is not there.
    """
    raw = json.loads((data / "relevance" / "pairs.json").read_text("utf-8"))
    pairs = [
        Pair(item["lang"], item["label"], item["a"], item["b"], item["task"])
        for item in raw["pairs"]
        if item["kind"] == "task"
    ]
    return pairs, [_told(item) for item in raw["sequences"]]


def _told(item: dict[str, object]) -> Told:
    task, lines = str(item["task"]), [str(line) for line in _list(item["turns"])]
    language = str(item.get("lang") or ("zh" if _CHINESE.search(task) else "en"))
    labels: list[bool | None] = [bool(label) for label in _list(item.get("labels"))]
    labels = labels or [
        None if value is None else float(str(value)) >= THRESHOLD
        for value in _list(item.get("expected"))
    ]
    return Told(language, task, tuple(lines), tuple(labels))


def read_own(kind: str) -> list[Told]:
    """Sessions of this project whose off-topic lines are of a kind: `talk` or `requests`."""
    return [
        Told(
            item["lang"],
            item["task"],
            tuple(text for _, text in item["inputs"]),
            tuple(bool(on) for on, _ in item["inputs"]),
        )
        for item in json.loads(_OWN.read_text("utf-8"))
        if item["kind"] == kind
    ]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def auc(high: Sequence[float], low: Sequence[float]) -> float:
    """How often one of `high` is above one of `low`; ties count half."""
    above = np.subtract.outer(np.array(high), np.array(low))
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def _row(method: str, kind: Kind, pairs: Sequence[Pair], scores: Sequence[float]) -> Row:
    by = {
        label: [score for pair, score in zip(pairs, scores, strict=True) if pair.label == label]
        for label in ("on", "off_smalltalk", "off_tech")
    }
    on, talk, tech = by["on"], by["off_smalltalk"], by["off_tech"]
    figures = (
        float(np.mean([score >= THRESHOLD for score in on])),
        float(np.mean([score < THRESHOLD for score in talk])),
        float(np.mean([score < THRESHOLD for score in tech])),
        auc(on, talk),
        auc(on, tech),
    )
    return Row(method, kind, len(pairs), tuple(round(figure, 4) for figure in figures))


def _left_out(pairs: Sequence[Pair], cosines: Sequence[float]) -> list[float]:
    """Cosines calibrated by the medians of all other tasks."""
    scores = []
    for pair, cosine in zip(pairs, cosines, strict=True):
        others = [
            (other.label == "on", value)
            for other, value in zip(pairs, cosines, strict=True)
            if other.group != pair.group
        ]
        u, r = (
            float(np.median([v for on, v in others if on is wanted])) for wanted in (False, True)
        )
        scores.append(Calibration(u, r).similarity(cosine))
    return scores


def _by_language(
    method: str, kind: Kind, pairs: Sequence[Pair], scores: Sequence[float]
) -> Callable[[str], Row]:
    def row(language: str) -> Row:
        own = [(p, s) for p, s in zip(pairs, scores, strict=True) if p.language == language]
        return _row(method, kind, [p for p, _ in own], [s for _, s in own])

    return row


async def _pair_tables(service: EmbeddingService, pairs: Sequence[Pair]) -> list[Table]:
    tasks = await service.embed([pair.task for pair in pairs])
    texts = await service.embed([pair.text for pair in pairs])
    cosines = [float(a @ b) for a, b in zip(tasks, texts, strict=True)]
    scores = []
    for pair in pairs:
        tracker = await tracker_of(service, NATIVE, pair.task, "")
        (score,) = await score_lines(service, tracker, [pair.text])
        scores.append(score.relevance_score or 0.0)
    rows = [
        _by_language("raw cosine", "baseline", pairs, cosines),
        _by_language(
            "cosine, calibrated on the other tasks", "also", pairs, _left_out(pairs, cosines)
        ),
        _by_language("relevance_score", "result", pairs, scores),
    ]
    return [
        Table(
            measure=f"Relevance at {THRESHOLD}, inputs and tasks, {language}",
            heads=("on-topic kept", "small talk dropped", "other work dropped", "AUC", "AUC work"),
            rows=tuple(row(language) for row in rows),
            targets=(Target(_LEAST), Target(_LEAST)),
            items="inputs",
        )
        for language in LANGUAGES
    ]


async def _session_table(
    service: EmbeddingService, what: str, sessions: Sequence[Told], *targets: Target
) -> Table:
    rows = []
    for language in LANGUAGES:
        on: list[float] = []
        off: list[float] = []
        for told in sessions:
            if told.language != language:
                continue
            tracker = await tracker_of(service, NATIVE, told.task, "")
            scores = await score_lines(service, tracker, told.lines)
            for score, label in zip(scores, told.labels, strict=True):
                if label is not None:
                    (on if label else off).append(score.relevance_score or 0.0)
        kept = float(np.mean([score >= THRESHOLD for score in on]))
        dropped = float(np.mean([score < THRESHOLD for score in off]))
        rows.append(
            Row(
                f"relevance_score, {language}",
                "result",
                len(on) + len(off),
                (kept, dropped, auc(on, off)),
            )
        )
    return Table(
        measure=f"Relevance at {THRESHOLD}, {what} line by line",
        heads=("on-topic kept", "off-topic dropped", "AUC"),
        rows=tuple(rows),
        targets=targets,
        items="lines",
    )


async def _measure(data: Path) -> list[Table]:
    pairs, sessions = read(data)
    service = EmbeddingService(NativeEmbedder())
    try:
        most, many = Target(_LEAST), Target(_MANY)
        return [
            *await _pair_tables(service, pairs),
            await _session_table(service, "short sessions", sessions, most, most),
            await _session_table(service, "our sessions", read_own("talk"), many, many),
            await _session_table(service, "sessions with other requests", read_own("requests")),
        ]
    finally:
        service.close()


def measure(data: Path) -> list[Table]:
    """The tables of pairs per language, and of the sessions.

    Raises:
        OSError: the data is not there.
    """
    return asyncio.run(_measure(data))
