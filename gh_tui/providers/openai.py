"""Chat completions as OpenAI defined them and as many servers speak them."""

from __future__ import annotations

import asyncio
import json
import random
import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx

from gh_tui.clock import Clock, SystemClock
from gh_tui.errors import ProviderError, SettingsError, StreamInterrupted
from gh_tui.events.redact import LEAST_SECRET
from gh_tui.net.address import normalise_base_url, shown
from gh_tui.net.client import Limits, Patience, exchange, make_client, read_body
from gh_tui.net.retry import RetryPolicy, is_transient, retry_after
from gh_tui.providers.answer import read_answer
from gh_tui.providers.assemble import ReplyAssembler
from gh_tui.providers.base import Opened, Retrying
from gh_tui.providers.failures import from_response
from gh_tui.providers.quirks import Quirks
from gh_tui.providers.windows import child, find_window
from gh_tui.providers.wire import (
    has_adjacent_users,
    to_openai,
    tools_to_openai,
    validate_order,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from gh_tui.providers.base import Delta, Message, ToolProtocol, ToolSpec, WindowSource

_ERROR_BYTES = 64 * 1024


class OpenAIProvider:
    """One model behind an OpenAI-compatible address.

    Args:
        base_url: as `normalise_base_url` accepts it.
        model: the model's name on that server.
        key: sent to the host of `base_url` and nowhere else; None sends none.
        key_hint: what the user has to check when the key is refused.
        window: the window in tokens, if the user set it.
        limits: time-outs.
        retry: how often to try before the first content.
        alternating_roles: join adjacent user messages from the start.
        send_reasoning: give the reasoning of earlier replies back to the server.
        sampling: further fields of each request that this server understands.
        clock: what a date in Retry-After is measured against.

    Raises:
        SettingsError: the address or the key cannot be used.
    """

    name = "openai"

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        key_hint: str = "the environment variable OPENAI_API_KEY",
        window: int | None = None,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        alternating_roles: bool = False,
        send_reasoning: bool = False,
        sampling: Mapping[str, float] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._base_url = normalise_base_url(base_url)
        self._model = model
        self._key = _checked_key(key, key_hint)
        self._key_hint = key_hint
        self._window = window
        self._asked: tuple[int, WindowSource] | None = None
        self._limits = limits or Limits()
        self._retry = retry or RetryPolicy()
        self._send_reasoning = send_reasoning
        self._sampling = dict(sampling or {})
        self._clock = clock or SystemClock()
        self._quirks = Quirks(alternating_roles=alternating_roles)
        self._client: httpx.AsyncClient | None = None

    @property
    def model(self) -> str:
        """The model's name on the server."""
        return self._model

    @property
    def tool_protocol(self) -> ToolProtocol:
        """Natively; `SchemaProvider` is for models that cannot."""
        return "native"

    @property
    def base_url(self) -> str:
        """The address in use, as it may be shown."""
        return shown(self._base_url)

    async def window(self) -> tuple[int, WindowSource]:
        """The setting, else what the server says within 2 s, else a guess by the model's name."""
        if self._window is not None:
            return self._window, "configured"
        if self._asked is None:
            client, headers = self._opened_client(), self._headers()
            found = await find_window(client, self._base_url, self._model, headers)
            if found[1] == "guessed":
                return found
            self._asked = found
        return self._asked

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Send one request and yield its reply; see `ChatProvider.stream`."""
        validate_order(messages)
        options = _options(tools, max_tokens, temperature, schema)
        failures = 0
        while True:
            reply = ReplyAssembler(keep_reasoning=self._send_reasoning)
            body = self._body(messages, options)
            try:
                async with aclosing(self._attempt(body, reply)) as attempt:
                    async for delta in attempt:
                        yield self._as_sent(messages) if isinstance(delta, Opened) else delta
                return
            except ProviderError as error:
                self._hide_key(error)
                if reply.pieces:
                    raise
                if self._quirks.learn(error, body, adjacent=has_adjacent_users(messages)):
                    continue
                failures += 1
                if not is_transient(error) or failures >= self._retry.attempts:
                    raise
                delay = self._retry.delay(failures, error.retry_after, random.random())  # noqa: S311
                retrying = Retrying(kind=error.kind, message=str(error), delay_seconds=delay)
            yield retrying
            await asyncio.sleep(delay)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _opened_client(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = make_client(self._base_url, self._limits.transport)
        return self._client

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._key}"} if self._key else {}

    def _body(self, messages: Sequence[Message], options: dict[str, Any]) -> dict[str, Any]:
        wire = to_openai(
            messages,
            alternating=self._quirks.alternating_roles,
            with_blocks=self._send_reasoning,
        )
        return self._quirks.apply(
            {"model": self._model, "messages": wire, **self._sampling, **options}
        )

    def _as_sent(self, messages: Sequence[Message]) -> Opened:
        return Opened(tuple(messages), joined=self._quirks.alternating_roles)

    async def _attempt(
        self, body: dict[str, Any], reply: ReplyAssembler
    ) -> AsyncGenerator[Delta, None]:
        patience = Patience(self._limits)
        client = self._opened_client()
        request = client.build_request(
            "POST",
            child(self._base_url, "chat/completions"),
            content=json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
            headers={
                **self._headers(),
                "content-type": "application/json",
                "accept": "text/event-stream, application/json",
                # A compressing proxy would hold the stream back.
                "accept-encoding": "identity",
            },
        )
        async with exchange(client, request, patience) as response:
            if response.status_code >= 400:
                raise await self._refused(response, patience)
            async with aclosing(read_answer(response, patience, self._limits, reply)) as deltas:
                try:
                    async for delta in deltas:
                        yield delta
                except StreamInterrupted:
                    # After the marker the reply is whole, whatever becomes of the connection.
                    if not reply.complete:
                        raise
        if not reply.complete:
            raise StreamInterrupted(
                "the answer ended without its end marker; the text so far is kept, no tool was run"
            )
        yield reply.result()

    async def _refused(self, response: httpx.Response, patience: Patience) -> ProviderError:
        body = await read_body(response, patience, _ERROR_BYTES)
        if len(self._key) >= LEAST_SECRET:
            body = body.replace(self._key.encode(), b"[key]")
        return from_response(
            response.status_code,
            body,
            where=shown(response.request.url),
            key_hint=self._key_hint,
            retry_after=retry_after(response.headers, self._clock.now()),
        )

    def _hide_key(self, error: ProviderError) -> None:
        """Servers like to quote the key that they refuse."""
        if len(self._key) >= LEAST_SECRET:
            error.args = tuple(str(arg).replace(self._key, "[key]") for arg in error.args)


def _options(
    tools: Sequence[ToolSpec],
    max_tokens: int | None,
    temperature: float | None,
    schema: dict[str, Any] | None,
) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if tools:
        options["tools"] = tools_to_openai(tools)
    if max_tokens is not None:
        options["max_tokens"] = max_tokens
    if temperature is not None:
        options["temperature"] = temperature
    if schema is not None:
        options["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema},
        }
    return options


def _checked_key(key: str | None, hint: str) -> str:
    """The key without surrounding space; empty for none."""
    stripped = (key or "").strip()
    if not re.fullmatch(r"[!-~]*", stripped):
        raise SettingsError(
            f"the key has characters that cannot be sent (spaces, line breaks or letters outside "
            f"ASCII); check {hint}"
        )
    return stripped
