"""The one writer of a recording.

A record is written by `os.write` on an O_APPEND descriptor in a thread of its own; what the
user must never lose, and what a server or a tool may have seen, is also fsynced before anyone
is told of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gh_tui.errors import RecordingError, RecordingLocked
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.journal.disk import Disk
from gh_tui.settings.paths import make_private_folder

_SYNCED = (
    ev.UserInputReceived,
    ev.SupplementaryInputReceived,
    ev.SupplementReturned,
    ev.ToolRequested,
    ev.ToolApproval,
    ev.ToolFinished,
    ev.RequestSent,
    ev.ReplyFinished,
    ev.TaskFinished,
    ev.SessionEnded,
)


class Recorder:
    """Appends envelopes to one file; holds its lock until closed."""

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        """Open `path` for appending; one that is not there (0600) comes with its first record.

        Args:
            path: the recording; its folder is made (0700).
            disk: what writes and syncs.

        Raises:
            RecordingLocked: if another process writes it.
            RecordingError: if it cannot be opened, or is a symbolic link.
        """
        self.path = path
        self._disk = disk or Disk()
        self._torn_at: int | None = None
        """Where a line begins that was not written whole and could not be taken back."""
        self._descriptor: int | None = None
        if _is_there(path):
            self._descriptor = _open_locked(path)
            try:
                self._complete_torn_tail(self._descriptor)
            except RecordingError:
                os.close(self._descriptor)
                raise
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    async def append(self, envelope: Envelope, line: bytes) -> None:
        """Return when `line` is in the file, and synced where the event asks for it.

        Raises:
            RecordingError: if it could not be written whole, and the file ends as before, or
                will before anything else is written; or if it is closed.
        """
        if self._closed:
            raise RecordingError(f"{self.path} is closed; nothing more is recorded")
        sync = isinstance(envelope.event, _SYNCED)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._write, line, sync)

    def close(self) -> None:
        """Wait for the writer, sync, and give up the lock.

        Raises:
            RecordingError: if the disk fails at the last; the lock is given up all the same.
        """
        self._closed = True
        self._thread.shutdown(wait=True)
        if self._descriptor is None:
            return
        try:
            self._cut_torn_line(self._descriptor)
            self._disk.sync(self._descriptor)
            if not os.fstat(self._descriptor).st_size:  # its first record could not be written
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise RecordingError(
                f"{self.path}: its last records may not be on the disk: {error.strerror}"
            ) from error
        finally:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, line: bytes, sync: bool) -> None:
        if self._descriptor is None:
            self._descriptor = _open_locked(self.path)
        descriptor = self._descriptor
        try:
            self._cut_torn_line(descriptor)
            self._torn_at = os.fstat(descriptor).st_size
            written = 0
            while written < len(line):
                written += self._disk.write(descriptor, line[written:])
            if sync:
                self._disk.sync(descriptor)
        except OSError as error:
            # Where even this fails, the next write tries again before it adds anything.
            with contextlib.suppress(OSError):
                self._cut_torn_line(descriptor)
            raise RecordingError(
                f"{self.path}: not written: {error.strerror}. Nothing was lost; "
                "make space or mend the folder, then send it again."
            ) from error
        self._torn_at = None

    def _cut_torn_line(self, descriptor: int) -> None:
        if self._torn_at is not None:
            self._disk.cut(descriptor, self._torn_at)
            self._torn_at = None

    def _complete_torn_tail(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            self._write(b"\n", sync=True)


def _is_there(path: Path) -> bool:
    """Whether there is something by this name; its folder is there and takes a new one."""
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise RecordingError(f"{path} cannot be opened for recording: {error.strerror}") from error
    if os.path.lexists(path):
        return True
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise RecordingError(f"{path} cannot be opened for recording: the folder takes no file")
    return False


def _open_locked(path: Path) -> int:
    try:
        fresh = not path.exists()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise RecordingError(f"{path} cannot be opened for recording: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = _owner(descriptor)
        os.close(descriptor)
        raise RecordingLocked(
            f"{path} is being written by another window{owner}; go on there, or look at it here "
            f"with: gh-tui replay {path}"
        ) from error
    if fresh:
        _sync_folder(path.parent)
    return descriptor


def _owner(descriptor: int) -> str:
    """Who holds the lock, where the system says it."""
    inode = f":{os.fstat(descriptor).st_ino}"
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(inode):
                return f" (process {words[4]})"
    return ""


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
