from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from gh_tui.clock import ManualClock
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.bridge import Bridge, coalesced


class Sink:
    def __init__(self) -> None:
        self.taken: list[ev.Event] = []
        self.settled = 0
        self.seen: list[str] = []
        self.break_on: str | None = None

    def take(self, state: SessionState, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, ev.Notice) and event.text == self.break_on:
            raise ValueError("cannot draw this")
        self.taken.append(event)
        self.seen.append(state.reply_text)

    async def settle(self, state: SessionState) -> None:
        self.settled += 1


def delta(text: str, request: int = 1, kind: str = "text") -> ev.ReplyDelta:
    return ev.ReplyDelta(request=request, kind="text" if kind == "text" else "reasoning", text=text)


async def test_a_burst_arrives_in_order_in_few_drawings_and_without_loss() -> None:
    bus, sink = EventBus("s", ManualClock()), Sink()
    errors: list[Exception] = []
    bridge = Bridge(bus, sink, errors.append)
    running = asyncio.create_task(bridge.run())
    await bus.publish(ev.Notice(level="info", text="first"))
    for index in range(1000):
        await bus.publish(delta(f"{index},"))
    await bus.publish(ev.Notice(level="info", text="last"))
    await asyncio.sleep(0.3)
    running.cancel()
    text = "".join(event.text for event in sink.taken if isinstance(event, ev.ReplyDelta))
    assert text == "".join(f"{index}," for index in range(1000))
    assert [e.text for e in sink.taken if isinstance(e, ev.Notice)] == ["first", "last"]
    assert sink.settled <= 6
    assert not errors


async def test_the_state_is_the_one_right_after_each_event() -> None:
    bus, sink = EventBus("s", ManualClock()), Sink()
    bridge = Bridge(bus, sink, lambda error: None)
    await bus.publish(delta("a"))
    await bus.publish(ev.Notice(level="info", text="between"))
    await bus.publish(delta("b"))
    await bridge.drain()
    assert sink.seen == ["a", "a", "ab"]


async def test_an_event_that_cannot_be_shown_hides_no_other() -> None:
    bus, sink = EventBus("s", ManualClock()), Sink()
    errors: list[Exception] = []
    sink.break_on = "bad"
    bridge = Bridge(bus, sink, errors.append)
    for text in ("one", "bad", "two"):
        await bus.publish(ev.Notice(level="info", text=text))
    await bridge.drain()
    assert [e.text for e in sink.taken if isinstance(e, ev.Notice)] == ["one", "two"]
    assert [str(error) for error in errors] == ["cannot draw this"]


EVENTS = st.one_of(
    st.builds(delta, st.text(max_size=5), st.integers(1, 2), st.sampled_from(["text", "r"])),
    st.builds(ev.Notice, level=st.just("info"), text=st.text(max_size=3)),
)


@given(st.lists(EVENTS, max_size=30))
def test_joining_keeps_the_text_of_each_reply_and_every_other_event(events: list[ev.Event]) -> None:
    envelopes = [Envelope(None, "t", "s", event) for event in events]
    joined = [envelope.event for envelope in coalesced(envelopes)]

    def flat(some: list[ev.Event]) -> list[object]:
        result: list[object] = []
        for event in some:
            if isinstance(event, ev.ReplyDelta):
                result += [(event.request, event.kind, char) for char in event.text]
            else:
                result.append(event)
        return result

    assert flat(joined) == flat(events)
