"""Recorded coding sessions as the benchmark lives through them: turns, scores, references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Vector, problem
from gh_tui.errors import GhError
from gh_tui.events import types as ev
from gh_tui.events.values import ToolCall
from gh_tui.memory.relevance import RelevanceTracker
from gh_tui.memory.tokens import count_message
from gh_tui.memory.turn import L1Turn, new_turn
from gh_tui.session.importers.detect import detect
from gh_tui.session.importers.events import to_events
from gh_tui.session.importers.turns import ImportedTurn
from tests.benchmarks.data import FOLDERS, UNREADABLE, NoData, Skip, why

LONG: Final = 6
"""Messages; a name last seen longer ago is long-range."""
LEAST_CALLS: Final = 8
"""A shorter session says nothing about memory."""
_GAP: Final = 20.0
_WORD: Final = re.compile(r"[\w./@~$-]*[A-Za-z_][\w./@~$-]*", re.ASCII)
_TELLING: Final = re.compile(r"[/_]|[a-z][A-Z]|\w\.\w|[A-Za-z]\d|-\w+-", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z_$][\w$]{3,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Need:
    """A name that a call takes up from what was there before."""

    name: str
    far: bool
    """Last seen more than `LONG` messages before."""
    word: bool
    """An ordinary word."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One session: its turns in order, scored, and what its calls refer to."""

    name: str
    format: str
    system: str
    turns: tuple[L1Turn, ...]
    seen: tuple[str, ...]
    """All that each turn shows: its text and its calls."""
    needs: tuple[tuple[Need, ...], ...]
    """For each turn, the names its calls take up."""

    @property
    def calls(self) -> int:
        return sum(len(turn.calls) for turn in self.turns)

    def budget(self, share: float) -> int:
        """The system prompt and the task, and a share of the tokens of all that follows."""
        fixed = count_message(self.system) + self.turns[0].tokens
        return fixed + int(share * sum(turn.tokens for turn in self.turns[1:]))


def names_in(text: str) -> set[str]:
    """The paths and identifiers of a text: words with a mark that ordinary words do not have."""
    found = (word.strip(".-~$@").rstrip("/") for word in _WORD.findall(text))
    return {word for word in found if len(word) > 3 and _TELLING.search(word)}


def arguments_text(value: Any) -> str:
    """The strings in a call's arguments, without JSON's marks."""
    match value:
        case str():
            return value
        case dict():
            return "\n".join(arguments_text(item) for item in value.values())
        case list():
            return "\n".join(arguments_text(item) for item in value)
        case _:
            return str(value)


def shown_text(text: str, calls: Iterable[ToolCall]) -> str:
    """All that a message shows."""
    return "\n".join([text, *(f"{c.name}\n{arguments_text(c.arguments)}" for c in calls)])


def sessions_folder(data: Path) -> Path:
    """Where the sessions are: in the folder of the data, beside it, or it is of nothing else.

    Raises:
        NoData: nowhere.
    """
    places = [data / "sessions", data.resolve().parent / "sessions"]
    if not any((data / name).exists() for name in FOLDERS):
        places.append(data)
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise NoData(f"there is no sessions in or beside {data}")
    return found


def files_in(folder: Path) -> list[Path]:
    """What may be a transcript, in order."""
    kinds = (".json", ".jsonl", ".traj")
    return sorted(path for path in folder.rglob("*") if path.suffix in kinds and path.is_file())


async def read_sessions(files: Iterable[Path], skip: Skip) -> list[Recorded]:
    """The sessions with enough calls, all of a file; `skip` is told what is left out."""
    embedding = EmbeddingService(NativeEmbedder())
    sessions: list[Recorded] = []
    try:
        for path in files:
            name = f"{path.parent.name}/{path.name}"
            try:
                sessions += await _read(path, partial(skip, name), embedding)
            except GhError as error:
                skip(name, str(error))
            except UNREADABLE as error:
                skip(name, why(error))
    finally:
        embedding.close()
    return sessions


async def _read(
    path: Path, tell: Callable[[str], None], embedding: EmbeddingService
) -> list[Recorded]:
    transcript = detect(path)
    sessions: list[Recorded] = []
    short: list[int] = []
    for number in range(1, transcript.conversations + 1):
        messages = list(transcript.turns(number))
        turns = _added(messages, transcript.format)
        calls = sum(len(turn.calls) for turn, _ in turns)
        if calls < LEAST_CALLS:
            short.append(calls)
            continue
        name = path.name if transcript.conversations == 1 else f"{path.name}, {number}"
        sessions.append(
            await _recorded(name, transcript.format, _system(messages), turns, embedding)
        )
    if short and transcript.conversations == 1:
        tell(f"{short[0]} tool calls")
    elif short:
        few = f"{max(short)} tool calls or fewer"
        tell(f"{len(short)} of {transcript.conversations} conversations: {few}")
    if transcript.skipped:
        tell(f"{transcript.skipped} damaged lines")
    return sessions


def _system(messages: Sequence[ImportedTurn]) -> str:
    first = next((i for i, m in enumerate(messages) if m.role == "user"), 0)
    return "\n\n".join(m.text for m in messages[:first] if m.role == "system")


def _added(messages: Sequence[ImportedTurn], kind: str) -> list[tuple[ev.TurnAdded, float]]:
    """The turns, and the seconds from the first to each."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    if any(message.time is not None for message in messages):
        start = datetime.fromtimestamp(0, UTC)
    turns: list[tuple[ev.TurnAdded, float]] = []
    began: datetime | None = None
    for stamped in to_events(messages, "s", source=kind, start=start):
        if isinstance(stamped.event, ev.TurnAdded):
            at = datetime.fromisoformat(stamped.time)
            began = began or at
            now = (at - began).total_seconds() if at != start else _GAP * len(turns)
            turns.append((stamped.event, now))
    return turns


async def _recorded(
    name: str,
    kind: str,
    system: str,
    added: Iterable[tuple[ev.TurnAdded, float]],
    embedding: EmbeddingService,
) -> Recorded:
    turns: list[L1Turn] = []
    tracker = RelevanceTracker(NATIVE, dim=embedding.dim, embedder=embedding.name)
    for event, now in added:
        turns.append(await _scored(event, now, not turns, tracker, embedding))
    seen = tuple(shown_text(turn.text, turn.calls) for turn in turns)
    needs = tuple(_needs(turn, seen[:place], system) for place, turn in enumerate(turns))
    return Recorded(name, kind, system, tuple(turns), seen, needs)


async def _scored(
    added: ev.TurnAdded,
    now: float,
    is_task: bool,
    tracker: RelevanceTracker,
    embedding: EmbeddingService,
) -> L1Turn:
    vector: Vector | None = (await embedding.embed([added.text]))[0]
    vector = None if problem(vector, embedding.dim) else vector
    if is_task:
        tracker.set_task_5w2h(vector)
    if added.role == "user":
        score = tracker.on_new_input(added.text, vector, now=now)
    else:
        score = tracker.score_turn(vector, now=now)
    turn = new_turn(
        added.iri,
        added.role,
        added.text,
        created_at=now,
        summary=added.summary,
        calls=added.calls,
        call_id=added.call_id,
        name=added.name,
        is_task=is_task,
    )
    return replace(turn, embedding=vector, relevance_score=score.relevance_score)


def _needs(turn: L1Turn, before: Sequence[str], system: str) -> tuple[Need, ...]:
    said = "\n".join(arguments_text(call.arguments) for call in turn.calls)
    names = names_in(said)
    found = []
    for name in sorted(names | set(_PLAIN.findall(said))):
        last = next((i for i in range(len(before) - 1, -1, -1) if name in before[i]), None)
        if last is None and name in system:
            last = -1
        if last is not None:
            found.append(Need(name, len(before) - last > LONG, name not in names))
    return tuple(found)
