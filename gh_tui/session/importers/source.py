"""Bounded reading of foreign JSON: lines one by one, or one document."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from gh_tui.errors import RecordingError

MAX_DOCUMENT: Final = 64 * 1024 * 1024
"""Bytes of a file that has to be parsed as a whole."""
MAX_LINE: Final = 16 * 1024 * 1024
"""Bytes of one line; a longer one is skipped."""
MAX_DEPTH: Final = 64
"""Objects and lists inside one another."""
_HEAD: Final = 100


class MalformedError(ValueError):
    """Text that is not JSON, or not within the bounds."""


def parse(raw: bytes | str) -> Any:
    """Parse one JSON value; a number beyond all bounds, or not a number, is None.

    Raises:
        MalformedError: not JSON, or nested deeper than `MAX_DEPTH`.
    """
    try:
        value = json.loads(raw, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise MalformedError(f"nested deeper than {MAX_DEPTH}") from None
    except ValueError as error:
        raise MalformedError(f"not JSON: {error}") from error
    layer = [value]
    for _ in range(MAX_DEPTH + 1):
        layer = [inner for outer in layer for inner in _inside(outer)]
        if not layer:
            return value
    raise MalformedError(f"nested deeper than {MAX_DEPTH}")


def _inside(value: Any) -> list[Any]:
    """The containers directly inside a container."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, dict | list)]


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


@dataclass(slots=True)
class Source:
    """A foreign file; `head` holds what its kind is told from."""

    path: Path
    head: list[Any] = field(default_factory=list)
    """The first objects of a file of lines, or the one document."""
    in_lines: bool = False
    skipped: int = 0
    """Lines of the latest reading that were damaged, too long or too deep."""

    def __iter__(self) -> Iterator[Any]:
        """The lines' values in order, lazily; unreadable lines are skipped and counted."""
        self.skipped = 0
        with _open(self.path) as stream:
            for line in _lines(stream):
                try:
                    if line is None:
                        raise MalformedError(f"longer than {MAX_LINE} bytes")
                    value = parse(line)
                except MalformedError:
                    self.skipped += 1
                else:
                    yield value


def open_source(path: Path) -> Source:
    """Look at the beginning of a file and tell lines from a document.

    Raises:
        RecordingError: not a readable file, too large, or not JSON.
    """
    if not path.is_file():
        raise RecordingError(f"{path} is not a file that can be read")
    with _open(path) as stream:
        lines = _lines(stream)
        first, second = next(lines, b""), next(lines, b"")
        if first == b"":
            raise RecordingError(f"{path} is empty")
    if second != b"" and (first is None or _is_value(first)):
        return _open_lines(path)
    try:
        return Source(path, [_document(path)])
    except MalformedError as error:
        if second == b"" or first is None or first in (b"[", b"{"):
            raise RecordingError(f"{path} cannot be imported: {error}") from error
    return _open_lines(path)


def require_small(source: Source) -> None:
    """Refuse a file that is too large to be held as a whole.

    Raises:
        RecordingError: it is larger than `MAX_DOCUMENT`.
    """
    if source.path.stat().st_size > MAX_DOCUMENT:
        raise RecordingError(
            f"{source.path} has more than {MAX_DOCUMENT} bytes: split it and import a part"
        )


def _open_lines(path: Path) -> Source:
    source = Source(path, in_lines=True)
    for number, value in enumerate(source):
        if isinstance(value, dict):
            source.head.append(value)
        if number == _HEAD:
            break
    if not source.head:
        raise RecordingError(f"{path} holds no JSON object that can be read")
    return source


def _document(path: Path) -> Any:
    with _open(path) as stream:
        raw = stream.read(MAX_DOCUMENT + 1)
    if len(raw) > MAX_DOCUMENT:
        raise MalformedError(f"one JSON document of more than {MAX_DOCUMENT} bytes")
    return parse(raw)


def _is_value(line: bytes) -> bool:
    try:
        parse(line)
    except MalformedError:
        return False
    return True


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines that are not blank; None for one that is too long."""
    while line := stream.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            if content := line.strip():
                yield content
            continue
        while (rest := stream.readline(1 << 20)) and not rest.endswith(b"\n"):
            pass
        yield None
