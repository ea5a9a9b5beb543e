"""The provider `local`: the model in its own process, spoken to like any other server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import httpx

from gh_tui.errors import ProviderError, ProviderUnavailable, StreamInterrupted
from gh_tui.net.retry import RetryPolicy
from gh_tui.providers.base import Message, TextDelta
from gh_tui.providers.local.assembly import (
    DEFAULT_MODEL,
    ensure_model,
    models_folder,
)
from gh_tui.providers.local.machine import check_gguf, check_runtime
from gh_tui.providers.local.process import ModelProcess, start_process
from gh_tui.providers.openai import OpenAIProvider
from gh_tui.providers.schema import SchemaProvider, encode_messages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from gh_tui.providers.base import Delta, ToolProtocol, ToolSpec, WindowSource

WINDOW: Final = 4096
"""Tokens."""
MAX_ANSWER: Final = 1024
"""Tokens; a small model at temperature 0 may repeat itself until something stops it."""
_LEAST_ANSWER: Final = 128
_CRASH_SECONDS: Final = 1.0
_CONTROL_TOKEN: Final = re.compile(r"<\|(?=\w+\|>)")
SAMPLING: Final = {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 6}
"""Against endless repetition: a run of more than six tokens that came before gets dearer."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the start of the model is.

    `done` and `total` are bytes while `assembling` (0 of 0 while another process does it), and 0
    otherwise. `reading` is the system prompt's turn: a request may be sent before it is done.
    """

    stage: Literal["assembling", "loading", "reading", "ready"]
    done: int = 0
    total: int = 0

    @property
    def words(self) -> str:
        """It in words; the same ones for a while."""
        match self.stage:
            case "assembling" if self.total:
                done, size = 10 * (10 * self.done // self.total), self.total / 1e9
                return f"putting the model together, once: {done} % of {size:.1f} GB"
            case "assembling":
                return "waiting for another window to put the model together"
            case "loading":
                return "loading the model"
            case "reading":
                return "the model reads its instructions"
            case "ready":
                return "the model is ready"


class LocalProvider:
    """A GGUF model in a child process on this machine.

    The process starts with `warm_up` or the first request, and again after a crash.

    Args:
        model_path: a GGUF file; None is the model of the extra `local`.
    """

    name = "local"

    def __init__(self, *, model_path: Path | None = None) -> None:
        self._model_path = model_path
        self._folder = models_folder()
        self._process: ModelProcess | None = None
        self._chat: OpenAIProvider | None = None
        self._starting: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[Progress], None]] = []
        self._stop = threading.Event()

    @property
    def model(self) -> str:
        """The model's own name, or that of the user's file."""
        return self._model_path.stem if self._model_path else DEFAULT_MODEL.title

    @property
    def tool_protocol(self) -> ToolProtocol:
        """Small models do not call tools natively."""
        return "schema"

    @property
    def process(self) -> ModelProcess | None:
        """The process that holds the model, if it was started."""
        return self._process

    async def window(self) -> tuple[int, WindowSource]:
        """What the process is started with."""
        return WINDOW, "server"

    async def warm_up(
        self,
        progress: Callable[[Progress], None] | None = None,
        prefix: Sequence[Message] = (),
    ) -> None:
        """Assemble and load the model, and let it read `prefix`, before the first request.

        Args:
            progress: hears of each stage, in the event loop's thread.
            prefix: the messages that every request will begin with: the system prompt.

        Raises:
            ProviderUnavailable: something is missing; the text has the command that mends it.
        """
        listener = progress or (lambda _: None)
        self._listeners.append(listener)
        try:
            chat, _ = await self._ready()
            if prefix:
                self._tell(Progress("reading"))
                await self._read(chat, prefix)
            self._tell(Progress("ready"))
        finally:
            self._listeners.remove(listener)

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """As `ChatProvider.stream`; waits for the model, temperature 0 unless told otherwise.

        Raises:
            ProviderError: of kind `overflow` before anything is sent, if the request does not
                fit the window with room for an answer; of kind `unavailable` if the process
                died, which the next request starts again.
        """
        chat, process = await self._ready()
        sent = [_without_control_tokens(message) for message in messages]
        await _check_room(process, encode_messages(sent))
        stream = SchemaProvider(chat).stream(
            sent,
            tools,
            max_tokens=max_tokens or MAX_ANSWER,
            temperature=temperature or 0.0,
            schema=schema,
        )
        begun = False
        try:
            async with contextlib.aclosing(stream):
                async for delta in stream:
                    begun = begun or isinstance(delta, TextDelta)
                    yield delta
        except ProviderError as error:
            raise await _explain(error, process, begun=begun) from error

    async def aclose(self) -> None:
        """Stop the process and whatever is being assembled; may be called twice."""
        self._stop.set()
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        await self._drop()

    async def _ready(self) -> tuple[OpenAIProvider, ModelProcess]:
        """The running model; starts it if need be, once for all who wait."""
        while self._chat is None or self._process is None or not self._process.alive:
            if self._starting is None:
                self._stop.clear()
                self._starting = asyncio.create_task(self._start())
                self._starting.add_done_callback(self._started)
            # One who waits may give up without taking the model from the others.
            await asyncio.shield(self._starting)
        return self._chat, self._process

    def _started(self, task: asyncio.Task[None]) -> None:
        if self._starting is task:
            self._starting = None
        if not task.cancelled():
            # Known to those who wait; if nobody does any more, it is not an error of the loop.
            task.exception()

    async def _start(self) -> None:
        await self._drop()
        path = await asyncio.to_thread(self._find_model, asyncio.get_running_loop())
        self._tell(Progress("loading"))
        # One core is left to the app.
        threads = max(1, (os.cpu_count() or 2) - 1)
        process = await start_process(path, window=WINDOW, threads=threads)
        self._process = process
        self._chat = OpenAIProvider(
            f"{process.url}/v1",
            self.model,
            key=process.token,
            key_hint="nothing: the program makes it",
            window=WINDOW,
            retry=RetryPolicy(attempts=1),
            sampling=SAMPLING,
        )

    def _find_model(self, loop: asyncio.AbstractEventLoop) -> Path:
        check_runtime()
        if self._model_path is not None:
            check_gguf(self._model_path)
            return self._model_path.absolute()

        def step(done: int, total: int) -> None:
            if self._stop.is_set():
                raise ProviderUnavailable("the local model was not assembled: the program ended")
            loop.call_soon_threadsafe(self._tell, Progress("assembling", done, total))

        return ensure_model(DEFAULT_MODEL, self._folder, step)

    def _tell(self, progress: Progress) -> None:
        for listener in tuple(self._listeners):
            listener(progress)

    async def _drop(self) -> None:
        chat, self._chat = self._chat, None
        process, self._process = self._process, None
        if chat is not None:
            await chat.aclose()
        if process is not None:
            await process.stop()

    async def _read(self, chat: OpenAIProvider, prefix: Sequence[Message]) -> None:
        """Have `prefix` in the server's prompt cache; a failure only costs the time it saves."""
        wire = encode_messages([*prefix, Message("user", ".")])
        with contextlib.suppress(ProviderError):
            stream = chat.stream(wire, (), max_tokens=1, temperature=0.0)
            async with contextlib.aclosing(stream):
                async for _ in stream:
                    pass


async def _check_room(process: ModelProcess, messages: Sequence[Message]) -> None:
    tokens = await _count(process, messages)
    room = WINDOW - _LEAST_ANSWER
    if tokens is not None and tokens > room:
        raise ProviderError(
            f"the request has {tokens} tokens, and the local model takes at most {room} "
            f"(a window of {WINDOW} less room for the answer); shorten the input or use /compact",
            kind="overflow",
        )


async def _count(process: ModelProcess, messages: Sequence[Message]) -> int | None:
    """The exact tokens of a request; None if the server does not say: it will judge itself."""
    wire = [{"role": message.role, "content": message.text} for message in messages]
    headers = {"authorization": f"Bearer {process.token}"}
    try:
        async with httpx.AsyncClient(
            base_url=process.url, headers=headers, trust_env=False, timeout=5.0
        ) as client:
            prompt = await client.post("/apply-template", json={"messages": wire})
            body = {"content": prompt.json()["prompt"], "parse_special": True}
            tokens = await client.post("/tokenize", json=body)
            return len(tokens.json()["tokens"])
    except (httpx.HTTPError, ValueError, KeyError):
        return None


async def _explain(error: ProviderError, process: ModelProcess, *, begun: bool) -> ProviderError:
    """Say that the process died, if that is why the connection broke."""
    if error.kind not in ("network", "interrupted"):
        return error
    try:
        async with asyncio.timeout(_CRASH_SECONDS):
            how = await process.ended()
    except TimeoutError:
        return error
    words = f"{how}; the next message starts it again"
    if begun:
        return StreamInterrupted(f"{words}. The text so far is kept")
    return ProviderUnavailable(words)


def _without_control_tokens(message: Message) -> Message:
    """Foreign text must not end its message and begin another in the model's own notation."""
    if message.role == "system":
        return message
    return replace(message, text=_CONTROL_TOKEN.sub("< |", message.text))
