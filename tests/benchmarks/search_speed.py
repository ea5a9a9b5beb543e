"""Latency of search and recall as the archive grows, beside one float32 product of its size.

    python -m tests.benchmarks.search_speed [--sizes 1000 10000 100000] [--json FILE]

Turns are made of words drawn by the Zipf-Mandelbrot law, 30 a turn, in sessions of 1,000; vectors
are random. Queries have a rare, two middling and three common words. Times are medians in
milliseconds, on one thread, with the product measured between the searches, so that both see
the same machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from gh_tui.embedding.vectors import Matrix, pack
from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.memory.index import Index
from gh_tui.memory.l0 import L0
from gh_tui.memory.turn import iri_for

DIM: Final = 512
SESSION: Final = 1000
WORDS: Final = 20_000
REPEATS: Final = 15


@dataclass(frozen=True, slots=True)
class Row:
    """One size of archive; times in milliseconds."""

    turns: int
    product: float
    """One float32 matrix-vector product of `turns` by 512."""
    search: float
    """`Index.search`, over all sessions, from disk."""
    live: float
    """`L0.search`, the same turns in one live session."""
    ratio: float
    """`search` in products."""
    live_ratio: float
    recall: float
    """`Index.text`: the full text by IRI."""
    indexed_per_second: float
    """Turns that a refresh takes in."""
    index_bytes_per_turn: float


class Archive:
    """Turns that were never said."""

    def __init__(self, turns: int) -> None:
        source = np.random.default_rng(7)
        share = 1 / (np.arange(WORDS) + 2.7)
        drawn = source.choice(WORDS, (turns, 30), p=share / share.sum())
        self.texts = [" ".join(f"word{number}x" for number in row) for row in drawn]
        self.vectors: Matrix = source.standard_normal((turns, DIM), np.float32)
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.queries = [
            f"word{source.integers(2000, WORDS)}x word{source.integers(50, 500)}x "
            f"word{source.integers(50, 500)}x word0x word1x word2x"
            for _ in range(REPEATS)
        ]

    def added(self, number: int) -> ev.TurnAdded:
        text = self.texts[number]
        session, turn = divmod(number, SESSION)
        iri = iri_for(f"s{session}", turn + 1)
        return ev.TurnAdded(iri=iri, role="assistant", text=text, summary=text[:60], tokens=40)

    def write(self, folder: Path) -> None:
        (folder / "sessions").mkdir()
        for start in range(0, len(self.texts), SESSION):
            session = f"s{start // SESSION}"
            lines = [_line(session, _started())]
            for number in range(start, min(start + SESSION, len(self.texts))):
                turn = self.added(number)
                lines += [_line(session, turn), _line(session, self._scored(turn.iri, number))]
            (folder / "sessions" / f"{session}.jsonl").write_bytes(b"".join(lines))

    def _scored(self, iri: str, number: int) -> ev.TurnScored:
        return ev.TurnScored(
            iri=iri,
            relevance_score=None,
            global_sim=None,
            local_sim=None,
            basis="",
            embedding=pack(self.vectors[number]),
        )


def _line(session: str, event: ev.Event) -> bytes:
    return to_line(Envelope(1, "2026-01-01T00:00:00Z", session, event))


def _started() -> ev.SessionStarted:
    return ev.SessionStarted(
        provider="", model="", window=0, window_source="", embedder="native", settings={}
    )


def measure(turns: int) -> Row:
    """Build an archive of that size and ask it."""
    archive = Archive(turns)
    live = L0()
    for number in range(turns):
        turn = archive.added(number)
        live.add(turn)
        live.add_vector(turn.iri, archive.vectors[number])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive.write(folder)
        index = Index(folder)
        begun = time.perf_counter()
        added = index.refresh()
        rate = added / (time.perf_counter() - begun)
        if added != turns:
            raise RuntimeError(f"{added} of {turns} turns were indexed")
        index.search(archive.queries[0], archive.vectors[0])
        product, search, alone, recall = _times(archive, index, live)
        size = sum(path.stat().st_size for path in (folder / "index").iterdir())
        index.close()
    return Row(
        turns=turns,
        product=round(product, 3),
        search=round(search, 3),
        live=round(alone, 3),
        ratio=round(search / product, 2),
        live_ratio=round(alone / product, 2),
        recall=round(recall, 3),
        indexed_per_second=round(rate),
        index_bytes_per_turn=round(size / turns),
    )


def _times(archive: Archive, index: Index, live: L0) -> list[float]:
    taken: list[list[float]] = []
    for number, query in enumerate(archive.queries):
        vector = archive.vectors[number]
        iri = archive.added(number * len(archive.texts) // REPEATS).iri
        works: list[Callable[[], object]] = [
            partial(np.dot, archive.vectors, vector),
            partial(index.search, query, vector),
            partial(live.search, query, vector),
            partial(index.text, iri),
        ]
        taken.append([_time(work) for work in works])
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def _time(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    heads = list(asdict(rows[0]))
    lines = ["  ".join(heads)]
    for row in rows:
        values = zip(heads, asdict(row).values(), strict=True)
        lines.append("  ".join(f"{value:>{len(head)}}" for head, value in values))
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.search_speed")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with threadpool_limits(1):
        rows = [measure(turns) for turns in options.sizes]
    sys.stdout.write(table(rows) + "\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
