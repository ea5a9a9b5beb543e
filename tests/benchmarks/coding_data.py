"""Recorded coding sessions as the benchmark lives through them: turns, scores, references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
    """Where the sessions are, given the folder of the data: beside it, in it, or itself."""
    places = (data.resolve().parent / "sessions", data / "sessions")
    return next((place for place in places if place.is_dir()), data)


def files_in(folder: Path) -> list[Path]:
    """What may be a transcript, in order."""
    kinds = (".json", ".jsonl", ".traj")
    return sorted(path for path in folder.rglob("*") if path.suffix in kinds and path.is_file())


async def read_sessions(files: Iterable[Path], skip: Callable[[str], None]) -> list[Recorded]:
    """The sessions with enough calls; `skip` is told what is left out."""
    embedding = EmbeddingService(NativeEmbedder())
    sessions: list[Recorded] = []
    try:
        for path in files:
            try:
                transcript = detect(path)
                session = await _recorded(path, transcript.format, transcript.turns(), embedding)
            except GhError as error:
                skip(f"{path}: {error}")
                continue
            if session.calls < LEAST_CALLS:
                skip(f"{path.parent.name}/{path.name}: {session.calls} tool calls")
            else:
                sessions.append(session)
    finally:
        embedding.close()
    return sessions


async def _recorded(
    path: Path, kind: str, imported: Iterator[ImportedTurn], embedding: EmbeddingService
) -> Recorded:
    messages = list(imported)
    first = next((i for i, m in enumerate(messages) if m.role == "user"), 0)
    system = "\n\n".join(m.text for m in messages[:first] if m.role == "system")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    if any(message.time is not None for message in messages):
        start = datetime.fromtimestamp(0, UTC)
    turns: list[L1Turn] = []
    tracker = RelevanceTracker(NATIVE, dim=embedding.dim, embedder=embedding.name)
    began: datetime | None = None
    for stamped in to_events(messages, "s", source=kind, start=start):
        if not isinstance(stamped.event, ev.TurnAdded):
            continue
        at = datetime.fromisoformat(stamped.time)
        began = began or at
        elapsed = (at - began).total_seconds()
        now = elapsed if at != start else _GAP * len(turns)
        turns.append(await _scored(stamped.event, now, not turns, tracker, embedding))
    seen = tuple(shown_text(turn.text, turn.calls) for turn in turns)
    needs = tuple(_needs(turn, seen[:place], system) for place, turn in enumerate(turns))
    return Recorded(path.name, kind, system, tuple(turns), seen, needs)


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
