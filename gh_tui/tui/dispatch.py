"""From events to panes: who is told of what, in which order.

Live and replay use this class alike; the screen adds what only one of them has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

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

    def take(self, state: SessionState, envelope: Envelope) -> None:
        """One event."""
        self._transcript.apply(envelope, state)
        self._timeline.show(state, envelope)
        self._heard(state, envelope)

    async def settle(self, state: SessionState) -> None:
        """A batch has ended."""
        await self._conversation.sync()
        await self._settled(state)
