"""The only crossing from the bus to the screen.

Envelopes are collected as they are announced and delivered in order, in batches, at most
`RATE` times a second; neighbouring pieces of one reply are joined, nothing else is touched.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.events.types import ReplyDelta

RATE = 15.0
"""Deliveries a second: Markdown costs too much beyond it."""
BATCH = 400
"""Envelopes a delivery: between two of them the keyboard is heard."""


class Sink(Protocol):
    """Who shows the events."""

    def take(self, state: SessionState, envelope: Envelope) -> None:
        """One event, with the state right after it."""
        ...

    async def settle(self, state: SessionState) -> None:
        """A batch has ended: draw."""
        ...


class Bridge:
    """Folds a bus into one `SessionState` and tells a sink, at a pace a screen can follow."""

    def __init__(
        self,
        bus: EventBus,
        sink: Sink,
        on_error: Callable[[Exception], None],
        past: Iterable[Envelope] = (),
    ) -> None:
        """`past` is what came before the bus could be heard: it is delivered first."""
        self.state = SessionState()
        self._sink = sink
        self._on_error = on_error
        self._waiting: deque[Envelope] = deque(past)
        self._changed = asyncio.Event()
        self._changed.set()
        self._remove = bus.subscribe(self._collect)

    def close(self) -> None:
        """Hear nothing more; what waits is still delivered by `drain`."""
        self._remove()

    async def run(self) -> None:
        """Deliver for ever; a sink that raises is reported and served again."""
        while True:
            await self._changed.wait()
            await self.drain()
            await asyncio.sleep(1 / RATE)

    async def drain(self) -> None:
        """Deliver all that waits now."""
        while self._waiting:
            count = min(BATCH, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(count)]
            for envelope in coalesced(batch):
                self._deliver(envelope)
            try:
                await self._sink.settle(self.state)
            except Exception as error:
                self._on_error(error)
            await asyncio.sleep(0)
        self._changed.clear()

    def _deliver(self, envelope: Envelope) -> None:
        try:
            self.state.apply(envelope)
            self._sink.take(self.state, envelope)
        except Exception as error:  # one event that cannot be shown must not hide the next
            self._on_error(error)

    def _collect(self, envelope: Envelope) -> None:
        self._waiting.append(envelope)
        self._changed.set()


def coalesced(envelopes: Iterable[Envelope]) -> list[Envelope]:
    """Join neighbouring deltas of the same request and kind; all other events stay as they are."""
    result: list[Envelope] = []
    for envelope in envelopes:
        last = result[-1] if result else None
        if (
            last is not None
            and isinstance(envelope.event, ReplyDelta)
            and isinstance(last.event, ReplyDelta)
            and last.event.request == envelope.event.request
            and last.event.kind == envelope.event.kind
        ):
            text = last.event.text + envelope.event.text
            result[-1] = replace(last, event=replace(last.event, text=text))
        else:
            result.append(envelope)
    return result
