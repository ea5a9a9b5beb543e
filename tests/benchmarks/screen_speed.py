"""How long the timeline takes with a long session, beside a short one in the same run.

    python -m tests.benchmarks.screen_speed

`open` is the first drawing of the whole session, `one more` one event that adds an entry, with
its drawing; times are medians in milliseconds.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import Final

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import fold
from tests.benchmarks.report import Kind, Row, Table, render
from tests.tui.panes import Panes, lines
from tests.tui.sessions import long_session

SIZES: Final = (100, 1_000, 10_000, 100_000)
REPEATS: Final = 9
_SCREEN: Final = (120, 40)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds at one size."""

    turns: int
    opened: float
    more: float


def measure() -> list[Table]:
    """The times at each size, and against the smallest."""
    times = [asyncio.run(_measure(turns)) for turns in SIZES]
    short = times[0]
    kinds: dict[bool, Kind] = {True: "baseline", False: "also"}
    return [
        Table(
            measure="Speed of the timeline, ms",
            heads=("open", "one more", "open/short", "one more/short"),
            rows=tuple(
                Row(
                    f"a session of {one.turns:,}",
                    kinds[one is short],
                    one.turns,
                    (one.opened, one.more, one.opened / short.opened, one.more / short.more),
                )
                for one in times
            ),
            items="turns",
        )
    ]


async def _measure(turns: int) -> Times:
    state = fold(envelopes := long_session(turns))
    opened: list[float] = []
    more: list[float] = []
    for _ in range(3):
        app = Panes()
        async with app.run_test(size=_SCREEN) as pilot:
            begun = time.perf_counter()
            app.timeline.show(state, None)
            lines(app.timeline)
            opened.append(time.perf_counter() - begun)
            await pilot.pause()
            for number in range(REPEATS):
                text = f"one more {len(state.turns)} {number}"
                added = ev.TurnAdded(iri=text, role="user", text=text, summary=text, tokens=3)
                last = envelopes[-1]
                seq = len(envelopes) + number + 1
                state.apply(entry := Envelope(seq, last.time, "s", added))
                begun = time.perf_counter()
                app.timeline.show(state, entry)
                lines(app.timeline)
                more.append(time.perf_counter() - begun)
    return Times(turns, 1e3 * statistics.median(opened), 1e3 * statistics.median(more))


if __name__ == "__main__":
    print("\n\n".join(render(table) for table in measure()))
