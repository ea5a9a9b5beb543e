"""What the scripted server will say: replies, and the files that hold them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from gh_tui.errors import UsageError
from gh_tui.providers.scripted.fields import Ending, field_fault

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer; delays are in seconds."""

    text: str = ""
    chunks: Sequence[str] | None = None
    """How `text` is cut into events; None cuts it at words."""
    reasoning: str = ""
    calls: Sequence[Mapping[str, Any]] = ()
    """Tool calls: `name`, `arguments` (an object, or a string sent as it is), perhaps `id`."""
    deltas: Sequence[Any] | None = None
    """Raw `delta` objects in place of the four fields above."""
    events: Sequence[Any] | None = None
    """Raw data of every event in place of all that is made here; strings are sent as they are."""
    usage: Mapping[str, Any] | None = None
    """In place of the counted usage."""
    finish_reason: str | None = None
    """None for `tool_calls` or `stop`, as fits."""
    stream: bool = True
    """False answers with one JSON document, as if streaming had not been asked for."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Any = None
    """With an error status the body's `error`; with 200 an error object after the content."""
    body: str | bytes | None = None
    """The whole body, sent as it is."""
    content_type: str | None = None

    delay: float = 0.0
    """Before the headers."""
    first_delay: float = 0.0
    """After the headers, before the first event."""
    chunk_delay: float = 0.0
    """Between two events."""
    keep_alive: float = 0.0
    """While waiting or stalling, a comment line at this interval; 0 for none."""
    split: int = 0
    """Write the body in pieces of so many bytes; 0 writes one event at a time."""

    ending: Ending = "done"
    """`no_marker` ends the body properly but too early, `cut` closes the connection in it,
    `reset` resets it, `stall` keeps it open and says nothing more."""
    after: int | None = None
    """With another ending than `done`: how many events come before it; None for all content."""


Script = (
    Sequence[Reply | Mapping[str, Any]]
    | Callable[[dict[str, Any], int], Reply | Mapping[str, Any] | Awaitable[Reply]]
)

_FIELDS = frozenset(entry.name for entry in fields(Reply))


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A script read from a file, with what the server should pretend to be."""

    replies: tuple[Reply, ...]
    model: str = "scripted"
    window: int = 32_768
    repeat: bool = False


_FILE_FIELDS = frozenset(entry.name for entry in fields(ScriptFile))


def as_reply(value: Reply | Mapping[str, Any], place: str = "the reply") -> Reply:
    """A reply from its JSON form.

    Raises:
        UsageError: a field is unknown or holds what it cannot; names the place and the field.
    """
    if isinstance(value, Reply):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"{place} of the script is not an object")
    unknown = sorted(set(value) - _FIELDS)
    if unknown:
        raise UsageError(f"{place} of the script has no field {unknown[0]!r}")
    for name, held in value.items():
        if fault := field_fault(name, held):
            raise UsageError(f"{place} of the script: {fault}")
    return Reply(**value)


def load_script(path: Path) -> ScriptFile:
    """Read a script file.

    Raises:
        UsageError: it cannot be read or is no script; names the place.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the script {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"the script {path} is not valid JSON: {error}") from error
    if isinstance(value, list):
        value = {"replies": value}
    replies = value.get("replies") if isinstance(value, dict) else None
    if not isinstance(replies, list) or not replies:
        raise UsageError(f'the script {path} has no replies; write {{"replies": [...]}} or a list')
    unknown = sorted(set(value) - _FILE_FIELDS)
    if unknown:
        raise UsageError(f"the script {path} has no field {unknown[0]!r}")
    if not isinstance(value.get("repeat", False), bool):
        raise UsageError(f"the script {path} has a repeat that is neither true nor false")
    return ScriptFile(
        replies=tuple(
            as_reply(reply, f"reply {number}") for number, reply in enumerate(replies, 1)
        ),
        model=str(value.get("model", "scripted")),
        window=_positive(value.get("window", 32_768), path),
        repeat=value.get("repeat") is True,
    )


def _positive(value: Any, path: Path) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise UsageError(f"the script {path} has a window that is no positive whole number")
