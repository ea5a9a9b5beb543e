"""Case P7: time-outs that count progress, and cancelling."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from gh_tui.errors import StreamInterrupted
from gh_tui.net.client import Limits
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import Opened, Retrying, TextDelta
from gh_tui.providers.scripted import Reply, ScriptedServer
from tests.providers.talk import HELLO, hear, listen, provider_for, serving


async def test_p7_a_slow_prefill_is_no_failure() -> None:
    limits = Limits(first_byte=2.0, idle=0.1)
    for reply in (Reply(text="a b c", delay=0.3), Reply(text="a b c", first_delay=0.3)):
        assert (await hear(reply, limits=limits)).whole.text == "a b c"


async def test_p7_the_headers_are_told_before_the_content() -> None:
    async with (
        serving(Reply(text="late", first_delay=0.3)) as (_, provider),
        aclosing(provider.stream(HELLO, [])) as stream,
    ):
        loop = asyncio.get_running_loop()
        start = loop.time()
        assert await anext(stream) == Opened(tuple(HELLO))
        assert loop.time() - start < 0.2
        assert await anext(stream) == TextDelta("late")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(delay=30),
        Reply(first_delay=30),
        Reply(first_delay=30, keep_alive=0.02),
        Reply(events=[{"choices": []}] * 500, chunk_delay=0.02),
    ],
)
async def test_p7_no_first_content_in_time_is_a_time_out(reply: Reply) -> None:
    heard = await hear([reply] * 3, limits=Limits(first_byte=0.2, idle=9.0))
    assert heard.failure.kind == "timeout"
    assert "first_byte_seconds" in str(heard.failure)
    assert not heard.retries


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="a b c", ending="stall"),
        Reply(text="a b c", ending="stall", keep_alive=0.02),
        Reply(
            events=[{"choices": [{"delta": {"content": "a b c"}}]}, *[{"choices": []}] * 500],
            chunk_delay=0.02,
        ),
    ],
)
async def test_p7_silence_in_the_middle_is_an_interruption(reply: Reply) -> None:
    heard = await hear(reply, limits=Limits(first_byte=9.0, idle=0.2))
    assert isinstance(heard.failure, StreamInterrupted)
    assert heard.text == "a b c"


async def test_p7_a_slow_but_steady_answer_may_take_longer_than_any_limit() -> None:
    reply = Reply(chunks=list("abcdefghij"), chunk_delay=0.05)
    heard = await hear(reply, limits=Limits(first_byte=0.3, idle=0.3))
    assert heard.whole.text == "abcdefghij"


CASES = {
    "before the headers": Reply(delay=30),
    "during the prefill": Reply(first_delay=30),
    "with keep-alives": Reply(first_delay=30, keep_alive=0.02),
    "in the middle": Reply(text="a b c", ending="stall"),
    "while text comes": Reply(chunks=["x"] * 5000, chunk_delay=0.005),
    "in the wait before a retry": Reply(status=429, headers={"Retry-After": "30"}),
}


@pytest.mark.parametrize("case", CASES)
async def test_p7_cancelling_takes_effect_at_once_and_frees_the_server(case: str) -> None:
    async with ScriptedServer([CASES[case]]) as server:
        await _cancel_in_the_middle(server)
        (request,) = server.requests
        if case != "in the wait before a retry":
            assert request.closed is not None


async def _cancel_in_the_middle(server: ScriptedServer) -> None:
    loop = asyncio.get_running_loop()
    provider = provider_for(server, retry=RetryPolicy(cap=60.0))
    task = asyncio.create_task(listen(provider))
    await asyncio.sleep(0.25)
    assert not task.done()
    start = loop.time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.time() - start < 0.2
    await asyncio.sleep(0.15)
    await provider.aclose()


async def test_leaving_the_loop_closes_the_connection() -> None:
    reply = Reply(chunks=["x"] * 5000, chunk_delay=0.005)
    async with serving([reply, Reply(text="next")]) as (server, provider):
        async with aclosing(provider.stream(HELLO, [])) as stream:
            async for delta in stream:
                if isinstance(delta, TextDelta):
                    break
        await asyncio.sleep(0.1)
        assert server.requests[0].closed is not None
        assert (await listen(provider)).whole.text == "next"


async def test_a_retry_is_told_before_its_wait() -> None:
    script = [Reply(status=503, headers={"Retry-After": "0.3"}), Reply(text="fine")]
    async with (
        serving(script, retry=RetryPolicy()) as (_, provider),
        aclosing(provider.stream(HELLO, [])) as stream,
    ):
        loop = asyncio.get_running_loop()
        start = loop.time()
        told: Any = await anext(stream)
        assert isinstance(told, Retrying)
        assert loop.time() - start < 0.2
        await anext(stream)
        assert loop.time() - start >= 0.3


async def test_a_finished_answer_leaves_its_connection_for_the_next() -> None:
    async with serving([Reply(text="a"), Reply(text="b")]) as (server, provider):
        for _ in range(2):
            await listen(provider)
    assert server.requests[0].port == server.requests[1].port
