"""Background jobs on a schedule in seconds: one at a time, never in the way of a reply."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gh_tui.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gh_tui.clock import Clock


@dataclass(slots=True)
class _Job:
    run: Callable[[], Awaitable[None]]
    ready: Callable[[], bool]
    interval: float
    due: float


class BatchAgentManager:
    """Runs jobs every so many seconds of an injected clock.

    Jobs run one after another in the order they were added and never overlap, neither with
    themselves nor with each other. A slot that was missed, because a job took long or the
    machine slept, is not made up for. A job that raises is reported and stays scheduled.
    """

    def __init__(self, clock: Clock, on_error: Callable[[str, Exception], None]) -> None:
        """`on_error` gets the job's name and what it raised; it must not raise itself."""
        self._clock = clock
        self._on_error = on_error
        self._jobs: dict[str, _Job] = {}
        self._running = False
        self._changed = asyncio.Event()

    def add(
        self,
        name: str,
        interval_seconds: float,
        run: Callable[[], Awaitable[None]],
        *,
        ready: Callable[[], bool] = lambda: True,
        at_once: bool = False,
    ) -> None:
        """Schedule `run` every `interval_seconds`, for the first time one interval from now.

        With `at_once` the first time is now. When `ready()` is false at a slot, the job waits for
        the next slot.

        Raises:
            UsageError: the interval is not a positive finite number, or the name is taken.
        """
        if not (math.isfinite(interval_seconds) and interval_seconds > 0):
            raise UsageError(
                f"job {name}: the interval is {interval_seconds}; give a number of seconds above 0"
            )
        if name in self._jobs:
            raise UsageError(f"job {name} is already scheduled; give it another name")
        due = self._clock.monotonic() + (0 if at_once else interval_seconds)
        self._jobs[name] = _Job(run, ready, interval_seconds, due)
        self._changed.set()

    def seconds_until_due(self) -> float | None:
        """Seconds to the next slot, 0 when one is due, None without jobs."""
        if not self._jobs:
            return None
        return max(0.0, min(job.due for job in self._jobs.values()) - self._clock.monotonic())

    async def run_due(self) -> tuple[str, ...]:
        """Run what is due and ready now; the names of the jobs that ran, in order.

        Returns at once, with nothing, while another call is still at work.
        """
        if self._running:
            return ()
        self._running = True
        try:
            ran = []
            for name, job in list(self._jobs.items()):
                now = self._clock.monotonic()
                if job.due > now:
                    continue
                job.due = now + job.interval
                if await self._run(name, job):
                    ran.append(name)
            return tuple(ran)
        finally:
            self._running = False

    async def run_forever(self) -> None:
        """Run jobs as they fall due until the task is cancelled."""
        while True:
            self._changed.clear()
            await self.run_due()
            try:
                async with asyncio.timeout(self.seconds_until_due()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _run(self, name: str, job: _Job) -> bool:
        try:
            if not job.ready():
                return False
            await job.run()
        except Exception as error:
            self._on_error(name, error)
        return True
