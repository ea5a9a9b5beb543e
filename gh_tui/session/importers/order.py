"""The order of a foreign session: results at their calls, times that never go back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from gh_tui.session.importers.turns import ImportedTurn


def results_at_their_calls(turns: Iterable[ImportedTurn]) -> list[ImportedTurn]:
    """Move each result up to the turn that asked for it; one without a call stays in its place."""
    groups: list[list[ImportedTurn]] = []
    asked: dict[str, list[list[ImportedTurn]]] = {}
    """For each call id the turns that wait for its result, the latest last."""
    for turn in turns:
        waiting = asked.get(turn.call_id or "") if turn.role == "tool" else None
        if waiting:
            waiting.pop().append(turn)
            continue
        group = [turn]
        groups.append(group)
        for call in turn.calls:
            asked.setdefault(call.id, []).append(group)
    return [turn for group in groups for turn in group]


def believable(times: Sequence[datetime | None]) -> list[datetime | None]:
    """Keep the most times that never go back, in their places; the others count as unknown.

    One clock that is far wrong so costs its own time only, and not those of all that follow. The
    longest run is found by patience sorting, in n log n steps.
    """
    ends: list[datetime] = []
    """For each length the earliest time with which a run of it ends."""
    at: list[int] = []
    before: dict[int, int] = {}
    for place, time in enumerate(times):
        if time is None:
            continue
        length = bisect_right(ends, time)
        before[place] = at[length - 1] if length else -1
        ends[length : length + 1] = [time]
        at[length : length + 1] = [place]
    kept = set(_back(at[-1] if at else -1, before))
    return [time if place in kept else None for place, time in enumerate(times)]


def _back(place: int, before: dict[int, int]) -> Iterator[int]:
    while place >= 0:
        yield place
        place = before[place]
