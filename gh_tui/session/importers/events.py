"""Foreign turns as this program's own events, in an order that every reader of them accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from gh_tui.clock import timestamp
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.values import Role, Task, ToolCall
from gh_tui.memory.turn import L1Turn, iri_for, new_turn
from gh_tui.session.importers.order import believable, results_at_their_calls
from gh_tui.session.importers.turns import ImportedTurn

NO_RESULT: Final = "[no result: the transcript ends this call without one]"
_MILLISECONDS: Final = 1e11
"""A larger number of seconds would be far in the future."""
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event and when it happened, RFC 3339 in UTC; times never go back."""

    event: ev.Event
    time: str


def to_events(
    turns: Iterable[ImportedTurn], session: str, *, source: str, start: datetime
) -> Iterator[Stamped]:
    """Yield the events of a session that was carried out by another program.

    What the other program told its model (`system`) is no turn and is left out. Every call gets
    exactly one result, before anything else is said, also if the transcript gives it later: one
    that has none gets `NO_RESULT`, and a result without a call gets a call.

    Args:
        turns: in their order.
        session: the id of the new session; it names the IRIs.
        source: what the transcript is of, for the record.
        start: when it began, if no turn says it.

    Raises:
        UsageError: `session` cannot be an id.
    """
    if not _SESSION.fullmatch(session):
        raise UsageError(
            f"{session!r:.120} cannot be the id of a session: letters, digits, '.', '_' and '-', "
            "100 at most, a letter or digit first"
        )
    return _Conversion(session, source, start).run(turns)


class _Conversion:
    def __init__(self, session: str, source: str, start: datetime) -> None:
        self._session, self._source, self._now = session, source, start
        self._number = 0
        self._cycle = 0
        self._started = False
        self._running = False
        self._open: dict[str, ToolCall] = {}
        """Calls without a result by the id in the transcript; each has its own in the events."""
        self._used: dict[str, int] = {}
        """The ids of calls in the events, each with the last number that was put to it."""
        self._said = ""

    def run(self, turns: Iterable[ImportedTurn]) -> Iterator[Stamped]:
        started = ev.SessionStarted(
            provider=self._source,
            model="",
            window=0,
            window_source="imported",
            embedder="",
            settings={},
            reason=f"imported from {self._source}",
        )
        ordered = results_at_their_calls(turns)
        times = believable([_moment(turn.time) for turn in ordered])
        self._now = next(filter(None, times), self._now)
        yield from self._at(started)
        for turn, time in zip(ordered, times, strict=True):
            self._now = time or self._now
            yield from self._take(turn)
        yield from self._close()
        yield from self._at(ev.SessionEnded(outcome="done", text=""))

    def _take(self, turn: ImportedTurn) -> Iterator[Stamped]:
        if turn.role == "tool":
            yield from self._result(turn)
        elif turn.role == "assistant" and (turn.text.strip() or turn.calls):
            yield from self._cut_short()
            yield from self._reply(turn)
        elif turn.role == "user" and turn.text.strip():
            yield from self._close()
            yield from self._input(turn)

    def _input(self, turn: ImportedTurn) -> Iterator[Stamped]:
        added = self._turn("user", turn.text, is_task=not self._started)
        yield from self._at(ev.UserInputReceived(iri=added.iri, text=turn.text))
        if not self._started:
            self._started = True
            yield from self._at(ev.TaskStarted(task=Task(what=turn.text), by="import"))
        yield from self._at(_added(added))

    def _reply(self, turn: ImportedTurn) -> Iterator[Stamped]:
        self._cycle += 1
        self._running, self._said = True, turn.text
        yield from self._at(ev.CycleStarted(cycle=self._cycle))
        for call in turn.calls:
            own = replace(call, id=self._unused(call.id))
            self._open[call.id if call.id not in self._open else own.id] = own
        calls = tuple(self._open.values())
        yield from self._at(_added(self._turn("assistant", turn.text, calls=calls)))
        for call in calls:
            yield from self._at(
                ev.ToolRequested(call=call.id, name=call.name, arguments=call.arguments)
            )

    def _result(self, turn: ImportedTurn) -> Iterator[Stamped]:
        if turn.call_id not in self._open:
            call = ToolCall(turn.call_id or "call", turn.name or "tool", {})
            yield from self._cut_short()
            yield from self._reply(ImportedTurn(role="assistant", text="", calls=(call,)))
            turn = replace(turn, call_id=call.id)
        call = self._open.pop(turn.call_id or "")
        yield from self._answer(call, turn.text, ok=turn.ok)

    def _answer(self, call: ToolCall, text: str, *, ok: bool | None) -> Iterator[Stamped]:
        added = self._turn("tool", text, ok=ok, call_id=call.id, name=call.name)
        yield from self._at(_added(added))
        yield from self._at(
            ev.ToolFinished(
                call=call.id, name=call.name, ok=ok is not False, iri=added.iri, tokens=added.tokens
            )
        )

    def _cut_short(self) -> Iterator[Stamped]:
        """Give each open call the result that it never got."""
        for call in self._open.values():
            yield from self._answer(call, NO_RESULT, ok=False)
        self._open.clear()

    def _close(self) -> Iterator[Stamped]:
        yield from self._cut_short()
        if self._running:
            self._running = False
            yield from self._at(ev.TaskFinished(outcome="done", text=self._said))

    def _turn(
        self,
        role: Role,
        text: str,
        *,
        is_task: bool = False,
        ok: bool | None = None,
        calls: tuple[ToolCall, ...] = (),
        call_id: str | None = None,
        name: str | None = None,
    ) -> L1Turn:
        self._number += 1
        return new_turn(
            iri_for(self._session, self._number),
            role,
            text,
            created_at=self._now.timestamp(),
            is_task=is_task,
            ok=ok,
            calls=calls,
            call_id=call_id,
            name=name,
        )

    def _unused(self, name: str) -> str:
        """An id like the transcript's that no earlier call of the session has."""
        name = name or "call"
        wanted, number = name, self._used.get(name, 1)
        while wanted in self._used:
            number += 1
            wanted = f"{name}-{number}"
        self._used[name] = number
        self._used.setdefault(wanted, 1)
        return wanted

    def _at(self, event: ev.Event) -> Iterator[Stamped]:
        yield Stamped(event, timestamp(self._now))


def _added(turn: L1Turn) -> ev.TurnAdded:
    return ev.TurnAdded(
        iri=turn.iri,
        role=turn.role,
        text=turn.text,
        summary=turn.summary,
        tokens=turn.tokens,
        calls=turn.calls,
        call_id=turn.call_id,
        name=turn.name,
    )


def _moment(time: str | float | None) -> datetime | None:
    """A time in UTC; one without a zone is taken as UTC, one that makes no sense as unknown."""
    try:
        match time:
            case str():
                moment = datetime.fromisoformat(time)
                return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
            case float() | int():
                return datetime.fromtimestamp(time / 1000 if time > _MILLISECONDS else time, UTC)
            case _:
                return None
    except (ValueError, OverflowError, OSError):
        return None
