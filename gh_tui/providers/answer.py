"""Reading the body of a 2xx answer: a stream of events, one JSON document, or neither."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError
from gh_tui.net.client import Limits, Patience, chunks
from gh_tui.net.sse import ServerEvent, SseDecoder
from gh_tui.providers.base import Opened
from gh_tui.providers.failures import from_error_object, not_a_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator

    import httpx

    from gh_tui.providers.assemble import ReplyAssembler
    from gh_tui.providers.base import Delta

_DOCUMENT_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_EVENT_STARTS = (b"data", b"event", b"id", b"retry", b"error", b":")
_DRAIN_SECONDS = 0.1
"""After `[DONE]`: enough to see the end of the body, so that the connection can be reused."""


async def read_answer(
    response: httpx.Response, patience: Patience, limits: Limits, reply: ReplyAssembler
) -> AsyncGenerator[Delta, None]:
    """Yield what the body adds to `reply`, beginning with `Opened`.

    Returns at the end of the body; whether the answer is whole is for `reply` to say.

    Raises:
        ProviderError: the body is no answer, or holds an error.
        StreamInterrupted: the connection broke or fell silent.
    """
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    declared = content_type == "text/event-stream"
    if declared:
        yield Opened()
    async with aclosing(chunks(response, patience)) as body:
        head = await _head(body)
        start = head.lstrip()
        if not declared:
            if not start.startswith((b"{", *_EVENT_STARTS)):
                raise not_a_stream(content_type, head)
            yield Opened()
        if start.startswith((b"{", b"[", b"<")):
            document = await _rest(head, body)
            for delta in _document(content_type, document, reply):
                yield delta
            return
        async with aclosing(_events(head, body, patience, limits, reply)) as deltas:
            async for delta in deltas:
                yield delta


async def _events(
    head: bytes,
    body: AsyncGenerator[bytes, None],
    patience: Patience,
    limits: Limits,
    reply: ReplyAssembler,
) -> AsyncGenerator[Delta, None]:
    decoder = SseDecoder()
    chunk: bytes | None = head
    while chunk is not None:
        for delta in _deltas(decoder.feed(chunk), patience, limits, reply):
            yield delta
        if reply.closed:
            patience.end(_DRAIN_SECONDS)
            async for _ in body:
                pass
            return
        chunk = await anext(body, None)
    if rest := decoder.finish():
        for delta in _deltas([rest], patience, limits, reply, torn=True):
            yield delta


async def _head(body: AsyncGenerator[bytes, None]) -> bytes:
    """The first bytes, enough to tell a stream from a document; without a byte order mark."""
    head = b""
    async for chunk in body:
        head += chunk
        if len(head.removeprefix(_BOM).strip()) >= len(b"event"):
            break
    return head.removeprefix(_BOM)


async def _rest(head: bytes, body: AsyncGenerator[bytes, None]) -> bytes:
    document = bytearray(head)
    async for chunk in body:
        document += chunk
        if len(document) > _DOCUMENT_BYTES:
            break
    return bytes(document)


def _document(content_type: str, body: bytes, reply: ReplyAssembler) -> list[Delta]:
    """The deltas of an answer that is one JSON document: a whole `chat.completion`."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise not_a_stream(content_type, body) from None
    if not isinstance(value, dict):
        raise not_a_stream(content_type, body)
    deltas: list[Delta] = [*reply.take(value)]
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise not_a_stream(content_type, body)
    reply.done()
    return deltas


def _deltas(
    events: Iterable[ServerEvent],
    patience: Patience,
    limits: Limits,
    reply: ReplyAssembler,
    *,
    torn: bool = False,
) -> Iterator[Delta]:
    """What `events` add; `torn` says that they may have been cut by the end of the stream."""
    for event in events:
        if reply.closed:
            return
        before = reply.pieces
        yield from _event(event, reply, torn=torn)
        if reply.complete:
            patience.end(limits.grace)
        elif reply.pieces > before:
            patience.progress()


def _event(event: ServerEvent, reply: ReplyAssembler, *, torn: bool) -> Iterable[Delta]:
    data = event.data.strip()
    if data == "[DONE]":
        reply.done()
        return ()
    value = _parsed(data)
    if event.error:
        raise from_error_object(_error_of(_parsed(event.error) or event.error))
    if event.name == "error" and not (torn and value is None):
        raise from_error_object(_error_of(value or data))
    if value is None and data.startswith("{") and not torn:
        raise ProviderError(
            f"the server sent an event that is not valid JSON: {data[:200]}", kind="protocol"
        )
    return reply.take(value)


def _error_of(value: Any) -> Any:
    return value.get("error") or value if isinstance(value, dict) else value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
