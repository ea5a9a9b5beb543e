"""The scripted server: HTTP/1.1 by hand, so that every fault of a real one can be made."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self

from gh_tui.providers.scripted.manners import count_usage, order_fault, prompt_text, tokens_of
from gh_tui.providers.scripted.render import document_of, events_of, pieces
from gh_tui.providers.scripted.script import Reply, Script, as_reply

if TYPE_CHECKING:
    from types import TracebackType

_CREATED = 1_767_225_600
_MAX_BODY = 64 * 1024 * 1024


@dataclass(slots=True)
class RecordedRequest:
    """A request as it arrived; times are on the loop's clock, in seconds."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    """Parsed JSON, or None."""
    arrived: float
    port: int
    """The client's; the same for all requests of one connection."""
    closed: float | None = None
    """When the client hung up before the answer was complete."""
    status: int | None = None
    """Of the answer, once its headers were sent."""


class ScriptedServer:
    """Answers chat requests from a script; use it as an async context manager.

    Messages in an invalid order are refused with status 400.

    Args:
        script: replies in turn, or a function of the request.
        model: the only model that it lists.
        window: the context window it states, in tokens; None states none.
        port: 0 takes a free one.
        repeat: begin again at the end of the script.
        alternating: refuse adjacent user messages, as some chat templates do.
        enforce_window: refuse prompts that do not fit the window.

    Attributes:
        requests: the chat requests, in order of arrival.
        lookups: all others (`/models`, `/props`, unknown paths).
    """

    def __init__(
        self,
        script: Script,
        *,
        model: str = "scripted",
        window: int | None = 32_768,
        port: int = 0,
        repeat: bool = False,
        alternating: bool = False,
        enforce_window: bool = False,
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self.lookups: list[RecordedRequest] = []
        self._script = script
        self._model = model
        self._window = window
        self._port = port
        self._repeat = repeat
        self._alternating = alternating
        self._enforce_window = enforce_window
        self._served = 0
        self._previous = ""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """The address of its API, ending in `/v1`."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def start(self) -> None:
        """Listen on this machine only."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        """Stop listening and drop every connection.

        Raises:
            Exception: what a script written as a function raised.
        """
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Keep only what failed, for `aclose` to raise."""
        if task.cancelled() or task.exception() is None:
            self._connections.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carry = b""
        port: int = writer.get_extra_info("peername")[1]
        try:
            while (request := await _receive(reader, carry, port)) is not None:
                kept, carry = await self._serve(request, reader, writer)
                if not kept:
                    break
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[bool, bytes]:
        """Answer while watching for the client to hang up.

        Returns:
            Whether the connection stays, and what already came of the next request.
        """
        answering = asyncio.ensure_future(self._answer(request, writer))
        watching = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and (watching.exception() or not watching.result()):
                request.closed = asyncio.get_running_loop().time()
                return False, b""
            kept = await answering
            return kept, watching.result() if watching.done() else b""
        finally:
            for task in (answering, watching):
                task.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)

    async def _answer(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> bool:
        path = request.path.partition("?")[0].rstrip("/")
        if request.method == "POST" and path.endswith("/chat/completions"):
            self.requests.append(request)
            reply = await self._reply(request.body)
        else:
            self.lookups.append(request)
            reply = self._lookup(path)
        return await self._send(reply, request, writer)

    async def _reply(self, body: Any) -> Reply:
        if not isinstance(body, dict):
            return _refusal("the body is not a JSON object")
        if fault := order_fault(body.get("messages"), alternating=self._alternating):
            return _refusal(fault)
        if self._enforce_window and self._window is not None:
            tokens = tokens_of(prompt_text(body))
            if tokens > self._window:
                return _refusal(
                    f"the prompt has {tokens} tokens; the maximum context length is {self._window}",
                    "context_length_exceeded",
                )
        number = self._served
        self._served += 1
        if callable(self._script):
            made = self._script(body, number)
            return as_reply(await made if inspect.isawaitable(made) else made)
        if self._repeat and self._script:
            number %= len(self._script)
        if number >= len(self._script):
            return _refusal(f"the script has only {len(self._script)} replies")
        return as_reply(self._script[number], f"reply {number + 1}")

    def _lookup(self, path: str) -> Reply:
        value: dict[str, Any]
        if path.endswith("/models"):
            entry: dict[str, Any] = {"id": self._model, "object": "model", "owned_by": "scripted"}
            if self._window is not None:
                entry["meta"] = {"n_ctx": self._window}
            value = {"object": "list", "data": [entry]}
        elif path == "/props" and self._window is not None:
            value = {"default_generation_settings": {"n_ctx": self._window}}
        else:
            return Reply(status=404, error={"message": f"there is nothing at {path}"})
        return Reply(body=json.dumps(value), content_type="application/json")

    async def _send(
        self, reply: Reply, request: RecordedRequest, writer: asyncio.StreamWriter
    ) -> bool:
        """Write the response; False if the connection must not be used again."""
        parts, content_type = self._body(reply, request.body)
        await asyncio.sleep(reply.delay)
        headers = {
            "content-type": reply.content_type or content_type,
            "transfer-encoding": "chunked",
            **reply.headers,
        }
        head = f"HTTP/1.1 {reply.status} {_phrase(reply.status)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"{head}\r\n".encode("latin-1"))
        request.status = reply.status
        await writer.drain()
        await _wait(reply.first_delay, reply.keep_alive, writer)
        for number, part in enumerate(parts):
            if number:
                await _wait(reply.chunk_delay, reply.keep_alive, writer)
            for piece in pieces(part, reply.split or len(part) or 1):
                await _write(writer, piece)
        return await _end(reply, writer)

    def _body(self, reply: Reply, request: Any) -> tuple[list[bytes], str]:
        if reply.body is not None:
            raw = (
                reply.body
                if isinstance(reply.body, bytes)
                else reply.body.encode("utf-8", "replace")
            )
            return [raw], "text/event-stream"
        if reply.status != HTTPStatus.OK:
            return [json.dumps({"error": reply.error}).encode()], "application/json"
        answer = reply.reasoning + reply.text + json.dumps([dict(call) for call in reply.calls])
        usage = dict(reply.usage or count_usage(request, self._previous, answer))
        self._previous = prompt_text(request)
        base = {"id": f"chatcmpl-{self._served}", "created": _CREATED, "model": self._model}
        if not reply.stream:
            return [document_of(reply, base, usage)], "application/json"
        asked = (request.get("stream_options") or {}).get("include_usage")
        base["object"] = "chat.completion.chunk"
        return events_of(reply, base, usage if asked else None), "text/event-stream"


async def _receive(reader: asyncio.StreamReader, carry: bytes, port: int) -> RecordedRequest | None:
    """The next request, or None if the client is gone."""
    try:
        head = carry + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = min(int(headers.get("content-length", 0)), _MAX_BODY)
    raw = await reader.readexactly(length)
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    arrived = asyncio.get_running_loop().time()
    return RecordedRequest(method, path, headers, body, arrived, port)


async def _write(writer: asyncio.StreamWriter, piece: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
    await writer.drain()
    # The pieces should reach the client one by one.
    await asyncio.sleep(0)


async def _wait(seconds: float, keep_alive: float, writer: asyncio.StreamWriter) -> None:
    """Wait, perhaps writing comments meanwhile."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while keep_alive and end - loop.time() > keep_alive:
        await asyncio.sleep(keep_alive)
        await _write(writer, b": keep-alive\n\n")
    if seconds:
        await asyncio.sleep(max(end - loop.time(), 0.0))


async def _end(reply: Reply, writer: asyncio.StreamWriter) -> bool:
    match reply.ending:
        case "cut":
            return False
        case "reset":
            # A reset discards what the client has not read yet.
            await asyncio.sleep(0.02)
            raw: socket.socket = writer.get_extra_info("socket")
            # Lingering for 0 s makes the system send a reset.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        case "stall":
            while True:
                await _wait(3600.0, reply.keep_alive, writer)
        case _:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True


def _refusal(message: str, code: str | None = None) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "code": code}
    return Reply(status=400, error=error)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
