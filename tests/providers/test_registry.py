from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from gh_tui.errors import ProviderUnavailable, SettingsError
from gh_tui.providers.registry import Choice, LoopbackServer, Wanted, choose
from gh_tui.providers.scripted import ScriptedServer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY = "sk-secret-0123456789"
MISSING = ("the package xllamacpp is missing: pip install xllamacpp",)


def closed_port() -> LoopbackServer:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return LoopbackServer("Nobody", f"http://127.0.0.1:{free.getsockname()[1]}/v1")


async def decide(
    wanted: Wanted | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    servers: Sequence[LoopbackServer] = (),
    missing: Sequence[str] = (),
) -> Choice:
    return await choose(
        wanted or Wanted(), environ or {}, local_missing=lambda: missing, servers=servers
    )


async def test_the_order_settings_key_server_local() -> None:
    async with ScriptedServer([], model="horse") as server:
        here = [closed_port(), LoopbackServer("Ollama", server.base_url)]
        key = {"OPENAI_API_KEY": KEY}
        wanted = Wanted(base_url="https://models.example.com", model="m")

        choice = await decide(wanted, key, servers=here)
        assert choice.base_url == "https://models.example.com/v1"
        assert (choice.model, choice.key) == ("m", KEY)
        assert choice.reason == "provider.base_url is set"

        choice = await decide(None, key, servers=here)
        assert choice.base_url == "https://api.openai.com/v1"
        assert choice.reason == "OPENAI_API_KEY is set"

        choice = await decide(None, {"OPENAI_API_KEY": " "}, servers=here)
        assert (choice.base_url, choice.model) == (server.base_url, "horse")
        assert choice.reason.startswith("Ollama answers at http://127.0.0.1:")
        assert choice.key is None

        choice = await decide(servers=[closed_port()])
        assert (choice.name, choice.base_url) == ("local", None)


async def test_only_the_configured_server_is_asked_with_the_key() -> None:
    async with ScriptedServer([], model="horse") as server:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
        choice = await decide(None, environ)
        assert (choice.model, choice.key) == ("horse", KEY)
        other = {"OTHER_KEY": KEY}
        await decide(None, other, servers=[LoopbackServer("Ollama", server.base_url)])
    configured, probed = server.lookups
    assert configured.headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in probed.headers
    assert configured.path == probed.path == "/v1/models"


@pytest.mark.parametrize(
    ("head", "body", "words"),
    [
        ("401 Unauthorized", '{"error": {"message": "bad key"}}', "refused the key (HTTP 401)"),
        ("403 Forbidden", "", "OPENAI_API_KEY"),
        ("404 Not Found", "", "HTTP 404"),
        ("500 Oops", '{"error": "out of order"}', "HTTP 500: out of order"),
        ("200 OK\r\ncontent-type: text/html", "<p>hi</p>", "text/html"),
        ("302 Found\r\nlocation: http://other.example/v1/models", "", "redirects to"),
        ("200 OK\r\ncontent-type: application/json", '{"data": []}', "no chat model"),
    ],
)
async def test_what_a_server_says_instead_of_its_models_is_told(
    head: str, body: str, words: str
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {head}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ProviderUnavailable) as caught:
            await decide(
                Wanted(base_url=f"http://127.0.0.1:{port}/v1"), {"OPENAI_API_KEY": KEY + "x"}
            )
    text = str(caught.value)
    assert words in text
    assert ("set provider.model" in text) is not head.startswith(("401", "403"))
    assert KEY not in text


async def test_the_key_is_not_in_the_repr() -> None:
    choice = await decide(None, {"OPENAI_API_KEY": KEY})
    assert choice.key == KEY
    assert KEY not in repr(choice)


async def test_a_key_by_another_name_is_named_in_the_hint() -> None:
    wanted = Wanted(base_url="https://models.example.com", model="m", key_env="MY_KEY")
    choice = await decide(wanted, {"MY_KEY": KEY, "OPENAI_API_KEY": "other"})
    assert choice.key == KEY
    assert "MY_KEY" in choice.key_hint


async def test_a_server_without_the_wanted_model_is_passed_over() -> None:
    async with ScriptedServer([], model="a") as one, ScriptedServer([], model="b") as two:
        here = [LoopbackServer("One", one.base_url), LoopbackServer("Two", two.base_url)]
        assert (await decide(Wanted(model="b"), servers=here)).base_url == two.base_url
        assert (await decide(Wanted(model="c"), servers=here)).name == "local"
        embedder = [LoopbackServer("One", one.base_url)]
        one._model = "nomic-embed-text"
        assert (await decide(servers=embedder)).name == "local"


async def test_a_port_that_never_answers_costs_a_second_at_most() -> None:
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silence, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    loop = asyncio.get_running_loop()
    start = loop.time()
    choice = await decide(servers=[LoopbackServer(str(n), url) for n in range(5)])
    assert choice.name == "local"
    assert loop.time() - start < 2.0
    server.close()
    await asyncio.sleep(0.02)


async def test_nothing_at_all_lists_what_helps() -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        await decide(servers=[closed_port()], missing=MISSING)
    text = str(caught.value)
    for words in ("export OPENAI_API_KEY=", "ollama serve", "Nobody", "gliding-horse-tui[local]"):
        assert words in text
    assert MISSING[0] in text


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(name="openai"), "export OPENAI_API_KEY="),
        (Wanted(name="local"), MISSING[0]),
        (Wanted(base_url="http://127.0.0.1:9/v1"), "start the server"),
    ],
)
async def test_what_was_asked_for_and_cannot_be_is_not_replaced(wanted: Wanted, words: str) -> None:
    async with ScriptedServer([], model="horse") as server:
        here = [LoopbackServer("Ollama", server.base_url)]
        with pytest.raises(ProviderUnavailable) as caught:
            await decide(wanted, servers=here, missing=MISSING)
    assert words in str(caught.value)


async def test_an_unknown_provider_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="openai, local, scripted"):
        await decide(Wanted(name="horse"))


async def test_a_named_provider_needs_no_probe() -> None:
    async with ScriptedServer([]) as server:
        here = [LoopbackServer("Ollama", server.base_url)]
        assert (await decide(Wanted(name="scripted"), servers=here)).name == "scripted"
        assert (await decide(Wanted(name="local", model="x"), servers=here)).model == "x"
    assert not server.lookups
