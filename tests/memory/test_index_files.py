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
from gh_tui.memory.index import Index
from gh_tui.memory.packed import pack_row

from .recordings import Recording, found, two_sessions


class Ticking(ManualClock):
    """A second passes whenever it is looked at."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()


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
    database = sqlite3.connect(folder / "search.sqlite3")
    database.execute("update words_data set block = x'00ff00ff' where id > 10")
    database.commit()
    database.close()


def _other_version(folder: Path) -> None:
    database = sqlite3.connect(folder / "search.sqlite3")
    database.execute("pragma user_version = 77")
    database.close()


def _cut_vectors(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        os.truncate(path, 3)


def _delete_vectors(folder: Path) -> None:
    for path in folder.glob("vectors-*"):
        path.unlink()


HARMS = (
    *(_delete, _delete_database, _scribble, _scribble_inside, _scribble_late, _truncate),
    *(_scribble_words, _other_version, _cut_vectors, _delete_vectors),
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
    found(index, "saffron")
    index.refresh()
    assert found(index, "saffron")[0] == pasta
    query = np.array([1, 0, 0, 0], np.float32)
    assert index.search("unsaid", query, limit=1)[0].iri == wanted
    assert (tmp_path / "index" / "search.sqlite3").is_file()


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
