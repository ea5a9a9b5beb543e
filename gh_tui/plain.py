"""Sessions without a screen: events as lines on stdout, commands as JSON lines on stdin."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TextIO

from gh_tui.agent.engine import waits
from gh_tui.errors import GhError, RecordingError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import Subscription
from gh_tui.events.codec import to_wire
from gh_tui.events.envelope import Envelope
from gh_tui.runtime import Session
from gh_tui.text import visible

_UNSAFE = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_PIECE = 65_536
STATUS = {"done": 0, "failed": 1, "cancelled": 130, None: 0}


def json_line(value: Any) -> str:
    """One line of JSON in which nothing can act on a terminal.

    Characters that a terminal obeys or hides are escaped, which JSON reads alike.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str) -> None:
    """A message for people, on stderr."""
    print(visible(text), file=sys.stderr, flush=True)


async def run_plain(session: Session, task: str) -> int:
    """Run one task; the answer as text on stdout, the rest on stderr. The exit status."""
    talker = _Talker(sys.stdout)
    session.bus.subscribe(talker.show)
    async with _stopping(session) as stop:
        await session.start(say)
        await session.submit(task if not task.startswith("/") else "/" + task)
        await _until(stop, session.wait_idle())
        await session.close()
    return stop.status or STATUS[session.state.outcome]


async def run_json(session: Session, task: str | None) -> int:
    """Publish every event as a JSON line and obey commands on stdin. The exit status."""
    subscription = session.bus.open_subscription()
    writer = asyncio.create_task(_write_lines(subscription))
    async with _stopping(session) as stop:
        await session.start(say)
        if task is not None:
            await session.queue(task)
        await _until(stop, _obey_stdin(session))
        await _until(stop, session.wait_idle())
        if waiting := session.state.undelivered:
            say(waits(waiting, session.id))
        await session.close()
    subscription.close()
    await writer
    return stop.status or STATUS[session.state.outcome]


async def obey(session: Session, line: bytes) -> bool:
    """Carry out one command line; False if it asks to leave.

    Raises:
        GhError: it was not understood or not accepted; says why.
    """
    try:
        command = json.loads(line)
    except ValueError as error:
        raise UsageError(f"not JSON: {error}") from error
    if not isinstance(command, dict):
        raise UsageError('a command is an object such as {"type":"cancel"}')
    client_id = _id(line)
    attach = command.get("attach", False)
    if not isinstance(attach, bool):
        raise UsageError('"attach" is true (as an attachment) or false (whole if it fits)')
    match command:
        case {"type": "user_input", "text": str(text)} if text.strip() == "/exit":
            return False
        case {"type": "user_input", "text": str(text)} if text.startswith("//"):
            await session.queue(text[1:], client_id, attach=attach)
        case {"type": "user_input", "text": str(text)} if text.startswith("/"):
            if reply := await session.command(text, client_id, attach=attach):
                say(reply)
        case {"type": "user_input", "text": str(text)} if text.strip():
            await session.queue(text, client_id, attach=attach)
        case {"type": "supplementary_input", "text": str(text)} if text.strip():
            await session.supplement(text, client_id, attach=attach)
        case {"type": "cancel"}:
            await session.cancel()
        case {"type": "approval", "call": str(call), "decision": "allow" | "deny" as decision}:
            await session.approve(call, decision == "allow")
        case _:
            raise UsageError(
                "commands are user_input and supplementary_input (text), cancel, and approval "
                f"(call, decision allow or deny); not {line[:200].decode(errors='replace')}"
            )
    return True


class _Stop:
    """Whether and how the program was told to stop."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.status = 0

    def told(self, number: int) -> None:
        self.status = 128 + number
        self.event.set()


@contextlib.asynccontextmanager
async def _stopping(session: Session) -> AsyncIterator[_Stop]:
    stop = _Stop()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.told, number)
    try:
        yield stop
    finally:
        await session.close()


async def _until(stop: _Stop, work: Awaitable[None]) -> None:
    """Wait for `work`, or until told to stop."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.event.wait())
    await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not working.done():
        working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


async def _obey_stdin(session: Session) -> None:
    lines = _stdin_lines()
    while (line := await lines.get()) is not None:
        if not line.strip():
            continue
        try:
            if not await obey(session, line):
                await session.cancel()
                return
        except GhError as error:
            say(str(error))
            await _refuse(session, ev.Notice(level="error", text=str(error), client_id=_id(line)))


async def _refuse(session: Session, notice: ev.Notice) -> None:
    try:
        await session.bus.publish(notice)
    except RecordingError:  # that may be what it tells of
        session.bus.announce(notice)


def _id(line: bytes) -> str | None:
    """The id of a command line, if it has one."""
    try:
        command = json.loads(line)
    except ValueError:
        return None
    name = command.get("id") if isinstance(command, dict) else None
    return None if name is None else str(name)


def _stdin_lines() -> asyncio.Queue[bytes | None]:
    """Lines of stdin, then None; read in a thread that never keeps the program alive."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(line: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        # Not through sys.stdin: a thread that waits inside its lock aborts the interpreter's end.
        rest = b""
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(sys.stdin.fileno(), _PIECE):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    put(line)
        put(rest)
        put(None)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    return queue


async def _write_lines(subscription: Subscription) -> None:
    """Write each envelope as a line; a reader that went away ends the output, not the work."""
    async for envelope in subscription:
        line = json_line(to_wire(envelope))
        try:
            await asyncio.to_thread(_write, line)
        except OSError:
            subscription.close()
            return


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class _Talker:
    """The answer as it streams on stdout; what else happens, on stderr."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._streamed = False

    def show(self, envelope: Envelope) -> None:
        match envelope.event:
            case ev.ReplyDelta(kind="text", text=text):
                self._streamed = True
                self._out.write(visible(text))
                self._out.flush()
            case ev.ReplyFinished() if self._streamed:
                self._streamed = False
                self._out.write("\n")
                self._out.flush()
            case ev.ToolRequested(name=name, arguments=arguments):
                say(f"· {name} {json_line(arguments)[:200]}")
            case ev.ToolFinished(ok=False, name=name, error=error):
                say(f"· {name}: {error}")
            case ev.Notice(text=text):
                say(text)
            case ev.ProviderFailed(message=message, retry_at=str(at)):
                say(f"{message}; trying again at {at}")
            case ev.TaskFinished(outcome="failed", text=text):
                say(f"failed: {text}")
            case _:
                pass
