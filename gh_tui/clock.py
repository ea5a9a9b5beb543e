"""Time as a dependency: wall time for the record, monotonic time for ages."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the engine asks of time."""

    def now(self) -> datetime:
        """Wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean something."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> datetime:
        """Wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start."""
        return time.monotonic()


class ManualClock:
    """A clock that moves only when told to; for tests and for replay."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The start plus what was advanced."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds advanced so far."""
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move forward by `seconds`.

        Raises:
            ValueError: if `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError("time does not go back")
        self._elapsed += seconds


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds and a trailing `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
