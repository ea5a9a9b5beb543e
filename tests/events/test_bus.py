from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from gh_tui.clock import ManualClock
from gh_tui.errors import RecordingError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.codec import from_line
from gh_tui.events.envelope import Envelope


class SlowJournal:
    """Stands where the disk is: slow, and failing when told to."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.full = False

    async def append(self, envelope: Envelope, line: bytes) -> None:
        await asyncio.sleep(0.001)
        if self.full:
            raise RecordingError("disk full")
        self.lines.append(line)


def cycle(number: int) -> ev.CycleStarted:
    return ev.CycleStarted(cycle=number)


async def test_every_subscriber_sees_every_event_in_order_after_it_is_recorded() -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal)
    seen: list[tuple[int | None, int]] = []
    bus.subscribe(lambda envelope: seen.append((envelope.seq, len(journal.lines))))
    slow = bus.open_subscription()
    await asyncio.gather(*(bus.publish(cycle(n)) for n in range(20)))
    assert seen == [(n, n) for n in range(1, 21)]
    assert slow.behind == 20
    slow.close()
    assert [envelope.seq async for envelope in slow] == list(range(1, 21))


async def test_a_broken_subscriber_stops_neither_the_engine_nor_the_others() -> None:
    bus = EventBus("s", ManualClock())
    seen: list[Envelope] = []

    def broken(envelope: Envelope) -> None:
        raise RuntimeError("no")

    bus.subscribe(broken)
    bus.subscribe(seen.append)
    for number in (1, 2):
        await bus.publish(cycle(number))
    cycles = [envelope.event for envelope in seen if envelope.seq is not None]
    assert cycles == [cycle(1), cycle(2)]
    notices = [envelope.event for envelope in seen if envelope.seq is None]
    assert len(notices) == 1, "it is told once"
    assert "RuntimeError: no" in str(notices[0])
    assert len(bus.failures) == 3, "the notice met the broken one too"


async def test_what_cannot_be_recorded_is_not_announced_and_leaves_no_gap() -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal)
    seen: list[int | None] = []
    bus.subscribe(lambda envelope: seen.append(envelope.seq))
    await bus.publish(cycle(1))
    journal.full = True
    with pytest.raises(RecordingError):
        await bus.publish(cycle(2))
    journal.full = False
    await bus.publish(cycle(3))
    assert seen == [1, 2]
    assert len(journal.lines) == 2


async def test_a_cancelled_publisher_does_not_tear_the_order() -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal)
    seen: list[int | None] = []
    bus.subscribe(lambda envelope: seen.append(envelope.seq))
    publishing = asyncio.create_task(bus.publish(cycle(1)))
    await asyncio.sleep(0)
    publishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await publishing
    await bus.publish(cycle(2))
    assert seen == [1, 2]
    assert len(journal.lines) == 2


async def test_a_configured_key_is_hidden_before_anyone_sees_it() -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal, secrets=("sk-1234567890", ""))
    seen: list[Envelope] = []
    bus.subscribe(seen.append)
    await bus.publish(ev.Notice(level="error", text="bad key sk-1234567890!"))
    await bus.publish(ev.ReplyDelta(request=1, kind="text", text="sk-1234567890"))
    assert b"sk-1234567890" not in b"".join(journal.lines)
    assert "sk-1234567890" not in str(seen)
    assert "bad key [key]!" in str(seen)


@pytest.mark.parametrize("placeholder", ["x", "1", "text", "ollama", "lm-studio", "not-needed"])
async def test_a_placeholder_for_a_key_is_no_secret(placeholder: str) -> None:
    bus = EventBus("s", ManualClock(), secrets=(placeholder,))
    said = ev.Notice(level="info", text=f"1 extra {placeholder}")
    assert (await bus.publish(said)).event == said


@pytest.mark.parametrize("key", ['sk-12"34"567', "sk-12\\34\\567", "sk-\u5bc6\u94a5-12345"])
async def test_a_key_is_hidden_however_it_is_written_in_json(key: str) -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal, secrets=(key,))
    seen: list[Envelope] = []
    bus.subscribe(seen.append)
    await bus.publish(ev.Notice(level="error", text=f"bad key {key}!"))
    await bus.publish(ev.Notice(level="error", text=f"bad key {key}! \ud800"))
    call = ev.ToolRequested(call="c", name="n", arguments={key: [{"deep": key}]})
    await bus.publish(call)
    read = [from_line(line) for line in journal.lines]
    assert read == seen
    assert [str(envelope.event).count("[key]") for envelope in seen] == [1, 1, 2]
    assert key not in "".join(json.loads(line).get("text", "") for line in journal.lines)


@pytest.mark.parametrize("key", ["USER_SUPPLEMENTARY_INPUT", "SupplementInjected"])
async def test_a_key_like_a_word_of_the_format_breaks_no_record(key: str) -> None:
    journal = SlowJournal()
    bus = EventBus("s", ManualClock(), journal, secrets=(key,))
    added = ev.TurnAdded(
        iri="iri://session/s/turn/1", role="assistant", text=f"a {key}", summary="", tokens=1
    )
    published = await bus.publish(added)
    assert from_line(journal.lines[0]) == published
    assert published.event == replace(added, text="a [key]")


async def test_a_closed_queue_does_not_grow() -> None:
    bus = EventBus("s", ManualClock())
    slow = bus.open_subscription()
    await bus.publish(cycle(1))
    slow.close()
    await bus.publish(cycle(2))
    assert [envelope.seq async for envelope in slow] == [1]
