"""The index's own files: an SQLite database (FTS5) and one file of vectors per embedder.

Everything in here comes from the recordings and can be made again from them.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.memory.harvest import Batch, FoundTurn, FoundVector
from gh_tui.memory.packed import PackedFile, row_type
from gh_tui.memory.terms import is_lone
from gh_tui.settings.paths import make_private_folder

_VERSION: Final = 3
_NAME: Final = "search.sqlite3"
_BUSY_SECONDS: Final = 1.0
_WITHDRAWN: Final = -1
"""The length of a turn that its user took back."""
_PASSING: Final = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM),
    }
)
# Terms come from `words_of`, joined by spaces; the tokenizer only has to keep them whole.
_SCHEMA: Final = """
create table about(key text primary key, value text not null) without rowid;
create table files(
    id integer primary key, name text not null unique, inode integer not null,
    done integer not null default 0, mark integer not null default 0,
    session text not null default '', embedder text not null default '',
    title text not null default '', time text not null default '',
    unreadable integer not null default 0);
create table embedders(id integer primary key, name text not null, dim integer not null,
    unique(name, dim));
create table turns(
    id integer primary key autoincrement, iri text not null unique, file integer not null,
    offset integer not null, role text not null, summary text not null, time text not null,
    length integer not null, asks integer not null, embedder integer not null default 0,
    stamp integer not null);
create index turns_by_stamp on turns(stamp);
create virtual table words using fts5(
    terms, content='', columnsize=0, tokenize="ascii tokenchars '_'''");
create virtual table word_rows using fts5vocab(words, row);
create virtual table word_places using fts5vocab(words, instance);
"""


@dataclass(frozen=True, slots=True)
class File:
    """What is known of one recording."""

    id: int
    name: str
    inode: int
    done: int
    """Bytes that are indexed."""
    mark: int
    """`mark_before` their end."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One indexed turn."""

    iri: str
    role: str
    summary: str
    time: str
    file: str
    """The recording's file name."""
    offset: int
    session: str
    title: str


class IndexStore:
    """An open index; not safe for threads by itself."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder` (0700), creating it (0600).

        Raises:
            OSError: the folder or a file in it cannot be used.
            sqlite3.Error: the database is damaged, of another version, or cannot be used.
        """
        self._folder = folder
        self._vectors: dict[int, PackedFile] = {}
        make_private_folder(folder)
        path = folder / _NAME
        with suppress(OSError):
            path.rmdir()  # An empty folder in its place.
        if not path.exists():
            # What a deleted database left behind must not be taken for the new one's.
            remove_index(folder)
        _create_private(path)
        self._inode = path.stat().st_ino
        self._db = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        if self._value("pragma user_version") == 0:
            with self._transaction():
                self._create()
        version = self._value("pragma user_version")
        if version != _VERSION:
            raise sqlite3.DatabaseError(f"index of version {version}")
        self._id = self._about("id")
        self._check_vectors()

    def _create(self) -> None:
        if self._value("pragma user_version") != 0:
            return  # Another process was faster.
        for statement in _SCHEMA.split(";\n"):
            self._db.execute(statement)
        sql = "insert into about values('id', ?), ('stamp', '0')"
        self._db.execute(sql, (secrets.token_hex(4),))
        self._db.execute(f"pragma user_version = {_VERSION}")

    def _check_vectors(self) -> None:
        """Vectors whose file is gone or cut short cannot be told from missing ones later."""
        last = "select embedder, max(id) from turns where embedder > 0 group by embedder"
        for embedder, row in self._db.execute(last).fetchall():
            dim = self._dim(embedder)
            path = self._vector_path(embedder)
            size = path.stat().st_size if path.is_file() else 0
            if size < (row + 1) * row_type(dim).itemsize:
                raise sqlite3.DatabaseError(f"{path.name} is cut short")

    @property
    def is_current(self) -> bool:
        """Whether the file that is open is still the one in the folder."""
        try:
            return (self._folder / _NAME).stat().st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Close all files."""
        for file in self._vectors.values():
            file.close()
        self._vectors.clear()
        self._db.close()

    # Writing.

    def files(self) -> dict[str, File]:
        """The recordings that are in the index, by file name."""
        rows = self._db.execute("select id, name, inode, done, mark from files")
        return {row[1]: File(*row) for row in rows}

    def add_file(self, name: str, inode: int) -> File:
        """Take in a recording of which nothing is indexed yet."""
        with self._transaction():
            sql = "insert into files(name, inode) values(?, ?)"
            number = self._db.execute(sql, (name, inode)).lastrowid
        return File(number or 0, name, inode, 0, 0)

    def write(self, file: File, batch: Batch) -> int:
        """Add a batch, all of it or nothing.

        Returns:
            how many turns were new.

        Raises:
            sqlite3.DatabaseError: the index is another one than `file` was taken from.
        """
        with self._transaction():
            stamp = self._bump("stamp")
            fresh = sum(self._write_turn(file, turn, stamp) for turn in batch.turns)
            updated = self._db.execute(
                "update files set done = ?, mark = ?, unreadable = unreadable + ?,"
                " session = iif(session = '', coalesce(?, ''), session),"
                " title = iif(title = '', coalesce(?, ''), title),"
                " time = iif(time = '', coalesce(?, ''), time),"
                " embedder = coalesce(?, embedder) where id = ? and name = ? and done = ?",
                (
                    *(batch.end, batch.mark, batch.unreadable),
                    *(batch.session, batch.title, batch.time, batch.embedder),
                    *(file.id, file.name, batch.start),
                ),
            )
            if updated.rowcount != 1:
                raise sqlite3.DatabaseError(f"{file.name} was not indexed up to {batch.start}")
            for iri in batch.withdrawn:
                self._withdraw(file, iri, stamp)
            name: str = self._value("select embedder from files where id = ?", file.id)
            for vector in batch.vectors:
                self._write_vector(file, vector, name, stamp)
        return fresh

    def _write_turn(self, file: File, turn: FoundTurn, stamp: int) -> int:
        added = self._db.execute(
            "insert or ignore into turns"
            "(iri, file, offset, role, summary, time, length, asks, stamp)"
            " values(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(turn.iri, file.id, turn.offset, turn.role, turn.summary, turn.time),
                *(len(turn.words), turn.asks, stamp),
            ),
        )
        if added.rowcount <= 0:
            return 0
        sql = "insert into words(rowid, terms) values(?, ?)"
        self._db.execute(sql, (added.lastrowid, " ".join(turn.words)))
        return 1

    def _withdraw(self, file: File, iri: str, stamp: int) -> None:
        sql = "update turns set length = ?, summary = '', stamp = ? where iri = ? and file = ?"
        self._db.execute(sql, (_WITHDRAWN, stamp, iri, file.id))

    def _write_vector(self, file: File, vector: FoundVector, name: str, stamp: int) -> None:
        sql = "select id from turns where iri = ? and file = ? and length > 0"
        row = self._db.execute(sql, (vector.iri, file.id)).fetchone()
        if row is None:
            return
        self._db.execute(
            "insert or ignore into embedders(name, dim) values(?, ?)", (name, vector.dim)
        )
        embedder = self.embedder_id(name, vector.dim)
        self._vector_file(embedder).put(row[0], vector.packed)
        sql = "update turns set embedder = ?, stamp = ? where id = ?"
        self._db.execute(sql, (embedder, stamp, row[0]))

    # Reading.

    @property
    def stamp(self) -> int:
        """A number that rises with every change."""
        return int(self._about("stamp"))

    def rows_since(self, stamp: int) -> Sequence[tuple[int, int, int, int, int]]:
        """Id, file, words, question and embedder of each turn touched after `stamp`.

        A turn with less than no words was withdrawn.
        """
        sql = "select id, file, length, asks, embedder from turns where stamp > ? order by id"
        return self._db.execute(sql, (stamp,)).fetchall()

    def sessions(self) -> dict[int, str]:
        """The session of each recording, by its number."""
        return dict(self._db.execute("select id, session from files").fetchall())

    def occurrences(self, word: str) -> list[tuple[int, str]]:
        """How often a word was said; for a lone character, the commonest pairs that it is in."""
        sql = "select cnt, term from word_rows where term = ?"
        if is_lone(word):
            sql = "select cnt, term from word_rows where instr(term, ?) order by cnt desc limit 200"
        return self._db.execute(sql, (word,)).fetchall()

    def places(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids of the turns that have a word, rising, and how often each has it."""
        listed = self._value("select group_concat(doc) from word_places where term = ?", word)
        every = np.fromstring(listed or "", np.int64, sep=",")
        firsts = np.flatnonzero(np.diff(every, prepend=-1))
        return every[firsts], np.diff(firsts, append=len(every)).astype(np.float32)

    def embedder_id(self, name: str, dim: int) -> int:
        """The number of an embedder; 0 if no turn was embedded by it."""
        sql = "select id from embedders where name = ? and dim = ?"
        return int(self._value(sql, name, dim) or 0)

    def cosines(self, embedder: int, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """Cosine of a vector with the first `rows` turns by id, not-a-number where unknown.

        Raises:
            ValueError: the file of vectors is damaged.
        """
        return self._vector_file(embedder).cosines(vector, rows)

    def entry(self, *, iri: str | None = None, number: int | None = None) -> Entry | None:
        """The turn of an IRI or an id."""
        row = self._db.execute(
            "select iri, role, summary, turns.time, name, offset, session, title from turns"
            " join files on files.id = file"
            " where (turns.iri = ? or turns.id = ?) and length >= 0",
            (iri, number),
        ).fetchone()
        return None if row is None else Entry(*row)

    # Small steps.

    def _dim(self, embedder: int) -> int:
        return int(self._value("select dim from embedders where id = ?", embedder))

    def _vector_path(self, embedder: int) -> Path:
        return self._folder / f"vectors-{self._id}-{embedder}.i8"

    def _vector_file(self, embedder: int) -> PackedFile:
        file = self._vectors.get(embedder)
        if file is None:
            path, dim = self._vector_path(embedder), self._dim(embedder)
            file = self._vectors[embedder] = PackedFile(path, dim)
        return file

    def _about(self, key: str) -> str:
        return str(self._value("select value from about where key = ?", key))

    def _bump(self, key: str) -> int:
        number = int(self._about(key)) + 1
        self._db.execute("update about set value = ? where key = ?", (str(number), key))
        return number

    def _value(self, sql: str, *values: object) -> Any:
        row = self._db.execute(sql, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("rollback")
            raise
        self._db.execute("commit")


def is_passing(error: Exception) -> bool:
    """Whether the files are only busy, full or out of reach, rather than damaged or not ours."""
    if isinstance(error, sqlite3.Error):
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        return code & 0xFF in _PASSING
    return isinstance(error, OSError)


def _create_private(path: Path) -> None:
    """Create a file (0600) unless it is there.

    One that is there is not opened: to close it would drop SQLite's locks of this process.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        if path.is_symlink():
            raise OSError(f"{path} is a symbolic link; move it away") from None


def remove_index(folder: Path) -> None:
    """Delete the files of an index, so that it is made anew; other files stay."""
    for path in folder.glob("*"):
        if path.name.startswith((_NAME, "vectors-")):
            path.unlink(missing_ok=True)
