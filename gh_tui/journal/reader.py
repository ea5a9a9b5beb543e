"""Reading recordings: never stops at a bad line, never changes the file."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gh_tui.errors import RecordingError
from gh_tui.events.codec import DecodeError, NewerVersionError, from_line
from gh_tui.events.envelope import Envelope

MAX_LINE = 64 * 1024 * 1024
"""Bytes; a longer line is one unreadable record."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a recording."""

    number: int
    """Line number, from 1."""
    offset: int
    """Byte offset of its first byte."""
    line: bytes
    """Without its newline; empty if it was too long to be kept."""
    envelope: Envelope | None
    error: str | None
    """Why it could not be read."""


def read_records(path: Path, *, start: int = 0, kinds: Iterable[str] = ()) -> Iterator[Record]:
    """Yield each non-empty line of the recording.

    Args:
        path: the recording.
        start: the byte to begin at.
        kinds: names of events on the wire: only lines that may be one of these are decoded and
            yielded, which is many times as fast; none stands for all.

    A line of a newer format is one unreadable record; a file that has no other is refused.

    Raises:
        RecordingError: if the file cannot be opened, or needs a newer program.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or device may never end
            raise RecordingError(f"{path} is no regular file")
        stream = path.open("rb")
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
    names = b"|".join(re.escape(kind.encode()) for kind in kinds)
    wanted = re.compile(rb'"type": ?"(?:%s)"' % names if names else b"")
    format_of = _Format(path, known=start > 0)
    with stream:
        stream.seek(start)
        offset = start
        number = 0
        while line := stream.readline(MAX_LINE):
            number += 1
            begin = offset
            offset += len(line)
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                offset += _skip_line(stream)
                yield Record(number, begin, b"", None, f"longer than {MAX_LINE} bytes")
                continue
            content = line.strip(b" \t\r\n")
            if not content or not (format_of.asks or wanted.search(content)):
                continue
            record = format_of.read(number, begin, content)
            if wanted.search(content):
                yield record
        format_of.require_some()


class _Format:
    """Reads lines, and finds out whether the file is of a format that this program knows."""

    def __init__(self, path: Path, *, known: bool) -> None:
        self._path = path
        self._known = known
        self._newer: list[str] = []

    @property
    def asks(self) -> bool:
        """Whether that is not clear yet, so that every line has to be read."""
        return not self._known

    def read(self, number: int, offset: int, content: bytes) -> Record:
        """One line as a record.

        Raises:
            RecordingError: the file begins with several records of a newer format.
        """
        try:
            envelope = from_line(content)
        except NewerVersionError as error:
            if not self._known:
                self._newer.append(str(error))
                if len(self._newer) > 1:
                    self.require_some()
            return Record(number, offset, content, None, str(error))
        except DecodeError as error:
            return Record(number, offset, content, None, str(error))
        self._known = True
        return Record(number, offset, content, envelope, None)

    def require_some(self) -> None:
        """Check that the file has a record of a known format, unless it has none at all.

        Raises:
            RecordingError: it has only newer ones.
        """
        if self._newer and not self._known:
            raise RecordingError(f"{self._path}: {self._newer[0]}; update gh-tui to open it")


def _skip_line(stream: BinaryIO) -> int:
    skipped = 0
    while piece := stream.readline(1 << 20):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped
