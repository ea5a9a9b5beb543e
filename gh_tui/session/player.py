"""The player: publishes a recording's envelopes again, at their own pace or step by step.

What was streamed is streamed again: the deltas are cut from the finished reply by its recorded
chunks. Gaps longer than `MAX_GAP` seconds are shortened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gh_tui.clock import SystemClock
from gh_tui.errors import RecordingError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.journal.reader import read_records

MAX_GAP = 3.0


@dataclass(frozen=True, slots=True)
class _Frame:
    """One envelope and how long after the one before it came, in seconds."""

    delay: float
    envelope: Envelope
    recorded: int
    """How many records are behind when this one is out."""


class Player:
    """Plays one recording on a bus of its own."""

    def __init__(self, path: Path) -> None:
        """Read the recording.

        Raises:
            RecordingError: if it cannot be opened or holds nothing readable.
        """
        self.path = path
        self.bad_lines = 0
        envelopes = []
        for record in read_records(path):
            if record.envelope is None:
                self.bad_lines += 1
            else:
                envelopes.append(record.envelope)
        if not envelopes:
            raise RecordingError(f"{path} holds no readable record; is it a gh-tui recording?")
        self.total = len(envelopes)
        self.bus = EventBus(envelopes[0].session, SystemClock())
        self.state = SessionState()
        self.bus.subscribe(self.state.apply)
        self.speed = 1.0
        self._frames = list(_frames(envelopes))
        self._next = 0
        self._going = asyncio.Event()
        self._going.set()

    @property
    def title(self) -> str:
        """The recording's file name."""
        return self.path.stem

    @property
    def position(self) -> int:
        """How many records were played."""
        return self._frames[self._next - 1].recorded if self._next else 0

    @property
    def playing(self) -> bool:
        """Whether it plays by itself: not paused and not at the end."""
        return self._going.is_set() and not self.finished

    @property
    def finished(self) -> bool:
        """Whether every record was played."""
        return self._next >= len(self._frames)

    def play(self) -> None:
        """Go on by itself."""
        self._going.set()

    def pause(self) -> None:
        """Stop after the present record."""
        self._going.clear()

    def set_speed(self, speed: float) -> None:
        """Play `speed` times as fast as recorded (0.25 to 64)."""
        self.speed = min(64.0, max(0.25, speed))

    async def run(self) -> None:
        """Play to the end, pausing and resuming as told."""
        while self._next < len(self._frames):
            await self._going.wait()
            frame = self._frames[min(self._next, len(self._frames) - 1)]
            await asyncio.sleep(min(frame.delay, MAX_GAP) / self.speed)
            if self._going.is_set() and self._next < len(self._frames):
                self._emit()

    async def step(self) -> None:
        """Pause, and play up to and including the next record."""
        self.pause()
        before = self.position
        while not self.finished and self.position == before:
            self._emit()

    async def submit(self, text: str) -> str | None:
        """Try a timeline command on the replayed state: /pin, /unpin, /recall IRI, /undo.

        Raises:
            UsageError: for anything else.
        """
        command, _, iri = text.partition(" ")
        for event in self._try(command, iri.strip()):
            self.bus.announce(event)
        return None

    def _try(self, command: str, iri: str) -> Iterator[ev.Event]:
        turn = self.state.turns.get(iri)
        match command:
            case "/pin" if turn is not None:
                yield ev.TurnPinned(iri=iri)
            case "/unpin" if turn is not None:
                yield ev.TurnUnpinned(iri=iri)
            case "/recall" if turn is not None and (turn.fidelity != "full" or turn.attached):
                yield ev.TurnFidelityChanged(
                    iri=iri,
                    before=turn.fidelity,
                    after="full",
                    phase="recall",
                    terms={},
                    tokens_freed=-turn.tokens,
                    whole=turn.attached,
                )
            case "/undo" if self.state.passes:
                last = self.state.passes[max(self.state.passes)]
                for change in reversed(last.changes):
                    if self.state.turns[change.iri].fidelity == change.after:
                        yield replace(
                            change,
                            before=change.after,
                            after=change.before,
                            phase="undo",
                            tokens_freed=-change.tokens_freed,
                            pass_=None,
                            attached=False,
                            whole=change.attached,
                        )
            case "/pin" | "/unpin" | "/recall" | "/undo":
                raise UsageError(f"{command}: nothing to do here")
            case _:
                raise UsageError("this is a replay; it takes /pin, /unpin, /recall and /undo")

    def _emit(self) -> None:
        frame = self._frames[self._next]
        self._next += 1
        self.bus.relay(frame.envelope)


def _frames(envelopes: list[Envelope]) -> Iterator[_Frame]:
    finished = {
        envelope.event.request: envelope.event
        for envelope in envelopes
        if isinstance(envelope.event, ev.ReplyFinished)
    }
    stream: _Stream | None = None
    previous = envelopes[0].time
    for index, envelope in enumerate(envelopes):
        now = previous
        event = envelope.event
        if stream is not None and isinstance(event, ev.ReplyProgress | ev.ReplyFinished):
            upto = len(event.text)
            for delay, text in stream.until(upto):
                delta = ev.ReplyDelta(request=event.request, kind="text", text=text)
                yield _Frame(delay, Envelope(None, now, envelope.session, delta), index)
            gap = 0.0
        else:
            gap = _seconds(previous, envelope.time)
        if isinstance(event, ev.RequestSent):
            reply = finished.get(event.request)
            stream = None if reply is None else _Stream(reply)
        elif isinstance(event, ev.ReplyFinished):
            stream = None
        previous = envelope.time
        yield _Frame(gap, envelope, index + 1)


class _Stream:
    """The text of a finished reply, cut as it had come."""

    def __init__(self, reply: ev.ReplyFinished) -> None:
        self._text = reply.text
        self._chunks = list(reply.chunks)
        self._sent = 0
        self._clock = 0

    def until(self, length: int) -> Iterator[tuple[float, str]]:
        """The pieces up to `length` characters, each with its delay in seconds."""
        while self._chunks and self._sent + self._chunks[0][1] <= length:
            at, size = self._chunks.pop(0)
            text = self._text[self._sent : self._sent + size]
            self._sent += size
            delay, self._clock = max(0, at - self._clock) / 1000, max(at, self._clock)
            if text:
                yield delay, text


def _seconds(before: str, after: str) -> float:
    try:
        gap = datetime.fromisoformat(after) - datetime.fromisoformat(before)
    except ValueError:
        return 0.0
    return max(0.0, gap.total_seconds())
