"""From events to panes: who is told of what, in which order.

Live and replay use this class alike; the screen adds what only one of them has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.transcript import Transcript
from gh_tui.tui.widgets.conversation import Conversation
from gh_tui.tui.widgets.timeline import Timeline

Settled = Callable[[SessionState], Awaitable[None]]


class Dispatch:
    """The sink of a bridge: feeds the transcript and the timeline, then lets all panes draw."""

    def __init__(
        self,
        transcript: Transcript,
        conversation: Conversation,
        timeline: Timeline,
        settled: Settled,
        heard: Callable[[SessionState, Envelope], None],
    ) -> None:
        self._transcript = transcript
        self._conversation = conversation
        self._timeline = timeline
        self._settled = settled
        self._heard = heard
        self._sent: ev.RequestSent | None = None
        self.requests: dict[int, ev.RequestSent] = {}
        """Those that first carried a supplement, for "show me the message that carried it"."""

    def take(self, state: SessionState, envelope: Envelope) -> None:
        """One event."""
        match envelope.event:
            case ev.RequestSent() as event:
                self._sent = event
            case ev.SupplementInjected() as event:
                if self._sent is not None and self._sent.request == event.request:
                    self.requests[event.request] = self._sent
            case _:
                pass
        self._transcript.apply(envelope, state)
        self._timeline.show(state, envelope)
        self._heard(state, envelope)

    async def settle(self, state: SessionState) -> None:
        """A batch has ended."""
        await self._conversation.sync()
        await self._settled(state)


def message_of(requests: dict[int, ev.RequestSent], request: int, iri: str) -> str | None:
    """Where in a request the turn `iri` stood, in words; None if it did not carry it."""
    sent = requests.get(request)
    if sent is None:
        return None
    for index, entry in enumerate(sent.manifest, 1):
        if entry.iri == iri and entry.part == "turn":
            return (
                f"request {request}, cycle {sent.cycle} · message {index} of "
                f"{len(sent.manifest)} · role {entry.role} · {entry.fidelity} · "
                f"{entry.tokens:,} tokens"
            )
    return None
