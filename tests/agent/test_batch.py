from __future__ import annotations

import asyncio

import pytest

from gh_tui.agent.batch import BatchAgentManager
from gh_tui.clock import ManualClock, SystemClock
from gh_tui.errors import UsageError


class Bench:
    """A manager on a manual clock, with a log of what ran and what failed."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.log: list[str] = []
        self.errors: list[tuple[str, str]] = []
        self.manager = BatchAgentManager(
            self.clock, lambda name, error: self.errors.append((name, str(error)))
        )

    async def advance(self, seconds: float) -> tuple[str, ...]:
        self.clock.advance(seconds)
        return await self.manager.run_due()

    async def note(self) -> None:
        self.log.append("ran")


async def test_the_schedule_is_a_number_of_seconds() -> None:
    bench = Bench()
    bench.manager.add("coherence", 120, bench.note)
    assert await bench.advance(0) == ()
    assert await bench.advance(119.9) == ()
    assert await bench.advance(0.1) == ("coherence",)
    assert await bench.advance(60) == ()
    assert await bench.advance(60) == ("coherence",)
    assert bench.log == ["ran", "ran"]


async def test_missed_slots_are_not_made_up_for() -> None:
    bench = Bench()
    bench.manager.add("coherence", 120, bench.note)
    assert await bench.advance(3600) == ("coherence",)
    assert await bench.manager.run_due() == ()
    assert bench.manager.seconds_until_due() == 120


async def test_a_job_without_news_waits_for_the_next_slot() -> None:
    bench = Bench()
    news = False
    bench.manager.add("coherence", 10, bench.note, ready=lambda: news)
    assert await bench.advance(10) == ()
    news = True
    assert await bench.advance(5) == ()
    assert await bench.advance(5) == ("coherence",)


async def test_jobs_never_overlap() -> None:
    bench = Bench()
    gate = asyncio.Event()

    async def slow() -> None:
        bench.log.append("begin")
        await gate.wait()
        bench.log.append("end")

    bench.manager.add("slow", 10, slow)
    bench.manager.add("quick", 10, bench.note)
    bench.clock.advance(10)
    first = asyncio.create_task(bench.manager.run_due())
    await asyncio.sleep(0)
    assert await bench.advance(30) == ()
    assert bench.log == ["begin"]
    gate.set()
    assert await first == ("slow", "quick")
    assert bench.log == ["begin", "end", "ran"]
    assert await bench.manager.run_due() == ("slow",)


async def test_an_error_is_reported_and_the_job_stays() -> None:
    bench = Bench()

    async def broken() -> None:
        raise ValueError("no vectors")

    bench.manager.add("coherence", 10, broken)
    bench.manager.add("after", 10, bench.note)
    assert await bench.advance(10) == ("coherence", "after")
    assert bench.errors == [("coherence", "no vectors")]
    assert await bench.advance(10) == ("coherence", "after")


@pytest.mark.parametrize("interval", [0, -1, float("nan"), float("inf")])
async def test_a_wrong_interval_is_refused(interval: float) -> None:
    bench = Bench()
    with pytest.raises(UsageError, match="seconds above 0"):
        bench.manager.add("coherence", interval, bench.note)


async def test_names_are_unique() -> None:
    bench = Bench()
    bench.manager.add("coherence", 1, bench.note)
    with pytest.raises(UsageError, match="already"):
        bench.manager.add("coherence", 1, bench.note)


async def test_the_loop_runs_jobs_added_later_and_ends_when_cancelled() -> None:
    done = asyncio.Event()
    manager = BatchAgentManager(SystemClock(), lambda name, error: None)

    async def run() -> None:
        done.set()

    loop = asyncio.create_task(manager.run_forever())
    await asyncio.sleep(0)
    manager.add("soon", 0.01, run)
    await asyncio.wait_for(done.wait(), 2)
    loop.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loop


async def test_a_job_may_run_at_once_and_then_on_its_schedule() -> None:
    bench = Bench()
    bench.manager.add("index", 60, bench.note, at_once=True)
    assert bench.manager.seconds_until_due() == 0
    assert await bench.advance(0) == ("index",)
    assert await bench.advance(59) == ()
    assert await bench.advance(1) == ("index",)
