"""What the index wants from a recording: its turns with their places, vectors and title."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from gh_tui.embedding.vectors import unpack
from gh_tui.errors import EmbeddingError, RecordingError
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.values import Role
from gh_tui.journal.reader import read_records
from gh_tui.memory.lexicon import is_question
from gh_tui.memory.packed import pack_row
from gh_tui.memory.terms import words_of
from gh_tui.memory.turn import number_of

BATCH: Final = 200
"""Records of interest in one batch."""
_BATCH_BYTES: Final = 4 << 20
_MAX_DIM: Final = 8192
_TAIL: Final = 1 << 16
_MARKED: Final = 4096
"""Bytes before a place by which it is known again."""
_ECHOES: Final = frozenset({"recall", "search_memory"})


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """One turn of a recording."""

    iri: str
    offset: int
    """Byte offset of its record."""
    role: Role
    summary: str
    time: str
    words: tuple[str, ...]
    """Empty for a turn that is not to be found by search."""
    asks: bool


@dataclass(frozen=True, slots=True)
class FoundVector:
    """A turn's embedding, packed."""

    iri: str
    dim: int
    packed: bytes


@dataclass(slots=True)
class Batch:
    """What a stretch of a recording holds, from byte `start` to byte `end`."""

    start: int
    end: int
    turns: list[FoundTurn] = field(default_factory=list)
    vectors: list[FoundVector] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    """IRIs of the inputs that the user took back."""
    mark: int = 0
    """`mark_before` the end."""
    session: str | None = None
    embedder: str | None = None
    title: str | None = None
    time: str | None = None
    unreadable: int = 0
    """Lines that were skipped."""


def searched_text(turn: ev.TurnAdded) -> str:
    """The text under which a turn is found: none for what only repeats other turns."""
    return "" if turn.name in _ECHOES else turn.text


def harvest(path: Path, start: int) -> Iterator[Batch]:
    """Read a recording from byte `start` on, in batches that end after a whole line.

    A line without its newline at the end may still be growing: it is read if it can be, and
    read again the next time.

    Raises:
        RecordingError: the file cannot be opened, or needs a newer program.
    """
    limit = _after_last_newline(path, start)
    batch = Batch(start, start)
    for record in read_records(path, start=start):
        if record.offset <= limit and _is_full(batch, record.offset):
            yield _ended(batch, path, record.offset)
            batch = Batch(batch.end, batch.end)
        if record.envelope is not None:
            _gather(batch, record.envelope, record.offset)
        elif record.offset < limit:
            batch.unreadable += 1
    yield _ended(batch, path, limit)


def mark_before(path: Path, place: int) -> int:
    """A checksum of what stands before byte `place`: another one after a recording was rewritten.

    Raises:
        RecordingError: the file cannot be read.
    """
    begin = max(0, place - _MARKED)
    with _reading(path) as stream:
        stream.seek(begin)
        return zlib.crc32(stream.read(place - begin))


def storable(text: str) -> str:
    """Without lone surrogates, which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _ended(batch: Batch, path: Path, end: int) -> Batch:
    batch.end, batch.mark = end, mark_before(path, end)
    return batch


def _is_full(batch: Batch, offset: int) -> bool:
    found = len(batch.turns) + len(batch.vectors)
    return found >= BATCH or offset - batch.start > _BATCH_BYTES


def _gather(batch: Batch, envelope: Envelope, offset: int) -> None:
    batch.session = batch.session or envelope.session
    batch.time = batch.time or envelope.time
    match envelope.event:
        case ev.SessionStarted(embedder=embedder):
            batch.embedder = embedder
        case ev.TaskStarted(task=task):
            batch.title = batch.title or storable(" ".join(task.what.split()))
        case ev.TurnAdded() as turn:
            _gather_turn(batch, turn, offset, envelope.time)
        case ev.TurnFidelityChanged(iri=iri, terms={"withdrawn": _}):
            batch.withdrawn.append(storable(iri))
        case ev.TurnScored(iri=iri, embedding=str(text)):
            _gather_vector(batch, iri, text)
        case _:
            pass


def _gather_turn(batch: Batch, turn: ev.TurnAdded, offset: int, time: str) -> None:
    iri = storable(turn.iri)
    try:
        number_of(iri)
    except ValueError:
        batch.unreadable += 1
        return
    words = tuple(words_of(searched_text(turn)))
    asks = is_question(turn.text)
    summary = storable(turn.summary)
    batch.turns.append(FoundTurn(iri, offset, turn.role, summary, time, words, asks))


def _gather_vector(batch: Batch, iri: str, text: str) -> None:
    try:
        vector = unpack(text)
    except EmbeddingError:
        batch.unreadable += 1
        return
    packed = pack_row(vector) if vector.size <= _MAX_DIM else None
    if packed is not None:
        batch.vectors.append(FoundVector(storable(iri), vector.size, packed))


def _after_last_newline(path: Path, start: int) -> int:
    """The byte after the file's last newline, not before `start`."""
    with _reading(path) as stream:
        end = stream.seek(0, os.SEEK_END)
        while end > start:
            begin = max(start, end - _TAIL)
            stream.seek(begin)
            at = stream.read(end - begin).rfind(b"\n")
            if at >= 0:
                return begin + at + 1
            end = begin
    return start


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
