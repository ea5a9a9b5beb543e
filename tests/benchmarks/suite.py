"""The benchmarks in the order in which they run, the quick ones first, and what each needs.

A benchmark is imported when its turn comes, so that one that is broken stops no other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks.report import Kind, Row, Table, Target, with_skipped

if TYPE_CHECKING:
    from tests.benchmarks import locomo, search_speed

Measure = Callable[[Path], list[Table]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One module's measures."""

    name: str
    measure: Measure
    """Given the data folder, which it uses only if it needs any."""
    needs: tuple[str, ...] = ()
    """Files or folders in the data folder; one of them has to be there."""
    model: bool = False
    """It asks the local model and takes long."""


def _relevance(data: Path) -> list[Table]:
    from tests.benchmarks import relevance

    return relevance.measure(data)


def _fifteen_turns(data: Path) -> list[Table]:
    from tests.benchmarks import fifteen_turns

    return fifteen_turns.measure()


def _corrections(data: Path) -> list[Table]:
    from tests.benchmarks import corrections

    return corrections.measure()


def _phases(data: Path) -> list[Table]:
    from tests.benchmarks import phases

    return phases.measure(data)


def _query_unknown(data: Path) -> list[Table]:
    from tests.benchmarks import query_unknown

    return query_unknown.measure(data)


def _topic_shift(data: Path) -> list[Table]:
    from tests.benchmarks import topic_shift

    return topic_shift.measure(data)


def _learned_shift(data: Path) -> list[Table]:
    from tests.benchmarks import learned_shift

    return learned_shift.measure(data)


def _drift(data: Path) -> list[Table]:
    from tests.benchmarks import drift

    return drift.measure()


def _memory_speed(data: Path) -> list[Table]:
    from tests.benchmarks import memory_speed

    return memory_speed.measure()


def _screen_speed(data: Path) -> list[Table]:
    from tests.benchmarks import screen_speed

    return screen_speed.measure()


def _locomo(data: Path) -> list[Table]:
    from tests.benchmarks import locomo

    rows = asyncio.run(locomo.measure(data))
    known = tuple(Target(value) for value in (0.85, 0.92, 0.97))
    at_k = tuple(Target(value) for value in (0.61, 0.72, 0.81, 0.86))
    tables = []
    for split in ("development", "test", "all"):
        heads = tuple(f"{share:.0%}" for share in locomo.BUDGETS)
        targets = known if split == "test" else ()
        tables.append(_locomo_table(rows, "query known", split, heads, targets))
        heads = tuple(f"at {depth}" for depth in locomo.DEPTHS)
        targets = at_k if split == "test" else ()
        tables.append(_locomo_table(rows, "turn recall", split, heads, targets))
    return with_skipped(
        "LoCoMo",
        [table for table in tables if table.rows],
        [(t.measure.removeprefix("LoCoMo, "), "no questions") for t in tables if not t.rows],
    )


def _locomo_table(
    rows: Iterable[locomo.Row],
    measure: str,
    split: str,
    heads: tuple[str, ...],
    targets: tuple[Target, ...],
) -> Table:
    def kind(method: str) -> Kind:
        if method == "search":
            return "result"
        return "also" if method.startswith(("search", "one session", "bm25 of")) else "baseline"

    own = [row for row in rows if (row.measure, row.split) == (measure, split)]
    return Table(
        measure=f"LoCoMo, {measure}, {split}",
        heads=heads,
        rows=tuple(Row(r.method, kind(r.method), r.items, tuple(r.values)) for r in own),
        targets=targets,
        items="questions",
    )


def _search_speed(data: Path) -> list[Table]:
    from threadpoolctl import threadpool_limits

    from tests.benchmarks import search_speed

    with threadpool_limits(1):
        rows = [search_speed.measure(turns) for turns in (1_000, 10_000, 100_000)]
    return [_search_table(rows)]


def _search_table(rows: Sequence[search_speed.Row]) -> Table:
    most = Target(2.0, most=True)
    heads = (
        *("product", "search", "search/product", "one session", "session/product"),
        *("recall", "indexed/s", "index bytes/turn"),
    )
    return Table(
        measure="Speed of search and recall, ms",
        heads=heads,
        rows=tuple(
            Row(
                "search",
                "result" if r.turns == 100_000 else "also",
                r.turns,
                (
                    *(r.product, r.search, r.ratio, r.live, r.live_ratio),
                    *(r.recall, r.indexed_per_second, r.index_bytes_per_turn),
                ),
            )
            for r in rows
        ),
        targets=(None, None, most, None, most),
        items="turns",
    )


def _coding_sessions(data: Path) -> list[Table]:
    from tests.benchmarks import coding_sessions

    return coding_sessions.tables(data)


def _with_model(data: Path) -> list[Table]:
    from tests.benchmarks import corrections

    return corrections.measure_with_model()


_CORPORA: Final = ("tiage", "dialseg711", "kdconv_concat")
SUITE: Final = (
    Benchmark("relevance", _relevance, ("relevance/pairs.json",)),
    Benchmark("fifteen_turns", _fifteen_turns),
    Benchmark("corrections", _corrections),
    Benchmark("phases", _phases),
    Benchmark("query_unknown", _query_unknown, ("locomo/locomo10.json",)),
    Benchmark("topic_shift", _topic_shift, (*_CORPORA, "structflowbench")),
    Benchmark("learned_shift", _learned_shift, _CORPORA),
    Benchmark("drift", _drift),
    Benchmark("memory_speed", _memory_speed),
    Benchmark("screen_speed", _screen_speed),
    Benchmark("locomo", _locomo, ("locomo/locomo10.json",)),
    Benchmark("coding_sessions", _coding_sessions, ("sessions", "../sessions", ".")),
    Benchmark("search_speed", _search_speed),
    Benchmark("corrections_model", _with_model, model=True),
)
