"""The index over all recordings of a data folder: where a turn is, and which turns fit a query.

The recordings stay the only source of truth. What is missing, damaged or out of date in here is
made again from them. Every method blocks on disk and belongs off the event loop; all are safe to
call from any thread and from several processes at once.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gh_tui.clock import Clock, SystemClock
from gh_tui.errors import RecordingError
from gh_tui.events import types as ev
from gh_tui.journal.reader import read_records
from gh_tui.memory.bm25 import Bm25
from gh_tui.memory.harvest import harvest, mark_before, storable
from gh_tui.memory.hits import Hit, best, related
from gh_tui.memory.hybrid import hybrid
from gh_tui.memory.index_store import Entry, File, IndexStore, is_passing, remove_index
from gh_tui.memory.index_view import IndexView
from gh_tui.memory.packed import unit
from gh_tui.memory.terms import query_words
from gh_tui.settings.paths import make_private_folder

if TYPE_CHECKING:
    from gh_tui.embedding.vectors import Vector
    from gh_tui.events.values import Role

T = TypeVar("T")

POSTINGS: Final = 20_000
"""Occurrences that are read for the words of a query; the commonest words go unread beyond."""
_MENDING_SECONDS: Final = 5.0
"""How long a search that came upon damage may take to make the index anew."""
_LOOK_SECONDS: Final = 0.02
"""Between two looks whether another process has finished."""


class Index:
    """Search and recall over `sessions/*.jsonl` of a data folder."""

    def __init__(self, data: Path, clock: Clock | None = None) -> None:
        """Nothing is opened before it is needed.

        Args:
            data: the data folder; the index is kept in `index/` in there. If that cannot be
                used, this process keeps one of its own in a temporary folder until it can.
            clock: for the time limit of `refresh`.
        """
        self._clock = clock or SystemClock()
        self._recordings = data / "sessions"
        self._folder = data / "index"
        self._private: tempfile.TemporaryDirectory[str] | None = None
        self._store: IndexStore | None = None
        self._view = IndexView()
        self._damaged = False
        """The next refresh makes the index anew."""
        self._complete = False
        """All that the recordings had at the latest refresh is in."""
        self._closing = False
        self._waited_for = False
        """A refresh is to end after its batch, as another one waits."""
        self._lock = threading.RLock()
        self._refreshing = threading.Lock()

    def refresh(
        self, *, seconds: float | None = None, wait: float = 0.0, first: str | None = None
    ) -> int:
        """Take in what the recordings have that the index has not.

        The lock that searches wait for is held for one batch at a time.

        Args:
            seconds: stop after about that long; the next call goes on from there.
            wait: seconds to wait if this or another process is at it already; in this process
                what is at it ends after the batch at hand.
            first: the IRI of a turn whose recording is taken before the others.

        Returns:
            how many turns were added; 0 also if it was not possible now, as the disk is full.
        """
        self._waited_for = wait > 0
        free = self._refreshing.acquire(timeout=wait)
        self._waited_for = False
        if not free:
            return 0
        try:
            self._complete = False
            self._leave_private()
            with self._only_writer(wait) as alone:
                until = None if seconds is None else self._clock.monotonic() + seconds
                return self._mend_and_take(until, first or "") if alone else 0
        finally:
            self._refreshing.release()

    def locate(self, iri: str) -> tuple[Path, int] | None:
        """The recording of a turn and the byte offset of its record; None if it is not indexed."""
        entry = self._answer(lambda: self._opened().entry(iri=storable(iri)))
        return None if entry is None else (self._recordings / entry.file, entry.offset)

    def text(self, iri: str) -> str:
        """The full text of a turn, read from its recording.

        Raises:
            RecordingError: no indexed recording has that turn, or it can no longer be read.
        """
        found = self.locate(iri)
        if found is None:
            if self._complete:
                raise RecordingError(f"there is no turn {iri} in the recordings")
            raise RecordingError(f"{iri} is not indexed; the index is being made, try again")
        record = next(read_records(found[0], start=found[1]), None)
        event = None if record is None or record.envelope is None else record.envelope.event
        if not isinstance(event, ev.TurnAdded) or event.iri != iri:
            self._damaged = True
            raise RecordingError(f"{found[0]} no longer has {iri} where it was")
        return event.text

    def search(
        self,
        query: str,
        vector: Vector | None = None,
        limit: int = 8,
        *,
        embedder: str = "native",
        exclude: str | None = None,
    ) -> list[Hit]:
        """The turns of all sessions that fit a query best, by words and meaning.

        Args:
            query: any text; only its words count.
            vector: float32[dim], the query's embedding; None searches by words alone.
            limit: how many, from 1.
            embedder: the name of the embedder that made `vector`; turns that were embedded by
                another one are found by their words and their neighbours.
            exclude: a session whose turns are left out.

        Returns:
            at most `limit` hits, best first; none if no turn has anything to do with the query.
        """
        ask = partial(self._search, query, vector, limit, embedder, exclude)
        return self._answer(ask) or []

    def close(self) -> None:
        """Close the files, after the batch at hand; they are opened again when needed."""
        self._closing = True
        with self._refreshing:
            self._let_go()
            self._closing = False

    def _answer(self, ask: Callable[[], T]) -> T | None:
        """What the index says; one that is damaged is made anew and asked once more."""
        for mends in (True, False):
            try:
                with self._lock:
                    return ask()
            except Exception as error:  # A file may hold anything, and so raise anything.
                if is_passing(error):
                    break
                self._damaged = True
            if mends:
                self.refresh(seconds=_MENDING_SECONDS)
        return None

    def _search(
        self, query: str, vector: Vector | None, limit: int, embedder: str, exclude: str | None
    ) -> list[Hit]:
        store = self._opened()
        self._view.update(store)
        view = self._view
        words = self._words(store, query)
        near = self._near(store, vector, embedder)
        own = [file for file, session in store.sessions().items() if session == exclude]
        # Left out before the ranking: the others are then measured among themselves.
        kept = np.flatnonzero(~np.isin(view.files, own)) if own else slice(None)
        words, near = words[kept], near[kept]
        told = related(words, near)
        if not told.any():
            return []
        scores = hybrid(words, near, asks=view.asks[kept], sessions=view.files[kept])
        scores[view.lengths[kept] == 0] = -np.inf
        ids = view.ids[kept]
        hits = []
        for row in best(scores, limit):
            entry = store.entry(number=int(ids[row]))
            if entry is not None:
                hits.append(_hit(entry, float(scores[row]), is_related=bool(told[row])))
        return hits

    def _words(self, store: IndexStore, query: str) -> NDArray[np.float32]:
        found = Bm25(self._view.lengths)
        counted = [pair for word in query_words(query) for pair in store.occurrences(word)]
        read = 0
        for often, word in sorted(counted):  # The rarest first.
            if read and read + often > POSTINGS:
                break
            read += often
            ids, times = store.places(word)
            rows = self._view.rows(ids)
            found.add(rows[rows >= 0], times[rows >= 0])
        return found.scores

    def _near(self, store: IndexStore, vector: Vector | None, embedder: str) -> NDArray[np.float32]:
        near = np.full(len(self._view.ids), np.nan, np.float32)
        if vector is None or unit(vector, vector.size) is None:
            return near
        number = store.embedder_id(embedder, vector.size)
        if not number:
            return near
        known = self._view.embedders == number
        by_id = store.cosines(number, vector, self._view.beyond)
        near[known] = by_id[self._view.ids[known]]
        if np.isnan(near[known]).any():
            raise ValueError("vectors are missing")
        return near

    def _mend_and_take(self, until: float | None, first: str) -> int:
        for _ in range(2):
            try:
                if self._damaged:
                    self._start_anew()
                return self._take_all(until, first)
            except Exception as error:  # As in `_answer`.
                if is_passing(error):
                    break
                self._damaged = True
        return 0

    def _take_all(self, until: float | None, first: str) -> int:
        paths = {path.name: path for path in self._readable()}
        with self._lock:
            known = self._opened().files()
        if any(name not in paths or _changed(paths[name], file) for name, file in known.items()):
            # What its owner deleted must not stay readable in here.
            self._start_anew()
            known = {}
        wanted = sorted(paths.values(), key=lambda path: f"/{path.stem}/" not in first)
        added = sum(self._take(path, known.get(path.name), until) for path in wanted)
        self._complete = not self._is_over(until)
        return added

    def _take(self, path: Path, file: File | None, until: float | None) -> int:
        status = path.stat()
        if file is None:
            with self._lock:
                file = self._opened().add_file(path.name, status.st_ino)
        if file.done == status.st_size or self._is_over(until):
            return 0
        added = 0
        # One that needs a newer program stays out, and does not keep the others out.
        with suppress(RecordingError):
            for batch in harvest(path, file.done):
                with self._lock:
                    added += self._opened().write(file, batch)
                if self._is_over(until):
                    break
        return added

    def _is_over(self, until: float | None) -> bool:
        late = until is not None and self._clock.monotonic() > until
        return late or self._closing or self._waited_for

    def _readable(self) -> list[Path]:
        if not self._recordings.is_dir():
            return []
        found = sorted(self._recordings.glob("*.jsonl"), reverse=True)
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def _opened(self) -> IndexStore:
        if self._store is not None and not self._store.is_current:
            self._store.close()
            self._store, self._view = None, IndexView()
        if self._store is None:
            self._store = self._open()
        return self._store

    def _open(self) -> IndexStore:
        if self._private is None:
            try:
                return IndexStore(self._folder)
            except (OSError, sqlite3.Error) as error:
                if not is_passing(error):
                    raise
            self._private = tempfile.TemporaryDirectory(prefix="gh-tui-")
        return IndexStore(self._place())

    def _leave_private(self) -> None:
        if self._private is None:
            return
        try:
            IndexStore(self._folder).close()
        except Exception as error:  # As in `_answer`.
            if is_passing(error):
                return
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store, self._view = None, IndexView()
            if self._private is not None:
                self._private.cleanup()
                self._private = None

    def _place(self) -> Path:
        return self._folder if self._private is None else Path(self._private.name) / "index"

    def _start_anew(self) -> None:
        with self._lock:
            store = self._store
            remade = store is not None and not store.is_current  # By another process.
            if store is not None:
                store.close()
            self._store, self._view, self._damaged = None, IndexView(), False
            if not remade:
                remove_index(self._place())

    @contextmanager
    def _only_writer(self, wait: float) -> Iterator[bool]:
        """Whether this process may write; a folder without a lock file is nobody else's."""
        try:
            make_private_folder(self._folder)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._folder / "lock", flags, 0o600)
        except OSError:
            yield True
            return
        try:
            yield self._locked(descriptor, wait)
        finally:
            os.close(descriptor)

    def _locked(self, descriptor: int, wait: float) -> bool:
        until = time.monotonic() + wait
        while True:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            if self._closing or time.monotonic() >= until:
                return False
            time.sleep(_LOOK_SECONDS)


def _changed(path: Path, file: File) -> bool:
    status = path.stat()
    if status.st_ino != file.inode or status.st_size < file.done:
        return True
    with suppress(RecordingError):
        return mark_before(path, file.done) != file.mark
    return False


def _hit(entry: Entry, score: float, *, is_related: bool) -> Hit:
    return Hit(
        entry.iri,
        cast("Role", entry.role),
        entry.summary,
        score,
        entry.session,
        entry.title,
        entry.time,
        is_related,
    )
