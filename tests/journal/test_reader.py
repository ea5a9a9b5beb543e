from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import RecordingError
from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.journal.reader import read_records

GOOD = [to_line(Envelope(n, "t", "s", ev.CycleStarted(cycle=n))) for n in range(1, 6)]


def test_damaged_lines_are_counted_and_hide_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    content = b"".join([GOOD[0], b"\x00\xff{torn\n", GOOD[1], b"\n", b"[]\n", GOOD[2][:-10]])
    path.write_bytes(content)
    records = list(read_records(path))
    assert [record.envelope is not None for record in records] == [True, False, True, False, False]
    assert all(record.error for record in records if record.envelope is None)
    assert path.read_bytes() == content


@given(st.lists(st.sampled_from(GOOD) | st.binary(max_size=30).map(lambda b: b + b"\n")))
def test_offsets_lead_back_to_each_record(lines: list[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(b"".join(lines))
        for record in read_records(path):
            again = next(read_records(path, start=record.offset))
            assert again.line == record.line


NEWER = b'{"v":9,"type":"Unknown","seq":11}\n'


@pytest.mark.parametrize("lines", [NEWER, b"no JSON\n" + NEWER, 2 * NEWER + GOOD[0]])
@pytest.mark.parametrize("kinds", [(), ("CycleStarted",)])
def test_a_newer_file_is_refused_with_words(
    tmp_path: Path, lines: bytes, kinds: tuple[str, ...]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines)
    with pytest.raises(RecordingError, match=r"version 9.*update gh-tui"):
        list(read_records(path, kinds=kinds))


@pytest.mark.parametrize("place", range(len(GOOD) + 1))
def test_a_single_newer_record_is_one_unreadable_line(tmp_path: Path, place: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join([*GOOD[:place], NEWER, *GOOD[place:]]))
    records = list(read_records(path))
    assert sum(record.envelope is not None for record in records) == len(GOOD)
    skipped = records[place]
    assert skipped.envelope is None
    assert skipped.error is not None
    assert "version 9" in skipped.error


def test_a_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"nothing\.jsonl"):
        list(read_records(tmp_path / "nothing.jsonl"))


def test_what_may_never_end_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(RecordingError, match=f"{path} is no regular file"):
            next(read_records(path))


def test_only_lines_that_may_be_of_the_wanted_kinds_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    decoy = ev.Notice(level="info", text='{"type":"CycleStarted"}')
    events: list[ev.Event] = [ev.CycleStarted(cycle=1), decoy, ev.CycleStarted(cycle=2)]
    lines = [to_line(Envelope(n, "t", "s", event)) for n, event in enumerate(events, 1)]
    path.write_bytes(b"".join(lines) + b'{"v": 1, "type": "CycleStarted"\n')
    records = list(read_records(path, kinds=["CycleStarted", "TaskStarted"]))
    assert [record.number for record in records] == [1, 3, 4]
    assert [record.envelope and record.envelope.event for record in records] == [
        events[0],
        events[2],
        None,
    ]
    assert [record.offset for record in records[:2]] == [0, len(lines[0] + lines[1])]
