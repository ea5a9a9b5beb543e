"""Case P11 as far as this wire goes: the real window, and who says so."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.scripted import ScriptedServer
from gh_tui.providers.windows import chat_models, find_model, guess_window

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def pages(routes: dict[str, Any], *, silent: bool = False) -> AsyncGenerator[str, None]:
    """A server with fixed JSON pages."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        if silent:
            await reader.read()
        status = "200 OK" if path in routes else "404 Not Found"
        body = json.dumps(routes.get(path)).encode()
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        # The handlers see the client leave.
        await asyncio.sleep(0.02)


async def ask(base_url: str, **options: Any) -> tuple[int, str]:
    provider = OpenAIProvider(base_url, "m", **options)
    try:
        return await provider.window()
    finally:
        await provider.aclose()


def models(**entry: Any) -> dict[str, Any]:
    return {"data": [{"id": "other", "context_length": 7}, {"id": "m", **entry}]}


@pytest.mark.parametrize(
    ("routes", "window"),
    [
        ({"/v1/models": models(max_model_len=5000)}, 5000),
        ({"/v1/models": models(context_length=6000)}, 6000),
        ({"/v1/models": models(meta={"n_ctx_train": 9000})}, 9000),
        ({"/v1/models": models(meta={"n_ctx_train": 9000, "n_ctx": 3000})}, 3000),
        (
            {
                "/v1/models": models(meta={"n_ctx_train": 9000}),
                "/props": {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 4},
            },
            2048,
        ),
        ({"/props": {"n_ctx": 1024}}, 1024),
    ],
)
async def test_p11_the_server_says_what_really_holds(routes: Any, window: int) -> None:
    async with pages(routes) as base_url:
        assert await ask(base_url) == (window, "server")


@pytest.mark.parametrize(
    "routes",
    [
        {},
        {"/v1/models": models()},
        {"/v1/models": models(context_length="many", meta=[])},
        {"/v1/models": models(context_length=0)},
        {"/v1/models": models(context_length=True)},
        {"/v1/models": [1], "/props": [2]},
        {"/v1/models": {"data": [3, None]}, "/props": {"default_generation_settings": 4}},
    ],
)
async def test_a_server_that_does_not_say_is_guessed_small(routes: Any) -> None:
    async with pages(routes) as base_url:
        assert await ask(base_url) == (4096, "guessed")


async def test_the_setting_goes_first_and_asks_nobody() -> None:
    async with ScriptedServer([], window=9000) as server:
        assert await ask(server.base_url, window=1234) == (1234, "configured")
    assert not server.lookups


async def test_a_slow_server_is_not_waited_for() -> None:
    loop = asyncio.get_running_loop()
    async with pages({"/v1/models": models(context_length=6000)}, silent=True) as base_url:
        start = loop.time()
        assert (await ask(base_url))[1] == "guessed"
        assert loop.time() - start < 3.0


async def test_the_answer_is_asked_for_once() -> None:
    async with ScriptedServer([], window=9000) as server:
        provider = OpenAIProvider(server.base_url, "scripted")
        assert [await provider.window() for _ in range(2)] == [(9000, "server")] * 2
        await provider.aclose()
    assert [lookup.path for lookup in server.lookups] == ["/v1/models", "/props"]


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("o3-mini", 200_000),
        ("qwen2.5:7b", 32_768),
        ("something-new", 8192),
        ("solo3", 8192),
    ],
)
def test_guesses_by_name(model: str, window: int) -> None:
    assert guess_window(httpx.URL("https://api.example.com/v1"), model) == window


def test_which_models_can_chat() -> None:
    names = ["nomic-embed-text", "qwen2.5:7b", "bge-m3", "whisper-1", "", None, "llama3"]
    assert chat_models({"data": [{"id": name} for name in names]}) == ["qwen2.5:7b", "llama3"]
    assert chat_models(None) == chat_models({"data": "x"}) == []


def test_the_only_model_stands_for_any_name() -> None:
    assert find_model({"data": [{"id": "x"}]}, "m") == {"id": "x"}
    assert find_model({"data": [{"id": "x"}, {"id": "y"}]}, "m") == {}
