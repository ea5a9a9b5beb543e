"""now: the date and time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gh_tui.agent.tools.base import parameters
from gh_tui.clock import Clock
from gh_tui.providers.base import ToolSpec


class Now:
    """`now()`: local date, time, weekday and offset."""

    spec = ToolSpec("now", "The current date, time and weekday.", parameters({}))

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def preview(self, arguments: Mapping[str, Any]) -> None:
        """Telling the time needs no approval."""

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """As in `2026-03-01 14:05:09 +0100, Sunday`."""
        return self._clock.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z, %A")
