"""Which recordings there are: the user's own, and the samples that come with the program."""

from __future__ import annotations

import contextlib
import importlib.resources
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gh_tui.errors import RecordingError
from gh_tui.events import types as ev
from gh_tui.journal.reader import read_records

_TOLD = (
    "TaskStarted",
    "UserInputReceived",
    "USER_SUPPLEMENTARY_INPUT",
    "SupplementInjected",
    "SupplementReturned",
    "TurnAdded",
)
"""The events that a list of sessions is made from."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One recording."""

    id: str
    path: Path
    title: str
    """The task, on one line; empty if none was recorded."""
    pending: int
    """Inputs that were accepted and never sent to a model."""


def list_sessions(folder: Path) -> Iterator[SessionInfo]:
    """The recordings of a folder, newest first; unreadable ones are left out."""
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        if path.is_file() and not path.is_symlink():
            with contextlib.suppress(RecordingError):
                yield describe(path)


def describe(path: Path) -> SessionInfo:
    """Read what a list of sessions shows of a recording.

    Raises:
        RecordingError: if it cannot be opened.
    """
    title = ""
    waiting: set[str] = set()
    for record in read_records(path, kinds=_TOLD):
        match record.envelope and record.envelope.event:
            case ev.TaskStarted(task=task):
                title = title or " ".join(task.what.split())
            case ev.SupplementaryInputReceived(id=name) | ev.UserInputReceived(iri=name):
                waiting.add(name)
            case ev.SupplementInjected(id=name) | ev.SupplementReturned(id=name):
                waiting.discard(name)
            case ev.TurnAdded(iri=name):
                waiting.discard(name)
            case _:
                pass
    return SessionInfo(path.stem, path, title, len(waiting))


def sample_folder() -> Path:
    """Where the sample recordings are, in an installed program and in a checkout alike."""
    installed = Path(str(importlib.resources.files("gh_tui"))) / "_data" / "sample_sessions"
    if installed.is_dir():
        return installed
    return Path(__file__).parents[2] / "sample_sessions"


def samples() -> list[Path]:
    """The sample recordings by name."""
    return sorted(sample_folder().glob("*.jsonl"))


def find(folder: Path, name: str) -> Path:
    """The recording of a session by its id, by the beginning of it, or by its path.

    Raises:
        RecordingError: if there is none, or several begin so.
    """
    if Path(name).is_file():
        return Path(name)
    found: list[Path] = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    matches = [path for path in found if path.stem == name] or _beginning(found, name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        several = ", ".join(path.stem for path in matches)
        raise RecordingError(f"several sessions begin with {name}: {several}")
    raise RecordingError(f"there is no session {name}; `gh-tui sessions` lists them")


def _beginning(found: Iterable[Path], name: str) -> list[Path]:
    return [path for path in found if path.stem.startswith(name)]
