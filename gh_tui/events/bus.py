"""The bus: numbers events, has them recorded, then tells every subscriber in order.

Publishing a durable event returns only when the journal has written it, so whoever sees an
event may rely on its being on disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Protocol

from gh_tui.clock import Clock, timestamp
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.events.redact import Redactor
from gh_tui.events.types import Event, Notice, ReplyDelta

Subscriber = Callable[[Envelope], None]

KEPT_FAILURES = 20


class Journal(Protocol):
    """Where durable events go before anyone is told of them."""

    async def append(self, envelope: Envelope, line: bytes) -> None:
        """Return when `line`, the encoded envelope, is written."""
        ...


class Subscription:
    """A queue of its own for one slow reader: nothing is lost and nobody waits for it."""

    def __init__(self) -> None:
        self._waiting: deque[Envelope] = deque()
        self._changed = asyncio.Event()
        self._closed = False

    @property
    def behind(self) -> int:
        """How many envelopes wait to be read."""
        return len(self._waiting)

    def put(self, envelope: Envelope) -> None:
        """Add one envelope at the end; a closed queue takes no more."""
        if self._closed:
            return
        self._waiting.append(envelope)
        self._changed.set()

    def close(self) -> None:
        """Let the reader finish what waits, then end its loop."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._closed:
                return
            self._changed.clear()
            await self._changed.wait()


class EventBus:
    """The ordered stream of one session's events."""

    def __init__(
        self,
        session: str,
        clock: Clock,
        journal: Journal | None = None,
        *,
        next_seq: int = 1,
        secrets: Iterable[str] = (),
    ) -> None:
        self.session = session
        self._clock = clock
        self._journal = journal
        self._next_seq = next_seq
        self._redactor = Redactor(secrets)
        self._subscribers: list[Subscriber] = []
        self._broken: list[Subscriber] = []
        self._order = asyncio.Lock()
        self.failures: deque[Exception] = deque(maxlen=KEPT_FAILURES)
        """What subscribers raised of late; a broken subscriber never stops the engine."""

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` for each event, in order, on the event loop; returns its remover."""
        self._subscribers.append(subscriber)

        def remove() -> None:
            self._subscribers.remove(subscriber)
            if subscriber in self._broken:
                self._broken.remove(subscriber)

        return remove

    def open_subscription(self) -> Subscription:
        """A queue for a reader with a pace of its own."""
        subscription = Subscription()
        self.subscribe(subscription.put)
        return subscription

    async def publish(self, event: Event) -> Envelope:
        """Number, record and announce one event; a cancelled caller does not undo it.

        Raises:
            RecordingError: if the journal could not write it; then nobody was told.
        """
        if isinstance(event, ReplyDelta):
            return self.announce(event)
        return await asyncio.shield(self._record(event))

    def announce(self, event: Event) -> Envelope:
        """Tell the subscribers of something that is not recorded and has no `seq`."""
        envelope = Envelope(None, timestamp(self._clock.now()), self.session, event)
        envelope, _ = self._encoded(envelope)
        self._tell(envelope)
        return envelope

    async def publish_all(self, events: Iterable[Event]) -> None:
        """Publish several events, one after the other."""
        for event in events:
            await self.publish(event)

    def relay(self, envelope: Envelope) -> None:
        """Tell the subscribers of an envelope that was made elsewhere, as it is."""
        self._tell(envelope)

    async def _record(self, event: Event) -> Envelope:
        async with self._order:
            time = timestamp(self._clock.now())
            envelope, line = self._encoded(Envelope(self._next_seq, time, self.session, event))
            if self._journal is not None:
                await self._journal.append(envelope, line)
            self._next_seq += 1
            self._tell(envelope)
        return envelope

    def _encoded(self, envelope: Envelope) -> tuple[Envelope, bytes]:
        """The envelope without the value of any configured key, and its line."""
        line = to_line(envelope)
        if not self._redactor.touches(line):
            return envelope, line
        envelope = self._redactor.clean(envelope)
        return envelope, to_line(envelope)

    def _tell(self, envelope: Envelope) -> None:
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(envelope)
            except Exception as error:  # the engine outlives any reader
                self._note(subscriber, error)

    def _note(self, subscriber: Subscriber, error: Exception) -> None:
        """Keep what a subscriber raised; the others hear of it the first time."""
        self.failures.append(error)
        if subscriber in self._broken:
            return
        self._broken.append(subscriber)
        reason = f"{type(error).__name__}: {error}"
        text = f"What shows or follows this session failed; the session goes on. {reason}"
        self.announce(Notice(level="error", text=text))
