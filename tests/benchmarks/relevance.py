"""Does the relevance score keep what belongs to the task and drop small talk, at 0.3?

Each labelled input is scored against its task as the first input of a session, and each
labelled session from its first line to its last, as `gh-tui score` does. Of two labelled inputs
in a row the second is scored against the first, in a session whose task is not known. The
calibration that the program ships comes from a reference set of its own that holds none of these
texts, so no task is left out for it; the row that fits the two calibration points on this data
leaves out the task that it is tried on. `relevance_sessions.json` holds sessions written for this
project, most of them by people who had not seen the program; what is off topic in them is small
talk, or in the last table requests for something else.

    python -m tests.benchmarks --data DATA relevance
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from gh_tui.embedding.calibration import NATIVE, Calibration
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.errors import EmbeddingError
from gh_tui.memory.relevance import RelevanceTracker, score_lines, tracker_of
from tests.benchmarks.data import UNREADABLE, Skip, needed, read_text
from tests.benchmarks.report import Kind, Row, Table, Target, mean, with_skipped

THRESHOLD: Final = 0.3
_LEAST: Final = 0.95
_MANY: Final = 0.9
_OWN: Final = Path(__file__).with_name("relevance_sessions.json")
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_KANA: Final = re.compile("[\u3041-\u30ff]")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PairKind:
    """One kind of labelled pairs."""

    title: str
    on: str
    """The label of what is to be kept."""
    off: dict[str, str]
    """The labels of what is to be dropped, with their names."""
    note: str = ""


_TWO: Final = ("small talk", "other work")
KINDS: Final = {
    "task": PairKind(
        "inputs and tasks", "on", dict(zip(("off_smalltalk", "off_tech"), _TWO, strict=True))
    ),
    "adj": PairKind(
        "two inputs in a row",
        "same",
        dict(zip(("diff", "diff_tech"), _TWO, strict=True)),
        "the second against the first, without a task",
    ),
    "code": PairKind(
        "code and tasks",
        "on",
        {"off": "off-topic"},
        "the input is code or a command; off topic is that of other work",
    ),
    "xling": PairKind(
        "inputs and tasks in two languages",
        "on",
        {"off": "off-topic"},
        "zh-en is a Chinese task with an English input; off topic is small talk",
    ),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """An input and what it came after: the task, or for `adj` the input before."""

    kind: str
    language: str
    label: str
    before: str
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


def read(data: Path, skip: Skip) -> tuple[list[Pair], list[Told]]:
    """The labelled pairs, and the sessions.

    Args:
        data: the folder of the public data.
        skip: told what is left out.

    Raises:
        NoData: the file is not there, or not what it should be.
    """
    path = data / "relevance" / "pairs.json"
    with needed(path):
        raw = json.loads(read_text(path))
        items, sequences = list(raw.get("pairs", [])), list(raw.get("sequences", []))
    pairs = _each(items, _pair, "pairs", skip)
    return pairs, _each(sequences, _told, "sessions", skip)


def _each(items: Iterable[Any], parse: Callable[[Any], _T], what: str, skip: Skip) -> list[_T]:
    found: list[_T] = []
    wrong: Counter[str] = Counter()
    for item in items:
        try:
            found.append(parse(item))
        except UNREADABLE as error:
            wrong[f"{type(error).__name__}: {error}"] += 1
    for reason, times in wrong.items():
        skip(what, f"{times} of them: {reason}")
    if not found:
        skip(what, "there are none")
    return found


def _pair(item: dict[str, Any]) -> Pair:
    kind, label = item["kind"], item["label"]
    if label not in (KINDS[kind].on, *KINDS[kind].off):
        raise ValueError(f"{kind} pairs with the unknown label {label}")
    before, text = str(item["a"]), str(item["b"])
    return Pair(kind, language_of(item, before), label, before, text, str(item.get("task", before)))


def _told(item: dict[str, Any]) -> Told:
    task, lines = str(item["task"]), [str(line) for line in item["turns"]]
    labels = [None if label is None else bool(label) for label in item.get("labels") or ()]
    labels = labels or [
        None if value is None else float(value) >= THRESHOLD for value in item.get("expected") or ()
    ]
    if len(labels) != len(lines):
        raise ValueError("not a label for each line")
    return Told(language_of(item, task), task, tuple(lines), tuple(labels))


def language_of(item: dict[str, Any], text: str) -> str:
    """What is said of the language, or what the script gives away."""
    chinese = _HAN.search(text) and not _KANA.search(text)
    return str(item.get("lang") or ("zh" if chinese else "unknown"))


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


def auc(high: Sequence[float], low: Sequence[float]) -> float | None:
    """How often one of `high` is above one of `low`; ties count half; None without both."""
    above = np.subtract.outer(np.array(high), np.array(low))
    return float(np.mean((above > 0) + 0.5 * (above == 0))) if above.size else None


def _heads(kind: PairKind) -> tuple[str, ...]:
    names = list(kind.off.values())
    aucs = ["AUC", *(f"AUC, {name}" for name in names[1:])]
    return ("on-topic kept", *(f"{name} dropped" for name in names), *aucs)


def _figures(
    pairs: Sequence[Pair], scores: Sequence[float], kind: PairKind
) -> tuple[float | None, ...]:
    """In the order of the heads: the shares on the right side of the threshold, then AUC."""
    by = {
        label: [score for pair, score in zip(pairs, scores, strict=True) if pair.label == label]
        for label in (kind.on, *kind.off)
    }
    on = by[kind.on]
    return (
        mean(score >= THRESHOLD for score in on),
        *(mean(score < THRESHOLD for score in by[label]) for label in kind.off),
        *(auc(on, by[label]) for label in kind.off),
    )


def _left_out(pairs: Sequence[Pair], cosines: Sequence[float]) -> list[float] | None:
    """Cosines calibrated by the medians of all other tasks; None if those do not suffice."""
    scores = []
    for pair, cosine in zip(pairs, cosines, strict=True):
        others: dict[bool, list[float]] = {False: [], True: []}
        for other, value in zip(pairs, cosines, strict=True):
            if other.group != pair.group:
                others[other.label == "on"].append(value)
        if not others[False] or not others[True]:
            return None
        u, r = (float(np.median(others[wanted])) for wanted in (False, True))
        try:
            scores.append(Calibration(u, r).similarity(cosine))
        except EmbeddingError:
            return None
    return scores


async def _score(service: EmbeddingService, pair: Pair) -> float:
    if pair.kind == "adj":
        tracker = RelevanceTracker(NATIVE, dim=service.dim, embedder=service.name)
        *_, score = await score_lines(service, tracker, [pair.before, pair.text])
    else:
        tracker = await tracker_of(service, NATIVE, pair.before, "")
        (score,) = await score_lines(service, tracker, [pair.text])
    return score.relevance_score or 0.0


Method = tuple[str, Kind, Sequence[float]]


async def _pair_tables(service: EmbeddingService, pairs: Sequence[Pair], name: str) -> list[Table]:
    """A table for each language of one kind; only what belongs to a task is held to a target."""
    before = await service.embed([pair.before for pair in pairs])
    texts = await service.embed([pair.text for pair in pairs])
    cosines = [float(a @ b) for a, b in zip(before, texts, strict=True)]
    methods: list[Method] = [("raw cosine", "baseline", cosines)]
    if name == "task" and (calibrated := _left_out(pairs, cosines)) is not None:
        methods.append(("cosine, calibrated on the other tasks", "also", calibrated))
    own = [await _score(service, pair) for pair in pairs]
    methods.append(("relevance_score", "result" if name == "task" else "also", own))
    kind, target = KINDS[name], Target(_LEAST)
    tables = []
    for language in dict.fromkeys(pair.language for pair in pairs):
        places = [place for place, pair in enumerate(pairs) if pair.language == language]
        chosen = [pairs[place] for place in places]
        rows = [
            Row(method, row, len(places), _figures(chosen, [scores[i] for i in places], kind))
            for method, row, scores in methods
        ]
        tables.append(
            Table(
                measure=f"Relevance at {THRESHOLD}, {kind.title}, {language}",
                heads=_heads(kind),
                rows=tuple(rows),
                targets=(target, target) if name == "task" else (),
                items="pairs",
                note=kind.note,
            )
        )
    return tables


async def _session_table(
    service: EmbeddingService, what: str, sessions: Sequence[Told], *targets: Target
) -> Table:
    rows = []
    for language in dict.fromkeys(told.language for told in sessions):
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
        kept = mean(score >= THRESHOLD for score in on)
        dropped = mean(score < THRESHOLD for score in off)
        figures = (kept, dropped, auc(on, off))
        rows.append(Row(f"relevance_score, {language}", "result", len(on) + len(off), figures))
    return Table(
        measure=f"Relevance at {THRESHOLD}, {what} line by line",
        heads=("on-topic kept", "off-topic dropped", "AUC"),
        rows=tuple(rows),
        targets=targets,
        items="lines",
    )


async def tables_of(data: Path, service: EmbeddingService) -> list[Table]:
    """The tables of the public pairs, per kind and language, and of the public sessions.

    Raises:
        NoData: the file is not there, or not what it should be.
    """
    left_out: list[tuple[str, str]] = []
    pairs, sessions = read(data, lambda part, reason: left_out.append((part, reason)))
    tables: list[Table] = []
    for name, kind in KINDS.items():
        if own := [pair for pair in pairs if pair.kind == name]:
            tables += await _pair_tables(service, own, name)
        elif pairs:
            left_out.append((kind.title, "there are no pairs of this kind"))
    if sessions:
        target = Target(_LEAST)
        tables.append(await _session_table(service, "short sessions", sessions, target, target))
    return with_skipped("Relevance", tables, left_out)


async def _measure(data: Path) -> list[Table]:
    service, target = EmbeddingService(NativeEmbedder()), Target(_MANY)
    try:
        return [
            *await tables_of(data, service),
            await _session_table(service, "our sessions", read_own("talk"), target, target),
            await _session_table(service, "sessions with other requests", read_own("requests")),
        ]
    finally:
        service.close()


def measure(data: Path) -> list[Table]:
    """The tables of the public data, and those of this project's own sessions.

    Raises:
        NoData: the file is not there, or not what it should be.
    """
    return asyncio.run(_measure(data))
