"""One request to a scripted server, and all that came back."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError
from gh_tui.net.client import Limits
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import (
    Completed,
    Delta,
    Message,
    Opened,
    ReasoningDelta,
    Retrying,
    TextDelta,
    ToolSpec,
)
from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.scripted import Reply, Script, ScriptedServer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

KEY = "sk-secret-0123456789"
HELLO = (Message("system", "Be brief."), Message("user", "Hello"))
TOOLS = (ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {}}}),)
QUICK = RetryPolicy(attempts=3, base=0.01, cap=0.05)


@dataclass(slots=True)
class Heard:
    """What a stream yielded, and how it ended."""

    deltas: list[Delta] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, ReasoningDelta))

    @property
    def completed(self) -> Completed | None:
        found = [delta for delta in self.deltas if isinstance(delta, Completed)]
        assert len(found) <= 1
        return found[0] if found else None

    @property
    def whole(self) -> Completed:
        assert self.error is None, self.error
        assert self.completed is not None
        assert self.deltas[-1] is self.completed
        return self.completed

    @property
    def failure(self) -> ProviderError:
        assert self.completed is None
        assert self.error is not None
        return self.error

    @property
    def retries(self) -> list[Retrying]:
        return [delta for delta in self.deltas if isinstance(delta, Retrying)]

    @property
    def opened(self) -> int:
        return sum(isinstance(delta, Opened) for delta in self.deltas)


def provider_for(server: ScriptedServer, **options: Any) -> OpenAIProvider:
    options.setdefault("retry", QUICK)
    options.setdefault("limits", Limits(first_byte=5.0, idle=5.0, grace=0.2))
    return OpenAIProvider(server.base_url, "scripted", **options)


async def listen(
    provider: OpenAIProvider, messages: Sequence[Message] = HELLO, **options: Any
) -> Heard:
    heard = Heard()
    try:
        async with aclosing(provider.stream(messages, TOOLS, **options)) as stream:
            async for delta in stream:
                heard.deltas.append(delta)
    except ProviderError as error:
        heard.error = error
    return heard


@asynccontextmanager
async def serving(
    script: Script | Reply, *, server: dict[str, Any] | None = None, **options: Any
) -> AsyncGenerator[tuple[ScriptedServer, OpenAIProvider], None]:
    script = [script] if isinstance(script, Reply) else script
    async with ScriptedServer(script, **(server or {})) as running:
        provider = provider_for(running, **options)
        try:
            yield running, provider
        finally:
            await provider.aclose()


async def hear(script: Script | Reply, **options: Any) -> Heard:
    async with serving(script, **options) as (_, provider):
        return await listen(provider)
