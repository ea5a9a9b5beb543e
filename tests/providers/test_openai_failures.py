"""Cases P8 and P10, refusals, what is learned from them, and where the key goes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from gh_tui.errors import ProviderError, ProviderUnavailable, SettingsError
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import Message
from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.scripted import Reply, ScriptedServer
from tests.providers.talk import HELLO, KEY, TOOLS, hear, listen, serving

FINE = Reply(text="fine")


def refused(status: int, message: str, **error: Any) -> Reply:
    return Reply(status=status, error={"message": message, **error})


@pytest.mark.parametrize("status", [429, 503, 500, 502, 504, 529])
async def test_p8_a_passing_failure_is_tried_again_and_shown(status: int) -> None:
    async with serving([refused(status, "Come back later"), FINE]) as (server, provider):
        heard = await listen(provider)
    assert heard.whole.text == "fine"
    assert len(server.requests) == 2
    (retry,) = heard.retries
    assert "Come back later" in retry.message
    assert retry.kind == ("rate_limited" if status in (429, 529) else "http")


async def test_p8_a_rate_limit_that_mentions_billing_is_no_lack_of_money() -> None:
    words = "Rate limit reached. Add a payment method at https://host/account/billing."
    heard = await hear([refused(429, words, code="rate_limit_exceeded"), FINE])
    assert heard.whole.text == "fine"


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("0.1", 0.1, 0.125),
        ("99999999999", 0.2, 0.2),
        ("9" * 400, 0.2, 0.2),
        (format_datetime(datetime.now(UTC) + timedelta(days=9), usegmt=True), 0.2, 0.2),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0, 0.0),
        ("whenever", 0.01, 0.0125),
        ("-1", 0.01, 0.0125),
    ],
)
async def test_p8_retry_after_is_honoured_up_to_the_cap(
    value: str, least: float, most: float
) -> None:
    script = [Reply(status=429, headers={"Retry-After": value}, error="Slow down"), FINE]
    retry = RetryPolicy(attempts=2, base=0.01, cap=0.2)
    async with serving(script, retry=retry) as (server, provider):
        heard = await listen(provider)
    assert heard.whole.text == "fine"
    assert least <= heard.retries[0].delay_seconds <= most
    waited = server.requests[1].arrived - server.requests[0].arrived
    assert waited >= heard.retries[0].delay_seconds


async def test_p8_attempts_are_limited_and_the_last_words_stay() -> None:
    async with serving([refused(503, f"No {n}") for n in range(9)]) as (server, provider):
        heard = await listen(provider)
    assert len(server.requests) == 3
    assert "No 2" in str(heard.failure)
    assert heard.failure.status == 503


@pytest.mark.parametrize("ending", ["cut", "reset", "no_marker"])
async def test_p8_a_connection_lost_before_content_is_tried_again(ending: str) -> None:
    heard = await hear([{"ending": ending, "after": 1}, FINE])
    assert heard.whole.text == "fine"
    assert [retry.kind for retry in heard.retries] == ["interrupted"]
    assert heard.opened == 2


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (400, {"message": "Bad tool"}, "http", "Bad tool"),
        (401, {"message": "Who are you?"}, "refused", "Who are you?"),
        (403, {"message": "Not yours"}, "refused", "OPENAI_API_KEY"),
        (404, {"message": "no such model"}, "http", "provider.model"),
        (400, {"message": "x", "code": "context_length_exceeded"}, "overflow", "too long"),
        (400, {"message": "This model's maximum context length is 4096"}, "overflow", "4096"),
        (
            400,
            {
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
            },
            "overflow",
            "available context",
        ),
        (500, {"message": "prompt is too long: 9 tokens > 8"}, "overflow", "9 tokens"),
        (400, {"message": "No", "code": "content_filter"}, "refused", "No"),
        (429, {"message": "Pay", "code": "insufficient_quota"}, "refused", "Pay"),
        (418, "Short and stout", "http", "Short and stout"),
    ],
)
async def test_refusals_are_told_apart_and_not_repeated(
    status: int, error: Any, kind: str, words: str
) -> None:
    async with serving([Reply(status=status, error=error), FINE]) as (server, provider):
        heard = await listen(provider)
    assert (heard.failure.kind, heard.failure.status) == (kind, status)
    assert words in str(heard.failure)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"detail": [{"loc": ["body"], "msg": "field required"}]}', "field required"),
        ('{"message": "Unknown route"}', "Unknown route"),
        ('[{"error": {"message": "In a list"}}]', "In a list"),
        ("<html><style>b{}</style><b>Bad</b> gateway</html>", "Bad gateway"),
        ("plain words", "plain words"),
        ("", "HTTP 400"),
        ("x" * 100_000, "xxx…"),
    ],
)
async def test_the_servers_words_in_any_body(body: str, words: str) -> None:
    heard = await hear(Reply(status=400, body=body, content_type="text/plain"))
    assert words in str(heard.failure)
    assert "b{}" not in str(heard.failure)
    assert len(str(heard.failure)) < 1000


async def test_p10_a_redirect_takes_nothing_anywhere() -> None:
    async with ScriptedServer([FINE]) as other:
        target = f"{other.base_url}/chat/completions?token=abc"
        for status in (301, 302, 303, 307, 308):
            script = [Reply(status=status, headers={"Location": target})]
            async with serving(script, key=KEY) as (server, provider):
                heard = await listen(provider)
            assert heard.failure.status == status
            assert f"{other.base_url}/chat/completions" in str(heard.failure)
            assert "token" not in str(heard.failure)
            assert len(server.requests) == 1
    assert not other.requests
    assert not other.lookups


async def test_p10_lookups_follow_no_redirect_either() -> None:
    async with ScriptedServer([], window=9) as other, _redirecting(other.base_url) as base_url:
        provider = OpenAIProvider(base_url, "m", key=KEY)
        assert (await provider.window())[1] == "guessed"
        await provider.aclose()
    assert not other.lookups


@contextlib.asynccontextmanager
async def _redirecting(target: str) -> Any:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            f"HTTP/1.1 302 Found\r\nlocation: {target}/models\r\ncontent-length: 0\r\n"
            "connection: close\r\n\r\n".encode()
        )
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        await server.wait_closed()


async def test_the_key_goes_to_its_host_and_into_no_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    script = [
        refused(401, f"Incorrect API key provided: {KEY}."),
        Reply(events=[{"error": {"message": f"bad key {KEY}"}}]),
        Reply(body=f"<p>{KEY}</p>", content_type="text/html"),
    ]
    async with serving(script, key=f" {KEY}\n") as (server, provider):
        for _ in script:
            heard = await listen(provider)
            error = heard.failure
            shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
            assert KEY not in shown
            assert "[key]" in str(error)
        await provider.window()
        assert KEY not in repr(provider)
    assert KEY not in caplog.text
    for request in (*server.requests, *server.lookups):
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in json.dumps([request.path, request.body])


async def test_without_a_key_no_header_is_sent() -> None:
    async with serving([FINE], key="  ") as (server, provider):
        assert (await listen(provider)).whole.text == "fine"
    assert "authorization" not in server.requests[0].headers


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY") as caught:
        OpenAIProvider("http://127.0.0.1", "m", key="sk-geheim\nschlüssel")
    assert "geheim" not in str(caught.value)


async def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([FINE]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        assert (await hear([FINE])).whole.text == "fine"
        assert not proxy.requests


async def test_another_host_goes_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([FINE]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        provider = OpenAIProvider("http://models.example.com", "m")
        assert (await listen(provider)).whole.text == "fine"
        await provider.aclose()
    assert proxy.requests[0].path == "http://models.example.com/v1/chat/completions"


async def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks9://nowhere")
    heard = await listen(OpenAIProvider("https://models.example.com", "m"))
    assert "HTTPS_PROXY" in str(heard.failure)


async def test_nothing_listening_says_where_and_what_to_do() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    provider = OpenAIProvider(url, "m")
    heard = await listen(provider)
    assert isinstance(heard.failure, ProviderUnavailable)
    assert f"{url}/v1/chat/completions" in str(heard.failure)
    assert "start the server" in str(heard.failure)
    assert await provider.window() == (4096, "guessed")
    await provider.aclose()


def strict(fault: str, word: str, status: int = 400) -> Any:
    """A server that refuses requests that hold `word`."""

    def answer(request: dict[str, Any], _: int) -> Reply:
        return refused(status, fault) if word in request else FINE

    return answer


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0", "temperature"),
    ],
)
async def test_what_a_server_does_not_know_is_left_out_from_then_on(fault: str, word: str) -> None:
    async with serving(strict(fault, word)) as (server, provider):
        for _ in range(2):
            heard = await listen(provider, max_tokens=7, temperature=0.0)
            assert heard.whole.text == "fine"
            assert not heard.retries
    assert [word in request.body for request in server.requests] == [True, False, False]


async def test_what_is_left_out_does_not_loop() -> None:
    async with serving(lambda *_: refused(400, "stream_options and temperature")) as (
        server,
        provider,
    ):
        heard = await listen(provider, temperature=0.0)
    assert heard.failure.status == 400
    assert len(server.requests) == 3


async def test_alternating_roles_are_learned_once_and_joined_with_a_mark() -> None:
    messages = [
        Message("user", "first"),
        Message("user", "second"),
        Message("assistant", "yes"),
        Message("user", "third"),
    ]
    script = [FINE, FINE]
    async with serving(script, server={"alternating": True}) as (server, provider):
        for _ in script:
            assert (await listen(provider, messages)).whole.text == "fine"
    assert len(server.requests) == 3
    sent = server.requests[2].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"] == "first\n\n--- next message from the user ---\n\nsecond"


async def test_an_invalid_order_is_never_sent() -> None:
    async with serving([FINE]) as (server, provider):
        heard = await listen(provider, [Message("user", "a"), Message("assistant", "b")])
    assert heard.failure.kind == "protocol"
    assert not server.requests


async def test_the_request_holds_what_was_asked_for() -> None:
    async with serving([FINE], key=KEY) as (server, provider):
        await listen(provider, max_tokens=9, temperature=0.5, schema={"type": "object"})
    # A compressing proxy would hold the stream back.
    assert server.requests[0].headers["accept-encoding"] == "identity"
    body = server.requests[0].body
    assert body["model"] == "scripted"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["messages"][0] == {"role": "system", "content": HELLO[0].text}
    assert body["tools"][0]["function"]["name"] == TOOLS[0].name
    assert (body["max_tokens"], body["temperature"]) == (9, 0.5)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


async def test_an_error_is_one_of_the_tree() -> None:
    assert isinstance((await hear(refused(400, "no"))).failure, ProviderError)
