"""From settings to a provider that is ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gh_tui.errors import SettingsError
from gh_tui.net.client import Limits
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import ChatProvider
from gh_tui.providers.local.machine import local_missing
from gh_tui.providers.local.provider import LocalProvider
from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.registry import Choice, Wanted, choose
from gh_tui.providers.schema import SchemaProvider

if TYPE_CHECKING:
    from gh_tui.providers.scripted.server import ScriptedServer
    from gh_tui.settings.model import Settings


@dataclass(slots=True)
class Opened:
    """A provider, why it was chosen, and the server that was started for it, if any."""

    name: str
    """The provider's name in settings."""
    provider: ChatProvider
    reason: str
    server: ScriptedServer | None = None

    async def aclose(self) -> None:
        """Close the provider, then its server."""
        await self.provider.aclose()
        if self.server is not None:
            await self.server.__aexit__(None, None, None)


async def open_provider(settings: Settings, environ: Mapping[str, str]) -> Opened:
    """Choose by settings, environment and machine, and build what was chosen.

    Raises:
        ProviderUnavailable: nothing can answer; the text says what to do.
        SettingsError: a setting has an impossible value.
    """
    wanted = settings.provider
    choice = await choose(
        Wanted(wanted.name, wanted.base_url, wanted.model, wanted.api_key_env),
        environ,
        local_missing=lambda: local_missing(wanted.model_path),
    )
    if choice.name == "local":
        return Opened(choice.name, LocalProvider(model_path=wanted.model_path), choice.reason)
    if choice.name == "scripted":
        return await _open_scripted(settings, choice)
    return Opened(choice.name, _openai(settings, choice), choice.reason)


async def _open_scripted(settings: Settings, choice: Choice) -> Opened:
    from gh_tui.providers.scripted.script import load_script
    from gh_tui.providers.scripted.server import ScriptedServer

    if settings.provider.script is None:
        raise SettingsError("provider scripted needs a script: --script FILE")
    script = load_script(settings.provider.script)
    server = ScriptedServer(
        script.replies, model=script.model, window=script.window, repeat=script.repeat
    )
    await server.__aenter__()
    address = Choice("scripted", script.model, choice.reason, base_url=server.base_url)
    return Opened(choice.name, _openai(settings, address), choice.reason, server)


def _openai(settings: Settings, choice: Choice) -> ChatProvider:
    wanted = settings.provider
    provider = OpenAIProvider(
        choice.base_url or "",
        choice.model,
        key=choice.key,
        key_hint=choice.key_hint or f"the environment variable {wanted.api_key_env}",
        window=settings.context.window,
        limits=Limits(first_byte=wanted.first_byte_seconds, idle=wanted.idle_seconds),
        retry=RetryPolicy(attempts=1 + wanted.retries),
        alternating_roles=wanted.alternating_roles,
        send_reasoning=wanted.send_reasoning,
    )
    return SchemaProvider(provider) if wanted.tool_protocol == "schema" else provider
