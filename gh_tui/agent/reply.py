"""One reply: the provider's deltas become events; what came is kept however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict
from datetime import timedelta
from typing import Literal

from gh_tui.clock import Clock, timestamp
from gh_tui.errors import ProviderError, StreamInterrupted
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.providers.base import Completed, Delta, Opened, ReasoningDelta, Retrying, TextDelta

PROGRESS_SECONDS = 1.0
"""How often the reply so far is recorded."""


class ReplyReader:
    """Reads the reply of one request and publishes it."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        request: int,
        on_opened: Callable[[Opened], Awaitable[None]],
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._request = request
        self._on_opened = on_opened
        self._started = clock.monotonic()
        self._progress_at = self._started
        self._asked = self._started
        """When the attempt began that is being answered."""
        self._first_ms: int | None = None
        self._chunks: list[tuple[int, int]] = []
        self._ended = False
        self.text = ""
        self.reasoning = ""

    async def read(self, deltas: AsyncGenerator[Delta, None]) -> Completed:
        """Publish the reply as it streams; returns the whole of a complete one.

        Raises:
            ProviderError: the request failed; what came was published as interrupted.
            asyncio.CancelledError: cancelled; what came was published as cancelled.
        """
        try:
            async with aclosing(deltas):
                async for delta in deltas:
                    if isinstance(delta, Completed):
                        await self._finish("complete", delta)
                        return delta
                    await self._take(delta)
            raise StreamInterrupted("the reply ended without its end mark")
        except ProviderError:
            await self._finish("interrupted", None)
            raise
        except asyncio.CancelledError:
            if not self._ended:
                await self._finish("cancelled", None)
            raise

    async def _take(self, delta: Delta) -> None:
        match delta:
            case Opened():
                await self._on_opened(delta)
            case Retrying():
                retry_at = self._clock.now() + timedelta(seconds=delta.delay_seconds)
                self._asked = self._clock.monotonic() + delta.delay_seconds
                await self._bus.publish(
                    ev.ProviderFailed(
                        request=self._request,
                        kind=delta.kind,
                        message=delta.message,
                        retry_at=timestamp(retry_at),
                    )
                )
            case TextDelta():
                self.text += delta.text
                now = self._clock.monotonic()
                self._chunks.append((round((now - self._started) * 1000), len(delta.text)))
                await self._stream("text", delta.text)
            case ReasoningDelta():
                self.reasoning += delta.text
                await self._stream("reasoning", delta.text)
            case _:
                raise AssertionError(delta)

    async def _stream(self, kind: Literal["text", "reasoning"], text: str) -> None:
        self._bus.announce(ev.ReplyDelta(request=self._request, kind=kind, text=text))
        now = self._clock.monotonic()
        if self._first_ms is None:
            self._first_ms = max(0, round((now - self._asked) * 1000))
        if now - self._progress_at >= PROGRESS_SECONDS:
            self._progress_at = now
            await self._bus.publish(
                ev.ReplyProgress(request=self._request, text=self.text, reasoning=self.reasoning)
            )

    async def _finish(
        self, outcome: Literal["complete", "interrupted", "cancelled"], done: Completed | None
    ) -> None:
        self._ended = True
        usage = None
        if done is not None and done.usage is not None:
            usage = {k: v for k, v in asdict(done.usage).items() if v is not None}
        await self._bus.publish(
            ev.ReplyFinished(
                request=self._request,
                outcome=outcome,
                text=self.text if done is None else done.text,
                reasoning=self.reasoning if done is None else done.reasoning,
                usage=usage,
                chunks=tuple(self._chunks),
                first_ms=self._first_ms,
            )
        )
