"""Speed of the memory as a session grows, beside one float32 product and a plain loop.

A pass is timed on a session in its usual state: earlier passes have archived what does not fit,
and the request has grown to the high watermark again. `everything at once` is the pass over a
session in which all turns are still full, as after the import of a long recording; there the
events of tens of thousands of changes cost more than the decision. Times are medians in
milliseconds of the one thread's processor time, which other programs hardly change; product and
pass take turns. Texts are drawn words, vectors are random.

    python -m tests.benchmarks memory_speed
"""

from __future__ import annotations

import asyncio
import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits

from gh_tui.context.assembly import Frame, assemble
from gh_tui.context.pieces import PieceCache
from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Matrix
from gh_tui.events import types as ev
from gh_tui.events.values import Role, ToolCall
from gh_tui.memory.eviction import FUSION, EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.passes import PassRequest, Query
from gh_tui.memory.terms import query_words, words_of
from gh_tui.memory.turn import L1Turn, iri_for, new_turn
from gh_tui.memory.vectors import VECTOR_BYTES
from tests.benchmarks.report import Row, Table, Target

SIZES: Final = (1_000, 10_000, 100_000)
DIM: Final = 512
WORDS: Final = 20_000
SHOWN: Final = 1_000
"""Turns that the request holds in the usual state."""
REPEATS: Final = 15
LOOPS: Final = 3
TAKES: Final = 5
GAP: Final = 20.0
_PRODUCT, _LOOP, _ASSEMBLY, _COLD = 1.6, 12.0, 10.0, 20.0


@dataclass(slots=True)
class Long:
    """A long session: a task, then inputs, calls, results and answers in turn."""

    l1: L1Session
    vectors: Matrix
    query: Query
    now: float

    @classmethod
    def of(cls, turns: int) -> Long:
        """Make one; the same for the same size."""
        source = np.random.default_rng(7)
        share = 1 / (np.arange(WORDS) + 2.7)
        drawn = source.choice(WORDS, (turns, 16), p=share / share.sum())
        vectors: Matrix = source.standard_normal((turns, DIM), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = 0.35 + 0.5 * source.random(turns)
        l1 = L1Session(EvictionConfig(max_messages=10 * turns), calibrate=NATIVE.similarity)
        for number, words in enumerate(drawn):
            turn = _turn(number, " ".join(f"word{word}x" for word in words))
            vector, score = vectors[number], float(scores[number])
            l1.add(replace(turn, embedding=vector, relevance_score=score))
        query = Query(text="word3000x word100x word0x word1x", vector=vectors[-1])
        return cls(l1, vectors, query, GAP * turns)

    def request(self, budget: float, policy: str | None = None) -> PassRequest:
        """A pass within this budget."""
        return PassRequest(
            now=self.now,
            budget=int(budget),
            tokens_before=self.l1.tokens(),
            trigger="watermark",
            query=self.query,
            policy=policy,
        )

    def grown(self) -> PassRequest:
        """The next pass: the request has reached the high watermark."""
        return self.request(self.l1.tokens() / self.l1.config.high_watermark)

    def vector_bytes(self) -> int:
        """Bytes of the vectors that the session holds."""
        held = (turn.embedding for turn in self.l1.turns)
        return sum(vector.nbytes for vector in held if vector is not None)

    def settle(self) -> None:
        """Archive all but what a request usually holds."""
        per_turn = self.l1.tokens() / len(self.l1)
        self.l1.evict_with_query(self.request(SHOWN * per_turn / 0.6, "recency"))


def _turn(number: int, text: str) -> L1Turn:
    iri, now, summary = iri_for("s", number + 1), GAP * number, text[:60]
    match number % 4:
        case 1:
            calls = (ToolCall(f"c{number}", "read_file", {"path": f"src/p{number}.py"}),)
            return new_turn(iri, "assistant", text, created_at=now, summary=summary, calls=calls)
        case 2:
            call = f"c{number - 1}"
            return new_turn(
                iri, "tool", text, created_at=now, summary=summary, call_id=call, name="read_file"
            )
        case kind:
            role: Role = "user" if kind == 0 else "assistant"
            return new_turn(iri, role, text, created_at=now, summary=summary, is_task=number == 0)


class PlainLoop:
    """The same decision, a turn at a time: what a pass is without arrays."""

    def __init__(self, long: Long) -> None:
        self._long = long
        self._words = [words_of(turn.text) for turn in long.l1.turns]
        self._having: dict[str, int] = {}
        for own in self._words:
            for word in set(own):
                self._having[word] = self._having.get(word, 0) + 1
        self._mean = sum(map(len, self._words)) / len(self._words)

    def __call__(self) -> list[int]:
        """The turns that should leave, the first to go first."""
        long, rows = self._long, len(self._words)
        asked, unit = query_words(long.query.text), long.vectors[-1]
        largest = max(turn.tokens for turn in long.l1.turns)
        kept: list[tuple[float, int]] = []
        for row, turn in enumerate(long.l1.turns):
            cosine = float(long.vectors[row] @ unit)
            bm25 = 0.0
            for word in asked:
                times = self._words[row].count(word)
                if times:
                    having = self._having[word]
                    norm = 1.5 * (0.25 + 0.75 * len(self._words[row]) / self._mean)
                    rarity = math.log(1 + (rows - having + 0.5) / (having + 0.5))
                    bm25 += rarity * times * 2.5 / (times + norm)
            query = 0.5 + 0.5 * math.tanh((bm25 + cosine) / 6)
            told = sum(math.log1p(rows / self._having[word]) for word in self._words[row])
            age = long.now - turn.last_access
            value = FUSION.recency / (1 + age / 300) + FUSION.info * told / (told + turn.tokens)
            value += FUSION.relevance * (0.7 * query + 0.3 * (turn.relevance_score or 0.0))
            kept.append((value - FUSION.cost * turn.tokens / largest, row))
        kept.sort()
        return [row for _, row in kept]


def _time(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return 1000 * (time.thread_time() - begun)


def _medians(works: Sequence[Callable[[], object]], times: int) -> list[float]:
    taken = [[_time(work) for work in works] for _ in range(times)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def passes(long: Long) -> tuple[float, ...]:
    """Product, loop, pass, its ratios, the pass over everything at once and its changes."""
    unit = long.vectors[-1]
    loop = _medians([PlainLoop(long)], LOOPS)[0]
    every = long.request(long.l1.tokens() / 1.05)
    at_once = _time(lambda: long.l1.preview_pass(every))
    changed = _changes(long.l1.preview_pass(every))
    long.settle()
    request = long.grown()
    works = [lambda: long.vectors @ unit, lambda: long.l1.preview_pass(request)]
    product, one = _medians(works, REPEATS)
    return product, loop, one, one / product, loop / one, at_once, float(changed)


def _changes(events: Sequence[ev.Event]) -> int:
    return sum(isinstance(event, ev.TurnFidelityChanged) for event in events)


def assembly(long: Long) -> tuple[float, ...]:
    """A cold request, the next one, one after a turn, one after a pass."""
    l1, caches = long.l1, [PieceCache() for _ in range(TAKES)]
    frame = Frame(system="Answer briefly.", budget=2 * l1.tokens())
    before = assemble(l1, frame).messages

    def once() -> float:
        """Each state comes once in the life of a cache, so every take has its own."""
        gc.collect()  # what earlier measurements left is not part of this one
        works = [partial(assemble, l1, frame, before, cache) for cache in caches]
        return statistics.median([_time(work) for work in works])

    cold, again = once(), once()
    l1.add(_turn(len(l1) // 4 * 4 + 3, "one more turn"))
    grown = once()
    l1.evict_with_query(long.request(1.15 * l1.tokens()))
    return cold, again, grown, once()


async def embedding_rate() -> tuple[float, ...]:
    """Texts per second: one at a time, in a batch, and a batch that is known."""
    service = EmbeddingService(NativeEmbedder())
    texts = [f"Please read file number {n} and tell me what part {n * 7} does" for n in range(192)]
    try:
        await service.warm_up()
        begun = time.perf_counter()
        for text in texts[:64]:
            await service.embed([text])
        single = 64 / (time.perf_counter() - begun)
        begun = time.perf_counter()
        await service.embed(texts[64:])
        batch = 128 / (time.perf_counter() - begun)
        begun = time.perf_counter()
        await service.embed(texts)
        known = len(texts) / (time.perf_counter() - begun)
    finally:
        service.close()
    return round(single), round(batch), round(known)


def _growth(figures: Sequence[tuple[float, ...]], sizes: Sequence[int]) -> Row:
    """Exponents between the smallest and the largest size: 1 is linear."""
    wide = math.log(sizes[-1] / sizes[0])
    pairs = zip(figures[0], figures[-1], strict=True)
    grown = tuple(
        round(math.log(large / small) / wide, 2) if min(large, small) > 0 else None
        for small, large in pairs
    )
    return Row("grows with the power", "also", sizes[-1], grown)


def _pass_table(
    sizes: Sequence[int], timed: Sequence[tuple[float, ...]], held: Sequence[float]
) -> Table:
    cap = VECTOR_BYTES / 2**20
    largest = sizes[-1] == SIZES[-1]
    rows = [
        Row("one pass", "result" if size == SIZES[-1] else "also", size, (*figures, mib))
        for size, figures, mib in zip(sizes, timed, held, strict=True)
    ]
    if len(sizes) > 1:
        both = [(*figures, mib) for figures, mib in zip(timed, held, strict=True)]
        rows.append(_growth(both, sizes))
    most, least = Target(_PRODUCT, most=True), Target(_LOOP)
    return Table(
        measure="Speed of a pass, ms",
        heads=(
            *("product", "plain loop", "pass", "pass/product", "loop/pass"),
            *("at once", "changes", "vectors MiB"),
        ),
        rows=tuple(rows),
        targets=(
            (None, None, None, most, least, None, None, Target(cap, most=True)) if largest else ()
        ),
        items="turns",
        note=f"vectors are capped at {cap:.0f} MiB; `at once`: all turns full, one pass for all",
    )


def _assembly_table(sizes: Sequence[int], built: Sequence[tuple[float, ...]]) -> Table:
    most, cold = Target(_ASSEMBLY, most=True), Target(_COLD, most=True)
    return Table(
        measure="Assembling a request, ms",
        heads=tuple(
            f"{state}: {when}"
            for state in ("usual", "all full")
            for when in ("cold", "next", "after a turn", "after a pass")
        ),
        rows=tuple(
            Row("assemble", "result" if size == 10_000 else "also", size, figures)
            for size, figures in zip(sizes, built, strict=True)
        ),
        targets=(most, most, most, most, cold, most, most, most),
        items="turns",
        note=f"usual: the request holds about {SHOWN} of them; all full: all; cold: none is known",
    )


def _rates_table(rates: tuple[float, ...]) -> Table:
    return Table(
        measure="Embedding, texts per second",
        heads=("one by one", "in batches", "known texts"),
        rows=(Row("native", "also", 192, rates),),
        items="texts",
    )


def measure(sizes: Sequence[int] = SIZES) -> list[Table]:
    """All tables; needs no data."""
    timed: list[tuple[float, ...]] = []
    built: list[tuple[float, ...]] = []
    held: list[float] = []
    with threadpool_limits(1):
        for size in sizes:
            long = Long.of(size)
            held.append(long.vector_bytes() / 2**20)
            timed.append(passes(long))
            built.append((*assembly(long), *assembly(Long.of(size))))
        rates = asyncio.run(embedding_rate())
    return [
        _pass_table(sizes, timed, held),
        _assembly_table(sizes, built),
        _rates_table(rates),
    ]
