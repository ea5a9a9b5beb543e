"""The index on disk: it comes back by itself from whatever happens to it, and stays private."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gh_tui.clock import ManualClock
from gh_tui.errors import RecordingError
from gh_tui.memory.index import Index
from gh_tui.memory.packed import pack_row

from .recordings import Recording, Ticking, being_taken, found, two_sessions

# R7: deleted or damaged.


def _delete(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def _delete_database(folder: Path) -> None:
    (folder / "search.sqlite3").unlink()


def _scribble(folder: Path) -> None:
    path = folder / "search.sqlite3"
    path.write_bytes(b"not a database at all" * 1000)


def _scribble_inside(folder: Path) -> None:
    path = folder / "search.sqlite3"
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 4096):
        data[at : at + 64] = b"\xaa" * 64
    path.write_bytes(data)


def _scribble_late(folder: Path) -> None:
    path = folder / "search.sqlite3"
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 2 // 4096 * 4096, len(data), 4096):
        data[at : at + 64] = b"\xaa" * 64
    path.write_bytes(data)


def _truncate(folder: Path) -> None:
    path = folder / "search.sqlite3"
    os.truncate(path, path.stat().st_size // 2)


def _scribble_words(folder: Path) -> None:
    _in_database(folder, "update words_data set block = x'00ff00ff' where id > 10")


def _other_version(folder: Path) -> None:
    _in_database(folder, "pragma user_version = 77")


def _cut_vectors(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        os.truncate(path, 3)


def _delete_vectors(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        path.unlink()


def _scribble_vectors(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        # Values that are finite, and not when they are added up.
        path.write_bytes(np.full(path.stat().st_size // 4, 3e38, "<f4").tobytes())


def _poison_one_vector(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        data = bytearray(path.read_bytes())
        data[-4] ^= 1
        path.write_bytes(data)


def _empty_one_vector(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        size = path.stat().st_size
        os.truncate(path, size - 12)
        os.truncate(path, size)


def _in_database(folder: Path, *statements: str) -> None:
    database = sqlite3.connect(folder / "search.sqlite3")
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


def _scribble_stamp(folder: Path) -> None:
    _in_database(folder, "update about set value = 'x' where key = 'stamp'")


def _scribble_text(folder: Path) -> None:
    _in_database(folder, "update turns set summary = cast(x'ff00fe' as text)")


def _drop_turns(folder: Path) -> None:
    _in_database(folder, "drop table turns")


def _drop_about(folder: Path) -> None:
    _in_database(folder, "drop table about")


def _rename_column(folder: Path) -> None:
    _in_database(folder, "alter table turns rename column length to len")


def _foreign_database(folder: Path) -> None:
    _delete(folder)
    _in_database(folder, "create table hello(x)", "pragma user_version = 3")


def _folder_in_its_place(folder: Path) -> None:
    _delete(folder)
    (folder / "search.sqlite3").mkdir()


HARMS = (
    *(_delete, _delete_database, _scribble, _scribble_inside, _scribble_late, _truncate),
    *(_scribble_words, _other_version, _cut_vectors, _delete_vectors, _scribble_vectors),
    *(_poison_one_vector, _empty_one_vector, _scribble_stamp, _scribble_text, _drop_turns),
    *(_drop_about, _rename_column, _foreign_database, _folder_in_its_place),
)


@pytest.mark.parametrize(
    ("harm", "running"),
    [*((harm, False) for harm in HARMS), (_delete, True), (_delete_database, True)],
)
def test_whatever_happens_to_it_it_is_made_again(
    tmp_path: Path, index: Index, harm: Callable[[Path], None], running: bool
) -> None:
    pasta, _ = two_sessions(tmp_path)
    vectors = Recording(tmp_path, "s3")
    wanted = vectors.say("alpha", [1, 0, 0, 0])
    vectors.say("beta", [0, 1, 0, 0])
    index.refresh()
    if not running:
        index.close()
    harm(tmp_path / "index")
    query = np.array([1, 0, 0, 0], np.float32)
    found(index, "saffron")
    index.search("unsaid", query)
    index.refresh()
    another = Index(tmp_path)
    for opened in (index, another):
        assert found(opened, "saffron")[0] == pasta
        assert opened.search("unsaid", query, limit=1)[0].iri == wanted
    another.close()


def test_a_vector_that_was_written_in_vain_does_not_count(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    for word in ("alpha", "beta", "gamma"):
        talk.say(word)
    talk.say("delta", [1, 1, 0, 0])
    talk.say("epsilon", [0, 1, 0, 0])
    index.refresh()
    query = np.array([1, 0, 0, 0], np.float32)
    before = index.search("unsaid", query)
    (path,) = (tmp_path / "index").glob("vectors-*")
    row = pack_row(np.array([1, 0, 0, 0], np.float32))
    assert row is not None
    with path.open("r+b") as stream:
        stream.seek(len(row))  # Row 1, as after a crash between the file and the database.
        stream.write(row)
    assert index.search("unsaid", query) == before


class Vandal(ManualClock):
    """The index is deleted at the third look at the clock."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        if self.looks == 4:
            _delete_database(self.folder)
        return super().monotonic()


def test_it_may_even_vanish_while_it_is_filled(tmp_path: Path) -> None:
    for name in ("s1", "s2"):
        talk = Recording(tmp_path, name)
        for number in range(500):
            talk.say(f"harbour {number}")
    vandal = Vandal(tmp_path / "index")
    index = Index(tmp_path, vandal)
    index.refresh(seconds=1000)
    assert vandal.looks > 4
    assert len(index.search("harbour", limit=2000)) == 1000
    index.close()


def test_what_its_owner_deleted_is_gone(tmp_path: Path, index: Index) -> None:
    two_sessions(tmp_path)
    index.refresh()
    (tmp_path / "sessions" / "s1.jsonl").unlink()
    index.refresh()
    assert found(index, "saffron") == []
    index.close()
    for path in (tmp_path / "index").iterdir():
        assert b"saffron" not in path.read_bytes()


def test_a_recording_that_became_another_is_read_again(tmp_path: Path, index: Index) -> None:
    two_sessions(tmp_path)
    index.refresh()
    (tmp_path / "sessions" / "s1.jsonl").unlink()
    again = Recording(tmp_path, "s1")
    wanted = again.say("parsley")
    index.refresh()
    assert found(index, "parsley")[0] == wanted
    assert found(index, "saffron") == []


def test_a_recording_that_was_written_anew_in_place_is_read_again(
    tmp_path: Path, index: Index
) -> None:
    pasta, _ = two_sessions(tmp_path)
    index.refresh()
    path = tmp_path / "sessions" / "s1.jsonl"
    written = path.read_bytes().replace(b"saffron", b"cardamom")
    with path.open("r+b") as stream:
        stream.write(written)
    index.refresh()
    assert found(index, "cardamom")[0] == pasta
    assert found(index, "saffron") == []
    assert index.text(pasta) == "The recipe wants cardamom and two lemons."


def test_a_turn_that_is_not_at_its_place_has_the_index_made_anew(
    tmp_path: Path, index: Index
) -> None:
    talk = Recording(tmp_path, "s")
    first, second = talk.say("alpha"), talk.say("omega")
    talk.say("filler " * 1000)
    index.refresh()
    lines = talk.path.read_bytes().splitlines(keepends=True)
    lines[1], lines[2] = lines[2], lines[1]
    with talk.path.open("r+b") as stream:
        stream.write(b"".join(lines))
    with pytest.raises(RecordingError, match="no longer"):
        index.text(first)
    index.refresh()
    assert (index.text(first), index.text(second)) == ("alpha", "omega")


def test_one_that_is_locked_is_used_again_when_it_is_free(tmp_path: Path, index: Index) -> None:
    pasta, _ = two_sessions(tmp_path)
    index.refresh()
    index.close()
    holder = sqlite3.connect(tmp_path / "index" / "search.sqlite3", isolation_level=None)
    holder.execute("pragma locking_mode = exclusive")
    holder.execute("begin exclusive")
    assert index.refresh() == 6, "one of its own"
    assert found(index, "saffron")[0] == pasta
    holder.execute("rollback")
    holder.close()
    assert index.refresh() == 0, "the shared one has all"
    assert found(index, "saffron")[0] == pasta


# R11: modes and links.


def test_files_are_private(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    talk.say("alpha", [1, 0])
    old = os.umask(0)
    try:
        index.refresh()
    finally:
        os.umask(old)
    folder = tmp_path / "index"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) >= 3


@pytest.mark.parametrize("target", ["nothing", "text", "database"])
def test_planted_links_are_not_followed(tmp_path: Path, index: Index, target: str) -> None:
    pasta, _ = two_sessions(tmp_path)
    victim = tmp_path / "victim"
    if target == "text":
        victim.write_bytes(b"precious")
    elif target == "database":
        database = sqlite3.connect(victim)
        database.execute("create table precious(x)")
        database.close()
    before = victim.read_bytes() if victim.exists() else None
    (tmp_path / "index").mkdir(mode=0o700)
    (tmp_path / "index" / "search.sqlite3").symlink_to(victim)
    outside = tmp_path / "outside"
    elsewhere = Recording(outside, "s9")
    elsewhere.say("zymurgy")
    (tmp_path / "sessions" / "s9.jsonl").symlink_to(elsewhere.path)
    index.refresh()
    assert (victim.read_bytes() if victim.exists() else None) == before
    assert found(index, "saffron")[0] == pasta
    assert found(index, "zymurgy") == []


def test_without_a_folder_to_write_in_it_keeps_one_of_its_own(tmp_path: Path, index: Index) -> None:
    pasta, _ = two_sessions(tmp_path)
    (tmp_path / "index").write_bytes(b"a file where the folder should be")
    assert index.refresh() == 6
    assert found(index, "saffron")[0] == pasta
    assert (tmp_path / "index").read_bytes() == b"a file where the folder should be"


# Several at once.


def test_two_processes_share_it(tmp_path: Path, index: Index) -> None:
    pasta, _ = two_sessions(tmp_path)
    script = (
        "import sys; from pathlib import Path; from gh_tui.memory.index import Index\n"
        "index = Index(Path(sys.argv[1]))\n"
        "for _ in range(20): index.refresh(); index.search('saffron')\n"
        "print(index.search('saffron', limit=1)[0].iri)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    talk = Recording(tmp_path, "s4")
    for number in range(20):
        talk.say(f"number {number} walks by", [1, number])
        index.refresh()
    for other in others:
        output, _ = other.communicate(timeout=60)
        assert output.strip() == pasta
    index.refresh()
    assert found(index, "saffron")[0] == pasta
    assert len(found(index, "walks", limit=100)) >= 20


def test_searches_go_on_while_it_is_filled(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    for number in range(1500):
        talk.say(f"turn {number} about the harbour", [1, number])
    worker = threading.Thread(target=index.refresh)
    worker.start()
    seen = set()
    while worker.is_alive():
        seen.add(len(index.search("harbour", np.array([1, 2], np.float32), limit=2000)))
    worker.join()
    assert len(index.search("harbour", limit=2000)) == 1500
    assert len(seen) > 1


def test_a_refresh_with_little_time_goes_on_later(tmp_path: Path) -> None:
    talk = Recording(tmp_path, "s")
    for number in range(900):
        talk.say(f"turn {number}")
    index = Index(tmp_path, Ticking())
    first = index.refresh(seconds=2.5)
    assert 0 < first < 900
    assert first + index.refresh() == 900
    index.close()


def test_closing_ends_a_refresh_after_its_batch(tmp_path: Path, index: Index) -> None:
    worker = being_taken(tmp_path, "s", index)
    index.close()
    worker.join()
    assert 0 < index.refresh() < 3000
