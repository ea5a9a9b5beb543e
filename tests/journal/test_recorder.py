from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gh_tui.clock import ManualClock
from gh_tui.errors import RecordingError, RecordingLocked
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.journal.disk import Disk
from gh_tui.journal.reader import read_records
from gh_tui.journal.recorder import Recorder


def cycle(number: int) -> ev.CycleStarted:
    return ev.CycleStarted(cycle=number)


def cycles(path: Path) -> list[int]:
    events = [record.envelope.event for record in read_records(path) if record.envelope]
    return [event.cycle for event in events if isinstance(event, ev.CycleStarted)]


async def test_a_published_event_is_in_the_file_with_private_modes(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "a.jsonl"
    recorder = Recorder(path)
    bus = EventBus("s", ManualClock(), recorder)
    for number in range(5):
        await bus.publish(cycle(number))
        assert cycles(path)[-1] == number
    recorder.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


class TracedDisk(Disk):
    """Notes what is done, in order."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def write(self, descriptor: int, data: bytes) -> int:
        self.order.append("write")
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self.order.append("fsync")


@pytest.mark.parametrize(
    ("event", "synced"),
    [
        (ev.SupplementaryInputReceived(id="a", text="x"), True),
        (ev.UserInputReceived(iri="i", text="x"), True),
        (ev.SupplementReturned(id="a", text="x", reason="escape"), True),
        (ev.ToolRequested(call="c", name="n", arguments={}), True),
        (
            ev.RequestSent(
                request=1,
                cycle=1,
                purpose="agent",
                manifest=(),
                tokens=1,
                tokens_basis="estimated",
                budget=1,
            ),
            True,
        ),
        (ev.CycleStarted(cycle=1), False),
    ],
)
async def test_the_write_and_the_sync_come_before_anyone_is_told(
    tmp_path: Path, event: ev.Event, synced: bool
) -> None:
    disk = TracedDisk()
    recorder = Recorder(tmp_path / "a.jsonl", disk)
    bus = EventBus("s", ManualClock(), recorder)
    bus.subscribe(lambda envelope: disk.order.append("told"))
    await bus.publish(event)
    disk.order.append("returned")
    done = list(disk.order)
    recorder.close()
    assert done == ["write", *["fsync"] * synced, "told", "returned"]


async def test_a_full_disk_leaves_no_torn_line_and_writing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    recorder = Recorder(path)
    bus = EventBus("s", ManualClock(), recorder)
    await bus.publish(cycle(1))
    write = os.write
    calls = 0

    def short_then_full(descriptor: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            return write(descriptor, data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", short_then_full)
    with pytest.raises(RecordingError, match="No space left"):
        await bus.publish(cycle(2))
    monkeypatch.undo()
    await bus.publish(cycle(3))
    recorder.close()
    assert cycles(path) == [1, 3]
    assert path.read_bytes().count(b"\n") == 2


class FailingDisk(Disk):
    """A disk that takes a few bytes of a line, then nothing, while it is broken."""

    def __init__(self) -> None:
        self.broken = False
        self._taken = False

    def write(self, descriptor: int, data: bytes) -> int:
        if not self.broken:
            return super().write(descriptor, data)
        if self._taken:
            raise OSError(errno.EIO, "Input/output error")
        self._taken = True
        return super().write(descriptor, data[:10])

    def cut(self, descriptor: int, size: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, "Input/output error")
        super().cut(descriptor, size)


async def test_a_torn_line_that_cannot_be_cut_joins_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    disk = FailingDisk()
    recorder = Recorder(path, disk)
    bus = EventBus("s", ManualClock(), recorder)
    await bus.publish(cycle(1))
    disk.broken = True
    for number in (2, 3):
        with pytest.raises(RecordingError, match="Input/output error"):
            await bus.publish(cycle(number))
    assert not path.read_bytes().endswith(b"\n")
    disk.broken = False
    await bus.publish(cycle(4))
    recorder.close()
    assert cycles(path) == [1, 4]
    assert path.read_bytes().count(b"\n") == 2


async def test_a_disk_that_fails_at_the_last_is_told_and_gives_up_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    disk = FailingDisk()
    recorder = Recorder(path, disk)
    bus = EventBus("s", ManualClock(), recorder)
    await bus.publish(cycle(1))
    disk.broken = True
    with pytest.raises(RecordingError):
        await bus.publish(cycle(2))
    with pytest.raises(RecordingError, match="may not be on the disk"):
        recorder.close()
    Recorder(path).close()
    assert cycles(path) == [1]


def test_a_tail_that_cannot_be_completed_does_not_keep_the_lock(tmp_path: Path) -> None:
    class FullDisk(Disk):
        def write(self, descriptor: int, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "torn.jsonl"
    path.write_bytes(b'{"v":1')
    with pytest.raises(RecordingError, match="No space"):
        Recorder(path, FullDisk())
    Recorder(path).close()
    assert path.read_bytes() == b'{"v":1\n'


def test_a_second_writer_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    recorder = Recorder(path)
    code = "import sys; from pathlib import Path; from gh_tui.journal.recorder import Recorder\n"
    code += "Recorder(Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "RecordingLocked" in done.stderr
    with pytest.raises(RecordingLocked):
        Recorder(path)
    recorder.close()


async def test_a_new_recording_comes_with_its_first_record(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "a.jsonl"
    Recorder(path).close()
    assert list(path.parent.iterdir()) == []
    disk = FailingDisk()
    recorder = Recorder(path, disk)
    bus = EventBus("s", ManualClock(), recorder)
    disk.broken = True
    with pytest.raises(RecordingError):
        await bus.publish(cycle(1))
    disk.broken = False
    recorder.close()
    assert list(path.parent.iterdir()) == []
    with pytest.raises(RecordingError, match="closed"):
        await bus.publish(cycle(1))
    recorder = Recorder(path)
    await EventBus("s", ManualClock(), recorder).publish(cycle(2))
    with pytest.raises(RecordingLocked):
        Recorder(path)
    recorder.close()
    assert cycles(path) == [2]


def test_a_folder_that_takes_no_file_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="cannot be opened"):
        Recorder(tmp_path / "file" / "a.jsonl")


def test_a_planted_link_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious\n")
    (tmp_path / "a.jsonl").symlink_to(target)
    with pytest.raises(RecordingError):
        Recorder(tmp_path / "a.jsonl")
    assert target.read_text() == "precious\n"


@settings(deadline=None)
@given(st.integers(0, 400))
def test_a_file_cut_anywhere_loses_at_most_its_torn_tail(cut: int) -> None:
    import asyncio
    import tempfile

    async def record(path: Path, numbers: range) -> None:
        recorder = Recorder(path)
        bus = EventBus("s", ManualClock(), recorder)
        for number in numbers:
            await bus.publish(cycle(number))
        recorder.close()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        asyncio.run(record(path, range(5)))
        whole = path.read_bytes()
        kept = whole[: min(cut, len(whole))]
        path.write_bytes(kept)
        asyncio.run(record(path, range(10, 12)))
        found = cycles(path)
        assert found[-2:] == [10, 11]
        complete = kept.count(b"\n")
        assert found[:complete] == list(range(complete))


async def test_a_closed_recording_refuses_in_words(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.jsonl")
    bus = EventBus("s", ManualClock(), recorder)
    recorder.close()
    with pytest.raises(RecordingError, match="closed"):
        await bus.publish(cycle(1))
