"""How the parts of an agent hang together."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from gh_tui.agent.wiring import INDEX_SECONDS, Agent, Surroundings, build_agent
from gh_tui.clock import ManualClock
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.state import SessionState
from gh_tui.memory.index import Index
from gh_tui.memory.turn import iri_for, new_turn
from gh_tui.providers.select import open_provider
from gh_tui.runtime import Mind
from gh_tui.settings.load import load_settings
from tests.harness import live
from tests.memory.recordings import Recording, found

INTERVAL = 7


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def index(tmp_path: Path, clock: ManualClock) -> Iterator[Index]:
    opened = Index(tmp_path, clock)
    yield opened
    opened.close()


@pytest.fixture
async def agent(
    tmp_path: Path, clock: ManualClock, index: Index, mind: Mind
) -> AsyncIterator[Agent]:
    flags = [
        "provider.name=openai",
        "provider.base_url=http://127.0.0.1:9/v1",
        "provider.model=scripted",
        f"coherence.interval_seconds={INTERVAL}",
    ]
    settings = load_settings(None, {}, flags)
    opened = await open_provider(settings, {})
    bus, state = EventBus("live", clock, None), SessionState()
    around = Surroundings(
        bus, clock, settings, tmp_path, mind.embedding, mind.supervisor, index, state, False
    )
    built = build_agent(around, opened.provider, 8192, "guessed")
    yield built
    await built.engine.close()
    await opened.aclose()


async def test_coherence_is_looked_at_every_so_many_seconds_of_the_setting(
    agent: Agent, clock: ManualClock
) -> None:
    await agent.batch.run_due()
    for number in (1, 2):
        iri = iri_for("live", number)
        agent.l1.add(new_turn(iri, "user", "Plan the garden.", created_at=clock.monotonic()))
        clock.advance(INTERVAL - 0.1)
        assert await agent.batch.run_due() == ()
        clock.advance(0.1)
        assert await agent.batch.run_due() == ("topic_coherence_agent",)


async def test_other_sessions_are_taken_in_when_the_session_begins(
    agent: Agent, clock: ManualClock, index: Index, tmp_path: Path
) -> None:
    talk = Recording(tmp_path, "old")
    first = talk.say("The recipe wants saffron.")
    assert await agent.batch.run_due() == ("index",)
    assert found(index, "saffron") == [first]
    later = talk.say("The oven wants cleaning.")
    clock.advance(INDEX_SECONDS - 1)
    assert await agent.batch.run_due() == ()
    clock.advance(1)
    assert await agent.batch.run_due() == ("index",)
    assert found(index, "cleaning")[0] == later


async def test_tool_schemas_count_as_they_are_sent(tmp_path: Path, mind: Mind) -> None:
    """A server that counts as the estimate does teaches it nothing, however short the talk."""

    def exact(body: dict[str, Any], _number: int) -> dict[str, Any]:
        texts = [message.get("content") or "" for message in body["messages"]]
        texts.append(json.dumps(body["tools"], ensure_ascii=False, separators=(",", ":")))
        tokens = sum(4 + len(text.encode()) // 4 for text in texts)
        return {"text": "ok", "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}

    async with live(exact, tmp_path, mind) as run:
        for text in ("Describe the orders database", "Go on", "And then?"):
            await run.session.submit(text)
            await run.session.wait_idle()
        assert run.events(ev.RequestSent)[-1].tokens_basis == "confirmed"
        assert run.session.state.token_factor == pytest.approx(1.0, abs=0.06)


async def test_the_schema_protocol_sends_nothing_beside_the_messages(
    tmp_path: Path, mind: Mind
) -> None:
    flags = ["provider.tool_protocol=schema", "context.window=8192", "context.reserve=1000"]
    async with live([{"text": "ok"}], tmp_path, mind, settings=flags, window=8192) as run:
        await run.session.submit("Describe the orders database")
        await run.session.wait_idle()
        assert "tools" not in run.server.requests[-1].body
        assert run.events(ev.RequestSent)[0].budget == 8192 - 1000
