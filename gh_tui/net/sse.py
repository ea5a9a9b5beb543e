"""Server-sent events, decoded from bytes as they come.

The rules are those of the HTML standard, section "Server-sent events": a line ends with LF, CR
or CRLF and with nothing else (U+2028 is text), a blank line ends an event, a leading byte order
mark and comment lines are dropped. One addition: model servers write a field named `error`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gh_tui.errors import ProviderError

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; `name` is empty when the server gave none."""

    data: str
    name: str = ""
    id: str = ""
    retry: int | None = None
    """Milliseconds, if the server wrote a whole number."""
    error: str = ""
    """The value of a field named `error`."""


@dataclass(slots=True)
class _Draft:
    """The fields of an event whose blank line has not come yet."""

    data: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    name: str = ""
    retry: int | None = None

    def set(self, name: str, value: str) -> None:
        match name:
            case "data":
                self.data.append(value)
            case "error":
                self.errors.append(value)
            case "event":
                self.name = value
            case "retry" if value.isascii() and value.isdigit():
                self.retry = int(value[:9])


class SseDecoder:
    """Turns byte chunks, split anywhere, into events.

    An event is complete at its blank line. Servers that close without one are common, so
    `finish` gives what is left; the caller must check that it is whole.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._size = 0
        self._line: list[bytes] = []
        self._after_cr = False
        self._first_line = True
        self._draft = _Draft()
        self._id = ""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes.

        Raises:
            ProviderError: of kind `protocol` when one event exceeds the size limit.
        """
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        self._size += len(chunk)
        head, *rest = _LINE_END.split(chunk)
        self._line.append(head)
        events: list[ServerEvent] = []
        for part in rest:
            event = self._end_line()
            if event:
                events.append(event)
            self._line.append(part)
        if self._size > self._limit:
            raise ProviderError(
                f"the server sent one event of more than {self._limit} bytes", kind="protocol"
            )
        return events

    def finish(self) -> ServerEvent | None:
        """What stood there when the stream ended without a blank line, perhaps cut short."""
        return self._end_line() or self._dispatch()

    def _end_line(self) -> ServerEvent | None:
        line = b"".join(self._line)
        self._line.clear()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            self._size = 0
            return self._dispatch()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self._id = value
        else:
            self._draft.set(name, value)
        return None

    def _dispatch(self) -> ServerEvent | None:
        draft, self._draft = self._draft, _Draft()
        if not draft.data and not draft.errors:
            return None
        return ServerEvent(
            data="\n".join(draft.data),
            name=draft.name,
            id=self._id,
            retry=draft.retry,
            error="\n".join(draft.errors),
        )
