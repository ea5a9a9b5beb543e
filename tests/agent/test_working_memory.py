"""When passes run, and what is told of what they may not take."""

from __future__ import annotations

import asyncio

import pytest

from gh_tui.agent.memory import WorkingMemory
from gh_tui.clock import ManualClock
from gh_tui.context.window import Budget, ContextWindowManager
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.values import Trigger
from tests.memory.sessions import Talk
from tests.memory.stories import LONG


class SlowJournal:
    """Stands where the disk is: others get their turn while it writes."""

    async def append(self, envelope: Envelope, line: bytes) -> None:
        await asyncio.sleep(0)


class Working:
    """A working memory over a talk, and what it published."""

    def __init__(self, tokens: int) -> None:
        self.talk = Talk()
        self.events: list[ev.Event] = []
        bus = EventBus("s", ManualClock(), SlowJournal())
        bus.subscribe(lambda envelope: self.events.append(envelope.event))
        budget = Budget(tokens, tokens, 8192, "server", 0, 0)
        window = ContextWindowManager()
        self.memory = WorkingMemory(
            bus, ManualClock(), self.talk.l1, window, budget, "Answer.", standing_max=None
        )

    @property
    def triggers(self) -> list[str]:
        return [event.trigger for event in self.events if isinstance(event, ev.PassStarted)]

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, ev.Notice)]


def full(tokens: int = 1500) -> Working:
    """A request of twice its budget."""
    run = Working(tokens)
    run.talk.say("user", "Describe the parser.", is_task=True)
    while run.talk.l1.tokens() < 2 * tokens:
        run.talk.say("assistant", f"{len(run.talk.l1)}. {LONG}")
    run.talk.say("user", "Go on.")
    return run


@pytest.mark.parametrize(
    ("asked", "ran", "notes"),
    [
        (["watermark", "watermark"], ["watermark"], 1),
        (["messages", "watermark"], ["messages"], 1),
        (["watermark", "command", "command"], ["watermark"], 2),
        (["watermark", "watermark", "overflow"], ["watermark", "overflow"], 1),
        (["watermark", "topic"], ["watermark", "topic"], 0),
    ],
)
async def test_a_pass_that_waited_runs_only_if_it_still_has_something_to_do(
    asked: list[Trigger], ran: list[str], notes: int
) -> None:
    run = full()
    await asyncio.gather(*map(run.memory.run_pass, asked))
    assert run.triggers == ran
    assert len(run.notices) == notes
    assert all("no second one" in notice for notice in run.notices)


async def test_a_second_watermark_pass_runs_if_the_first_made_too_little_room() -> None:
    run = full()
    first = asyncio.ensure_future(run.memory.run_pass("watermark"))
    await asyncio.sleep(0)
    for number in range(8):
        run.talk.say("assistant", f"{number}. {LONG}")
    await asyncio.gather(first, run.memory.run_pass("watermark"))
    assert run.triggers == ["watermark", "watermark"]


async def test_much_that_is_protected_is_told_once_with_what_makes_it_less() -> None:
    run = Working(1600)
    run.talk.say("user", "Describe the parser.", is_task=True)
    sizes = [2, 5, 3]
    for size in sizes:
        assert run.notices == []
        rule = run.talk.say("user", "Never round a sum in that column. " * 5 * size, standing=True)
        await run.memory.make_room()
    (notice,) = run.notices
    held = run.talk.l1.protected_tokens()
    assert f"hold {held} tokens, {100 * held // 1600} % of the budget of 1600" in notice
    ways = [notice.index(f"/unpin {number}") for number in (3, 4, 2)]
    assert ways == sorted(ways)
    await run.memory.make_room()
    assert len(run.notices) == 1
    run.talk.l1.demote(rule.iri)
    await run.memory.make_room()
    run.talk.l1.pin(run.talk.say("user", "Go on.").iri, run.talk.now, budget=100_000)
    await run.memory.make_room()
    assert len(run.notices) == 1
    run.talk.say("user", "And never leave it empty, please. " * 15, is_supplement=True)
    await run.memory.make_room()
    assert len(run.notices) == 2
