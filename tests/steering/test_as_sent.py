"""What a receipt shows is what the server got."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gh_tui.events import types as ev
from gh_tui.providers.wire import NEXT_MESSAGE
from gh_tui.runtime import Mind
from gh_tui.session.player import Player
from gh_tui.tui.widgets.receipt_words import as_sent
from tests.harness import Live, live

LONG = "The north side of the house has three windows, and the south side has five of them. " * 4
OK = {"text": "ok"}


def shown(run: Live, name: str) -> tuple[str, str]:
    return as_sent(run.session.state.supplements[name])


def on_the_wire(run: Live, name: str) -> Any:
    """The message at the place that the receipt names, in the request that was accepted."""
    carrier = run.session.state.supplements[name].carrier
    assert carrier is not None
    assert carrier.place is not None
    accepted = [m for m in run.requests() if len(m) == carrier.messages]
    return accepted[-1][carrier.place - 1]["content"]


async def steer(run: Live, *texts: str) -> None:
    """Say texts while a task runs, and let it end."""
    before = len(run.events(ev.RequestSent))
    await run.session.submit("Describe the house")
    await run.until(lambda event: isinstance(event, ev.RequestSent) and event.request > before)
    for text in texts:
        await run.session.supplement(text)
    await asyncio.wait_for(run.session.wait_idle(), 10)


async def test_the_standing_block_above_it_is_part_of_what_is_shown(
    tmp_path: Path, mind: Mind
) -> None:
    def script(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {"text": f"{number}. {LONG}", "delay": 0.05}

    async with live(script, tmp_path, mind, settings=["context.budget=1800"]) as run:
        await run.session.submit("Describe the garden")
        await run.session.wait_idle()
        await run.session.submit("Never mention prices")
        await run.session.wait_idle()
        for side in ("west", "east", "south"):
            await run.session.submit(f"And what is on the {side} side?")
            await run.session.wait_idle()
        await steer(run, "only the north side")
        head, content = shown(run, "supplement-1")
        assert content == on_the_wire(run, "supplement-1")
        assert content.index("- Never mention prices") < content.index("only the north side")
        carrier = run.session.state.supplements["supplement-1"].carrier
        assert carrier is not None
        assert f"message {carrier.place} of {carrier.messages}, as sent" in head
        await run.session.close()
        assert run.session.recording is not None
        player = Player(run.session.recording)
    player.set_speed(64)
    replayed: list[tuple[str, str]] = []
    player.bus.subscribe(
        lambda e: (
            replayed.append((e.event.id, e.event.content or ""))
            if isinstance(e.event, ev.SupplementInjected)
            else None
        )
    )
    for _ in range(player.total):
        await player.step()
    assert replayed == [("supplement-1", content)]


@pytest.mark.parametrize("protocol", ["native", "schema"])
async def test_messages_that_were_joined_are_shown_joined(
    tmp_path: Path, mind: Mind, protocol: str
) -> None:
    ok: dict[str, Any] = OK if protocol == "native" else {"text": '{"thought": "", "answer": "ok"}'}
    # The first request with adjacent messages is refused, and sent again with them joined.
    replies: list[dict[str, Any]] = [{**ok, "delay": 0.1}, ok, ok, ok]
    settings = [f"provider.tool_protocol={protocol}"]
    async with live(replies, tmp_path, mind, settings=settings, alternating=True) as run:
        await steer(run, "names only", "and no pictures")
        for name in ("supplement-1", "supplement-2"):
            _, content = shown(run, name)
            assert content == on_the_wire(run, name)
            assert f"names only{NEXT_MESSAGE}" in content


async def test_an_ordinary_one_is_recorded_once(tmp_path: Path, mind: Mind) -> None:
    async with live([{**OK, "delay": 0.1}, OK], tmp_path, mind) as run:
        await steer(run, "names only", "and no pictures")
        carriers = run.events(ev.SupplementInjected)
        assert [event.content for event in carriers][:1] == [None]
        for name in ("supplement-1", "supplement-2"):
            assert shown(run, name)[1] == on_the_wire(run, name)


async def test_at_once_ends_a_pause(tmp_path: Path, mind: Mind) -> None:
    async with live([{**OK, "delay": 0.1}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe the house")
        await run.until(lambda event: isinstance(event, ev.RequestSent))
        await run.session.submit("/pause")
        await run.session.submit("/now names only")
        await asyncio.wait_for(run.session.wait_idle(), 5)
        assert not run.session.state.paused
        assert run.events(ev.AgentResumed)
        assert "names only" in run.texts()[-1]
