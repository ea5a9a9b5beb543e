"""Recorded coding sessions: what a later tool call needs, against the tokens that were sent.

    python -m tests.benchmarks.coding_sessions DATA

The sessions are in `DATA/sessions`, in `DATA/../sessions` or in DATA itself. Each is imported by
the program's own readers and lived through again: before every reply the program's
`WorkingMemory` makes room and assembles the request. For each tool call the names in its
arguments (paths, identifiers) that occurred earlier are looked up in the request it was made
from. `long` counts those last seen more than six messages before. In the last two columns plain
words of four letters or more count as names too. Tokens are summed over all requests, relative to
sending all that was said each time; `cached` is the same with the unchanged prefix at a tenth of
the price.

Sessions in the order of their paths: even ones are development, odd ones the test.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from gh_tui.agent.memory import WorkingMemory
from gh_tui.clock import ManualClock
from gh_tui.context.window import Budget, ContextWindowManager
from gh_tui.embedding.calibration import NATIVE
from gh_tui.events.bus import EventBus
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.tokens import MESSAGE_OVERHEAD, count_message
from gh_tui.memory.turn import L1Turn
from gh_tui.providers.base import Message
from tests.benchmarks import report
from tests.benchmarks.coding_data import (
    LEAST_CALLS,
    Need,
    Recorded,
    files_in,
    read_sessions,
    sessions_folder,
    shown_text,
)
from tests.benchmarks.data import Skip
from tests.benchmarks.report import Kind, Table, Target, render, with_skipped

CACHED_PRICE: Final = 0.1
SHARES: Final = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
"""Budgets of the program, as shares of what follows the task, beside what is fixed."""
EAGER: Final = ((1, 0.5), (1, 0.65), (1, 1.0), (3, 0.65), (3, 1.0), (10, 1.0))
"""The same with a pass before each request: tool results that stay, and budgets."""
RECENCY_SHARES: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MOST_TOKENS: Final = 0.45
"""Share of the full history's tokens at which methods are compared."""
_WINDOW: Final = 1_000_000


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

    def recall(self, kind: int) -> float | None:
        return round(self.kept[kind] / self.asked[kind], 4) if self.asked[kind] else None


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
    all: float | None
    """What was kept of the references; None where there are none."""
    long: float | None
    words: float | None
    long_words: float | None


Live = Callable[[Recorded, Tally], None]


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

    `eager` makes a pass before each request and keeps few results besides the newest exchange:
    what leaves at once breaks only the end of the cached prefix.
    """
    ours = EvictionConfig()
    other = replace(ours, policy="recency")
    return [
        ("full history", "", all_of_it),
        *(("recency", f"{share:.0%} of history", recency(share)) for share in RECENCY_SHARES),
        *(("masking", f"all but {keep}", newest_results(keep)) for keep in (10, 5, 2, 1)),
        *(("its recency", f"budget {share:.0%}", program(other, share)) for share in SHARES),
        *(("program", f"budget {share:.0%}", program(ours, share)) for share in SHARES),
        *(
            (
                "program",
                f"eager, {keep} results, {share:.0%}",
                program(replace(ours, eager=True, keep_tool_results=keep), share),
            )
            for keep, share in EAGER
        ),
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


def measure(folder: Path, skip: Skip) -> list[Row]:
    """All rows for the sessions of a folder: development, test, and all, where there are any.

    Args:
        folder: it and the folders in it hold the sessions.
        skip: told of each file that is left out, and of a split without sessions.
    """
    sessions = asyncio.run(read_sessions(files_in(folder), skip))
    least = f"{LEAST_CALLS} tool calls or more in {folder}"
    if not sessions:
        skip("sessions", f"there is none of {least}")
        return []
    splits = {"development": sessions[::2], "test": sessions[1::2], "all": sessions}
    if not splits["test"]:
        skip("test", f"there is a single session of {least}")
    return [
        row for split, part in splits.items() if part for row in compare(part, split, methods())
    ]


def worth(row: Row) -> float:
    """What a setting keeps; a token above the share that is allowed costs twice its part."""
    return (row.all or 0.0) + (row.long or 0.0) - 2 * max(0.0, row.tokens - MOST_TOKENS)


def saved(row: Row, rows: Sequence[Row]) -> float | None:
    """The share of tokens that a method saves against recency at equal recall.

    Args:
        row: the method's.
        rows: all of the same split, recency's among them.
    """
    usual = None if row.all is None else tokens_for(row.all, rows)
    return 1 - row.tokens / usual if usual else None


def tokens_for(recall: float, rows: Sequence[Row]) -> float:
    """The share of tokens at which recency keeps as much, between the measured points."""
    compared = [row for row in rows if row.method in ("recency", "full history")]
    points = sorted((row.all, row.tokens) for row in compared if row.all is not None)
    for (low, cheap), (high, dear) in pairwise(points):
        if low <= recall <= high:
            return cheap + (dear - cheap) * (recall - low) / max(high - low, 1e-9)
    return points[0][1] if recall < points[0][0] else 1.0


def tables(data: Path) -> list[Table]:
    """A table for each split; the result is the setting that is best on development.

    Raises:
        NoData: there is no session to measure.
    """
    left_out: list[tuple[str, str]] = []
    rows = measure(sessions_folder(data), lambda part, reason: left_out.append((part, reason)))
    ours = [row for row in rows if (row.method, row.split) == ("program", "development")]
    best = max(ours, key=worth, default=None)
    chosen = "" if best is None else best.setting
    splits = dict.fromkeys(row.split for row in rows)
    found = [_table(rows, split, chosen) for split in splits]
    return with_skipped("Coding sessions", found, left_out)


def _table(rows: Iterable[Row], split: str, chosen: str) -> Table:
    own = [row for row in rows if row.split == split]
    kinds: dict[bool, Kind] = {True: "result", False: "also"}
    targets = (Target(MOST_TOKENS, most=True), None, Target(0.95), Target(0.85), Target(0.30))
    return Table(
        measure=f"Coding sessions, {split}",
        heads=("tokens", "cached", "all", "long-range", "saved", "all words", "long-range words"),
        rows=tuple(
            report.Row(
                ", ".join(filter(None, (row.method, row.setting))),
                kinds[row.setting == chosen] if row.method == "program" else "baseline",
                row.references,
                (
                    *(row.tokens, row.cached, row.all, row.long, saved(row, own)),
                    *(row.words, row.long_words),
                ),
            )
            for row in own
        ),
        targets=targets if split == "test" else (),
        items="references",
        note=f"chosen on development, for what it keeps and its tokens: {chosen}",
    )


if __name__ == "__main__":
    print("\n\n".join(render(table) for table in tables(Path(sys.argv[1]))))
