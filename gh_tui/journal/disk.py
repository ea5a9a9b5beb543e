"""The system calls that a recording depends on, in one place that can be replaced."""

from __future__ import annotations

import os


class Disk:
    """The real disk; another one can watch it, or fail like a full one."""

    def write(self, descriptor: int, data: bytes) -> int:
        """As `os.write`: may write less than all, and says how much.

        Raises:
            OSError: nothing was written.
        """
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """As `os.fsync`: afterwards what was written outlives a power cut.

        Raises:
            OSError: the disk failed.
        """
        os.fsync(descriptor)

    def cut(self, descriptor: int, size: int) -> None:
        """As `os.ftruncate`: the file ends after `size` bytes.

        Raises:
            OSError: it is as it was.
        """
        os.ftruncate(descriptor, size)
