"""How large a model's context window is: what the server says, or a careful guess."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import httpx

from gh_tui.net.address import is_loopback

if TYPE_CHECKING:
    from gh_tui.providers.base import WindowSource

ASK_SECONDS = 2.0
DEFAULT_WINDOW = 8192
LOCAL_WINDOW = 4096
"""Servers on this machine often run with far less than the model could take."""

_ENTRY_KEYS = ("context_length", "max_model_len", "context_window", "max_context_length")
_META_KEYS = ("n_ctx", "n_ctx_train")
_NOT_CHAT = re.compile(r"embed|rerank|whisper|tts|bge|minilm|clip|moderation|dall-e", re.I)

_GUESSES = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5", 400_000),
    (r"gpt-4o|gpt-4-turbo|chatgpt", 128_000),
    (r"(^|/)o[134](-|$)", 200_000),
    (r"claude", 200_000),
    (r"gemini", 1_048_576),
    (r"deepseek|llama-?3\.[123]|llama-?4|mistral-(large|small|medium)|kimi|glm-4", 128_000),
    (r"qwen|mistral|mixtral", 32_768),
    (r"gpt-3\.5", 16_385),
)


async def ask_window(
    client: httpx.AsyncClient, base_url: httpx.URL, model: str, headers: dict[str, str]
) -> int | None:
    """The window in tokens as the server states it, or None within two seconds.

    llama.cpp's `/props` counts per slot and goes before the model's own limits in `/models`.
    """
    try:
        async with asyncio.timeout(ASK_SECONDS):
            entry = find_model(await get_json(client, child(base_url, "models"), headers), model)
            if is_loopback(base_url.host) or entry.get("owned_by") == "llamacpp":
                props = await get_json(client, base_url.copy_with(path="/props"), headers)
                if found := _from_props(props):
                    return found
    except TimeoutError:
        return None
    return _from_entry(entry)


def guess_window(base_url: httpx.URL, model: str) -> int:
    """A window in tokens by the model's name; small for a server on this machine."""
    if is_loopback(base_url.host):
        return LOCAL_WINDOW
    for pattern, tokens in _GUESSES:
        if re.search(pattern, model, re.IGNORECASE):
            return tokens
    return DEFAULT_WINDOW


async def find_window(
    client: httpx.AsyncClient, base_url: httpx.URL, model: str, headers: dict[str, str]
) -> tuple[int, WindowSource]:
    """What the server says, else a guess."""
    asked = await ask_window(client, base_url, model, headers)
    return (asked, "server") if asked else (guess_window(base_url, model), "guessed")


async def get_json(client: httpx.AsyncClient, url: httpx.URL, headers: dict[str, str]) -> Any:
    """The JSON at `url`, or None for anything that goes wrong; redirects are not followed."""
    try:
        response = await client.get(url, headers=headers)
        return response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError, RecursionError):
        return None


def child(base_url: httpx.URL, name: str) -> httpx.URL:
    """The address of `name` under the base address; a query stays."""
    return base_url.copy_with(path=f"{base_url.path.rstrip('/')}/{name}")


def chat_models(listing: Any) -> list[str]:
    """The ids in an answer of `/models` that look like chat models, in the server's order."""
    ids = [entry.get("id") for entry in _entries(listing)]
    return [name for name in ids if isinstance(name, str) and name and not _NOT_CHAT.search(name)]


def find_model(listing: Any, model: str) -> dict[str, Any]:
    """The entry of `model`, or the only entry there is, or an empty one."""
    entries = _entries(listing)
    for entry in entries:
        if entry.get("id") == model:
            return entry
    return entries[0] if len(entries) == 1 else {}


def _entries(listing: Any) -> list[dict[str, Any]]:
    data = listing.get("data") if isinstance(listing, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _from_props(props: Any) -> int | None:
    if not isinstance(props, dict):
        return None
    settings = props.get("default_generation_settings")
    inner = settings.get("n_ctx") if isinstance(settings, dict) else None
    return _tokens(inner) or _tokens(props.get("n_ctx"))


def _from_entry(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    stated = [entry.get(key) for key in _ENTRY_KEYS] + [meta.get(key) for key in _META_KEYS]
    return next((tokens for value in stated if (tokens := _tokens(value))), None)


def _tokens(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value > 0 else None
