"""Recorded coding sessions: what a later tool call needs, against the tokens that were sent.

    python -m tests.benchmarks.coding_sessions DATA [--json FILE]

The sessions are in `DATA/../sessions` (or in DATA itself). Each is imported by the program's own
readers and lived through again: before every reply the program's `WorkingMemory` makes room and
assembles the request. For each tool call the names in its arguments (paths, identifiers) that
occurred earlier are looked up in the request it was made from. `long` counts those last seen
more than six messages before. In the last two columns plain words of four letters or more count
as names too. Tokens are summed over all requests, relative to sending all that was said each
time; `cached` is the same with the unchanged prefix at a tenth of the price.

Sessions in the order of their paths: even ones are development, odd ones the test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from gh_tui.agent.memory import WorkingMemory
from gh_tui.clock import ManualClock
from gh_tui.context.window import Budget, ContextWindowManager
from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Vector, problem
from gh_tui.errors import GhError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.values import ToolCall
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.relevance import RelevanceTracker
from gh_tui.memory.tokens import MESSAGE_OVERHEAD, count_message
from gh_tui.memory.turn import L1Turn, new_turn
from gh_tui.providers.base import Message
from gh_tui.session.importers.detect import detect
from gh_tui.session.importers.events import to_events
from gh_tui.session.importers.turns import ImportedTurn

LONG: Final = 6
"""Messages; a name last seen longer ago is long-range."""
CACHED_PRICE: Final = 0.1
SHARES: Final = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
EAGER_SHARES: Final = (0.5, 0.6, 0.65, 0.68, 0.7, 1.0)
"""Budgets of the program, as shares of what follows the task, beside what is fixed."""
RECENCY_SHARES: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MOST_TOKENS: Final = 0.45
"""Share of the full history's tokens at which methods are compared."""
LEAST_CALLS: Final = 8
"""A shorter session says nothing about memory."""
_GAP: Final = 20.0
_WINDOW: Final = 1_000_000
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


@dataclass(slots=True)
class Tally:
    """What one method sent and kept, summed over sessions."""

    sent: int = 0
    cached: float = 0.0
    kept: list[int] = field(default_factory=lambda: [0] * 4)
    """Names: all, long-range; with plain words: all, long-range."""
    asked: list[int] = field(default_factory=lambda: [0] * 4)

    def request(self, tokens: int, prefix: int) -> None:
        self.sent += tokens
        self.cached += tokens - (1 - CACHED_PRICE) * prefix

    def look_up(self, needs: Iterable[Need], shown: str) -> None:
        for need in needs:
            strict = not need.word
            for kind, counts in enumerate((strict, strict and need.far, True, need.far)):
                self.asked[kind] += counts
                self.kept[kind] += counts and need.name in shown

    def recall(self, kind: int) -> float:
        return round(self.kept[kind] / max(1, self.asked[kind]), 4)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    method: str
    setting: str
    split: str
    sessions: int
    references: int
    long_references: int
    tokens: float
    """Relative to the full history."""
    cached: float
    """Relative to the full history's, both with the cached prefix at a tenth."""
    all: float
    long: float
    words: float
    long_words: float


Live = Callable[[Recorded, Tally], None]


# The data.


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


# What would have been sent.


def all_of_it(session: Recorded, tally: Tally) -> None:
    """The whole history each time."""
    _plainly(session, tally, lambda tokens, turns: list(range(len(turns))))


def recency(share: float) -> Live:
    """The system prompt, the task and the newest messages, within a share of the history."""

    def choose(tokens: Sequence[int], turns: Sequence[L1Turn]) -> list[int]:
        room = share * sum(tokens) - tokens[0] - tokens[1]
        kept = [0]
        for place in range(len(turns) - 1, 0, -1):
            room -= tokens[place + 1]
            if room < 0:
                break
            kept.append(place)
        return sorted(kept)

    return lambda session, tally: _plainly(session, tally, choose)


def newest_results(keep: int) -> Live:
    """Everything, but all tool results except the newest as a mark without contents."""

    def choose(tokens: Sequence[int], turns: Sequence[L1Turn]) -> list[int]:
        results = [place for place, turn in enumerate(turns) if turn.role == "tool"]
        masked = set(results[: max(0, len(results) - keep)])
        return [place if place not in masked else ~place for place in range(len(turns))]

    return lambda session, tally: _plainly(session, tally, choose)


def _plainly(
    session: Recorded,
    tally: Tally,
    choose: Callable[[Sequence[int], Sequence[L1Turn]], list[int]],
) -> None:
    """Requests made of places: a negative one (`~place`) is shown as an empty mark."""
    tokens = [count_message(session.system), *(turn.tokens for turn in session.turns)]
    previous: list[int] = []
    for place in _requests(session):
        chosen = choose(tokens[: place + 1], session.turns[:place])
        costs = [tokens[c + 1] if c >= 0 else MESSAGE_OVERHEAD + 4 for c in chosen]
        same = _common(chosen, previous)
        tally.request(tokens[0] + sum(costs), tokens[0] + sum(costs[:same]) if previous else 0)
        shown = [session.seen[c] for c in chosen if c >= 0]
        tally.look_up(session.needs[place], "\n".join([session.system, *shown]))
        previous = chosen


def _common(now: Sequence[int], before: Sequence[int]) -> int:
    pairs = zip(now, before, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(now), len(before)))


def _requests(session: Recorded) -> list[int]:
    """Places of the assistant's messages, each of which answers a request."""
    return [i for i, turn in enumerate(session.turns) if turn.role == "assistant" and i]


def program(config: EvictionConfig, share: float, limit: int = 2000) -> Live:
    """The program's own memory, with a budget that is a share of the session."""

    def live(session: Recorded, tally: Tally) -> None:
        asyncio.run(_live(session, tally, config, share, limit))

    return live


async def _live(
    session: Recorded, tally: Tally, config: EvictionConfig, share: float, limit: int
) -> None:
    clock = ManualClock()
    tokens = session.budget(share)
    budget = Budget(tokens, _WINDOW, _WINDOW, "configured", 0, 0)
    l1 = L1Session(
        config, result_limit=min(limit, max(1, tokens // 4)), calibrate=NATIVE.similarity
    )
    window = ContextWindowManager()
    bus = EventBus("s", clock)
    memory = WorkingMemory(bus, clock, l1, window, budget, session.system, standing_max=None)
    requests = set(_requests(session))
    for place, turn in enumerate(session.turns):
        clock.advance(max(0.0, turn.created_at - clock.monotonic()))
        if place in requests:
            await memory.make_room()
            request = memory.assemble()
            tally.request(request.tokens, request.prefix_kept)
            tally.look_up(session.needs[place], _visible(request.messages))
            memory.sent(request)
            memory.delivered()
        l1.add(turn)


def _visible(messages: Sequence[Message]) -> str:
    return "\n".join(shown_text(message.text, message.calls) for message in messages)


# The table.


def methods() -> list[tuple[str, str, Live]]:
    """What is compared: method, setting, and how it lives through a session.

    `eager` makes a pass before each request and keeps one result besides the newest exchange:
    what leaves at once breaks only the end of the cached prefix.
    """
    ours = EvictionConfig()
    eager = replace(ours, eager=True, keep_tool_results=1)
    other = replace(ours, policy="recency")
    return [
        ("full history", "", all_of_it),
        *(("recency", f"{share:.0%} of history", recency(share)) for share in RECENCY_SHARES),
        *(("masking", f"all but {keep}", newest_results(keep)) for keep in (10, 5, 2, 1)),
        *(("its recency", f"budget {share:.0%}", program(other, share)) for share in SHARES),
        *(("program", f"budget {share:.0%}", program(ours, share)) for share in SHARES),
        *(("program", f"eager, {share:.0%}", program(eager, share)) for share in EAGER_SHARES),
    ]


def compare(
    sessions: Sequence[Recorded], split: str, chosen: Sequence[tuple[str, str, Live]]
) -> list[Row]:
    """A row for each method over the given sessions."""
    full = Tally()
    for session in sessions:
        all_of_it(session, full)
    rows = []
    for method, setting, live in chosen:
        tally = Tally()
        for session in sessions:
            live(session, tally)
        rows.append(
            Row(
                method,
                setting,
                split,
                len(sessions),
                tally.asked[0],
                tally.asked[1],
                round(tally.sent / max(1, full.sent), 4),
                round(tally.cached / max(1.0, full.cached), 4),
                *(tally.recall(kind) for kind in range(4)),
            )
        )
    return rows


def measure(folder: Path, skip: Callable[[str], None] = lambda text: None) -> list[Row]:
    """All rows for the sessions of a folder: development, test, and all."""
    sessions = asyncio.run(read_sessions(files_in(folder), skip))
    chosen = methods()
    splits = {"development": sessions[::2], "test": sessions[1::2], "all": sessions}
    return [row for split, part in splits.items() for row in compare(part, split, chosen)]


def saving(rows: Sequence[Row]) -> list[str]:
    """How many tokens the program saves against recency at equal recall, for each split."""
    lines = []
    for split in dict.fromkeys(row.split for row in rows):
        ours = [row for row in rows if row.split == split and row.method == "program"]
        fitting = [row for row in ours if round(row.tokens, 3) <= MOST_TOKENS]
        best = max(fitting, key=lambda r: (r.all, r.long, -r.tokens), default=None)
        if best is None:
            continue
        needed = tokens_for(best.all, [r for r in rows if r.split == split])
        lines.append(
            f"{split}: at {best.tokens:.1%} of the tokens {best.all:.3f} / {best.long:.3f}; "
            f"recency needs {needed:.1%} for the same: {1 - best.tokens / needed:.0%} fewer"
        )
    return lines


def tokens_for(recall: float, rows: Sequence[Row]) -> float:
    """The share of tokens at which recency keeps as much, between the measured points."""
    points = sorted((r.all, r.tokens) for r in rows if r.method in ("recency", "full history"))
    for (low, cheap), (high, dear) in pairwise(points):
        if low <= recall <= high:
            return cheap + (dear - cheap) * (recall - low) / max(high - low, 1e-9)
    return points[0][1] if recall < points[0][0] else 1.0


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    heads = f"{'coding sessions':15} {'setting':14} {'split':11}  refs  long  tokens cached"
    lines = [f"{heads}     all   long  words   long"]
    lines += [
        f"{r.method:15} {r.setting:14} {r.split:11} {r.references:5} {r.long_references:5}  "
        f"{r.tokens:6.3f} {r.cached:6.3f}  {r.all:6.3f} {r.long:6.3f} {r.words:6.3f} "
        f"{r.long_words:6.3f}"
        for r in rows
    ]
    return "\n".join([*lines, *saving(rows)])


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.coding_sessions")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    folder = sessions_folder(options.data)
    rows = measure(folder, lambda text: print(f"left out: {text}"))
    if not any(row.sessions for row in rows):
        print(f"skipped: no recorded sessions in {folder}")
        return 0
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
