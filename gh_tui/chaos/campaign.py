"""Many faulted sessions: several at once in each process, one process for each core."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import queue
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gh_tui.chaos.drive import Run
from gh_tui.chaos.kill import run_all_killed
from gh_tui.chaos.oracle import Verdict
from gh_tui.chaos.plan import make_plan
from gh_tui.errors import GhError
from gh_tui.runtime import Mind

AT_ONCE = 6
"""Runs that share an event loop: while one waits, others work."""
MANY = 24
"""Runs from which further processes are worth their start."""
_LOOK_SECONDS = 1.0

Result = tuple[int, Verdict]


@dataclass(slots=True)
class Totals:
    """What the last line of the command says."""

    runs: int = 0
    supplements: int = 0
    delivered: int = 0
    returned: int = 0
    pending: int = 0
    duplicated: int = 0
    lost: int = 0
    out_of_order: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    """`seed` and `why` of each run in which anything was wrong."""

    def add(self, seed: int, verdict: Verdict) -> None:
        """Count one run."""
        self.runs += 1
        for item in fields(Verdict):
            if item.name != "faults":
                setattr(self, item.name, getattr(self, item.name) + getattr(verdict, item.name))
        self.lost += verdict.lost
        if verdict.faults:
            self.failures.append({"seed": seed, "why": "; ".join(verdict.faults)})

    @property
    def clean(self) -> bool:
        """Whether every promise was kept in every run."""
        return not (self.duplicated or self.lost or self.out_of_order or self.failures)


async def run_one(seed: int, mind: Mind) -> Verdict:
    """One faulted session in this process."""
    with tempfile.TemporaryDirectory(prefix="gh-tui-chaos-") as home:
        return await Run(make_plan(seed), Path(home), mind).go()


async def run_here(seeds: Iterable[int], mind: Mind, tell: Callable[[Result], None]) -> None:
    """Faulted sessions in this process; `tell` gets each result as it comes."""
    waiting = iter(seeds)

    async def work() -> None:
        for seed in waiting:
            tell((seed, await run_one(seed, mind)))

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def campaign(seeds: Sequence[int]) -> Iterator[Result]:
    """Faulted sessions in as many processes as are worth it; results as they come.

    Raises:
        GhError: a worker process ended before its work was done.
    """
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[Result] = context.Queue()
    count = min(os.cpu_count() or 1, -(-len(seeds) // MANY))
    workers: list[BaseProcess] = [
        context.Process(target=_work, args=(seeds[number::count], results), daemon=True)
        for number in range(count)
    ]
    for worker in workers:
        worker.start()
    try:
        for _ in seeds:
            yield _next(results, workers)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def kill_campaign(seeds: Iterable[int]) -> Iterator[Result]:
    """The same with real processes and SIGKILL."""
    with asyncio.Runner() as runner:
        results = run_all_killed(seeds)
        while (result := runner.run(anext(results, None))) is not None:
            yield result


def _next(results: multiprocessing.Queue[Result], workers: Sequence[BaseProcess]) -> Result:
    while True:
        try:
            return results.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            if any(worker.exitcode for worker in workers):
                raise GhError("a chaos worker died; run again with --runs 1 to see why") from None


def _work(seeds: Sequence[int], results: multiprocessing.Queue[Result]) -> None:
    mind = Mind()

    async def work() -> None:
        await mind.embedding.warm_up()
        await mind.supervisor.warm_up()
        await run_here(seeds, mind, results.put)

    asyncio.run(work())
    mind.close()
