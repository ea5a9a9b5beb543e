"""The folder that file tools are confined to.

A path is resolved first and must lie inside; then it is opened component by component without
following links, so that nothing can be swapped between the check and the use.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gh_tui.errors import ToolError

MAX_READ = 1024 * 1024
"""Bytes of a file that are read at most."""


class Workspace:
    """File access inside one folder."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def relative(self, path: str) -> Path:
        """The real place of `path` relative to the root.

        Raises:
            ToolError: if it leads outside, through `..`, an absolute path or a link.
        """
        if "\0" in path:
            raise ToolError("a path cannot contain a NUL character")
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise ToolError(f"{path} is outside the workspace; only files inside it can be used")
        return real.relative_to(self.root)

    def read(self, path: str) -> str:
        """The text of a regular file; bytes that are not UTF-8 become U+FFFD.

        Raises:
            ToolError: if it is missing, outside, or not a regular file.
        """
        with self._errors(path), self._parent(self.relative(path)) as (folder, name):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=folder)
            with os.fdopen(descriptor, "rb") as stream:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise ToolError(f"{path} is not a regular file")
                content = stream.read(MAX_READ + 1)
        text = content[:MAX_READ].decode(errors="replace")
        if len(content) > MAX_READ:
            text += f"\n[the file goes on; only its first {MAX_READ} bytes were read]"
        return text

    def list(self, path: str) -> list[str]:
        """Names in a folder, sorted; folders end in `/`, links in `@`.

        Raises:
            ToolError: if it is missing, outside, or not a folder.
        """
        with self._errors(path):
            folder = self._open_folder(self.relative(path).parts)
            try:
                with os.scandir(folder) as entries:
                    return sorted(entry.name + _mark(entry) for entry in entries)
            finally:
                os.close(folder)

    def write(self, path: str, content: str) -> None:
        """Replace or create a file, whole or not at all; missing folders are created.

        Raises:
            ToolError: if it is outside, not a regular file, or cannot be written.
        """
        relative = self.relative(path)
        with self._errors(path), self._parent(relative, create=True) as (folder, name):
            mode = 0o644
            with contextlib.suppress(FileNotFoundError):
                present = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISREG(present.st_mode):
                    raise ToolError(f"{path} is not a regular file")
                mode = stat.S_IMODE(present.st_mode)
            temporary = f".{name}.{os.getpid()}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(temporary, flags, mode, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fsync(descriptor)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def exists(self, path: str) -> bool:
        """Whether something is at `path` now."""
        return (self.root / self.relative(path)).exists()

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ToolError(f"{path}: {error.strerror}") from error
        except UnicodeEncodeError as error:
            raise ToolError(f"{path}: the text has characters that UTF-8 cannot hold") from error

    @contextlib.contextmanager
    def _parent(self, relative: Path, *, create: bool = False) -> Iterator[tuple[int, str]]:
        if not relative.name:
            raise ToolError("that is the workspace itself, not a file")
        folder = self._open_folder(relative.parts[:-1], create=create)
        try:
            yield folder, relative.name
        finally:
            os.close(folder)

    def _open_folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        folder = os.open(self.root, flags & ~os.O_NOFOLLOW)
        for part in parts:
            try:
                if create:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                inner = os.open(part, flags, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
        return folder


def _mark(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "@"
    return "/" if entry.is_dir() else ""
