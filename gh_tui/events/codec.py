"""Events to JSON objects and back: the wire format of recordings and of `--json`.

Reading is strict about the types of known fields, ignores fields that it does not know, and
keeps kinds that it does not know as `UnknownEvent`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

from gh_tui.events.envelope import FORMAT_VERSION, Envelope
from gh_tui.events.types import Event, SupplementaryInputReceived, UnknownEvent

Reader = Callable[[Any], Any]

_ENVELOPE_FIELDS = frozenset({"v", "seq", "time", "session", "type"})
_RENAMED: Mapping[type, str] = {SupplementaryInputReceived: "USER_SUPPLEMENTARY_INPUT"}


class DecodeError(ValueError):
    """A JSON value is not an event of this format."""


class NewerVersionError(DecodeError):
    """The record was written by a newer major version of the format."""


@functools.cache
def event_classes() -> Mapping[str, type]:
    """Wire name to class, for every known kind."""
    known = [kind for kind in typing.get_args(Event) if kind is not UnknownEvent]
    return {_RENAMED.get(kind, kind.__name__): kind for kind in known}


def event_name(event: Event) -> str:
    """The wire name of an event's kind."""
    if isinstance(event, UnknownEvent):
        return event.type
    return _RENAMED.get(type(event), type(event).__name__)


def to_wire(envelope: Envelope) -> dict[str, Any]:
    """The JSON object of an envelope; `seq` is left out where there is none."""
    wire: dict[str, Any] = {"v": FORMAT_VERSION}
    if envelope.seq is not None:
        wire["seq"] = envelope.seq
    wire |= {
        "time": envelope.time,
        "session": envelope.session,
        "type": event_name(envelope.event),
    }
    if isinstance(envelope.event, UnknownEvent):
        return wire | envelope.event.fields
    wire.update(plain(envelope.event))
    return wire


def to_line(envelope: Envelope) -> bytes:
    """One line of a recording, with its newline; lone surrogates are escaped."""
    text = json.dumps(to_wire(envelope), ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(to_wire(envelope), separators=(",", ":")).encode() + b"\n"


def plain(value: Any) -> Any:
    """A value of the vocabulary as JSON types: objects, lists, strings, numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            item.name.rstrip("_"): plain(getattr(value, item.name))
            for item in dataclasses.fields(value)
        }
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def from_line(line: bytes) -> Envelope:
    """Read one line of a recording.

    Raises:
        DecodeError: if it is not a JSON object of this format.
        NewerVersionError: if it needs a newer program.
    """
    try:
        wire = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"not JSON: {error}") from error
    return from_wire(wire)


def from_wire(wire: Any) -> Envelope:
    """Build an envelope from a parsed JSON object.

    Raises:
        DecodeError: if a field is missing or has the wrong type.
        NewerVersionError: if `v` is above the version of this program.
    """
    if not isinstance(wire, dict):
        raise DecodeError("a record is a JSON object")
    version = wire.get("v")
    if not isinstance(version, int) or isinstance(version, bool):
        raise DecodeError("a record needs an integer field v")
    if version > FORMAT_VERSION:
        raise NewerVersionError(
            f"the record has format version {version}; this program reads up to {FORMAT_VERSION}"
        )
    seq, time, session, name = (wire.get(key) for key in ("seq", "time", "session", "type"))
    if not (isinstance(seq, int) or seq is None) or isinstance(seq, bool):
        raise DecodeError("seq is an integer")
    if not (isinstance(time, str) and isinstance(session, str) and isinstance(name, str)):
        raise DecodeError("time, session and type are strings")
    fields = {key: value for key, value in wire.items() if key not in _ENVELOPE_FIELDS}
    return Envelope(seq, time, session, _read_event(name, fields))


def _read_event(name: str, fields: dict[str, Any]) -> Event:
    kind = event_classes().get(name)
    if kind is None:
        return UnknownEvent(name, fields)
    event: Event = _object_reader(kind)(fields)
    return event


@functools.cache
def _object_reader(kind: type) -> Reader:
    hints = typing.get_type_hints(kind)
    readers = {item.name: _reader(hints[item.name]) for item in dataclasses.fields(kind)}
    required = {
        item.name
        for item in dataclasses.fields(kind)
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
    }

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise DecodeError(f"{kind.__name__} is an object")
        found = {}
        for name, reader in readers.items():
            key = name.rstrip("_")
            if key in value:
                try:
                    found[name] = reader(value[key])
                except DecodeError as error:
                    raise DecodeError(f"{kind.__name__}.{key}: {error}") from error
            elif name in required:
                raise DecodeError(f"{kind.__name__} needs the field {key}")
        return kind(**found)

    return read


def _reader(hint: Any) -> Reader:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _optional_reader(_reader(next(a for a in arguments if a is not type(None))))
    if origin is Literal:
        return _check(lambda value: value in arguments, f"one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is dict:
        return _dict_reader(_reader(arguments[1]))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _object_reader(hint)
    if hint is Any:
        return lambda value: value
    if hint is float:
        return _read_float
    if hint is int:
        return _check(lambda v: isinstance(v, int) and not isinstance(v, bool), "an integer")
    if hint is bool:
        return _check(lambda v: isinstance(v, bool), "true or false")
    if hint is str:
        return _check(lambda v: isinstance(v, str), "a string")
    raise TypeError(f"no reader for {hint!r}")


def _check(accepts: Callable[[Any], bool], wanted: str) -> Reader:
    def read(value: Any) -> Any:
        try:
            fits = accepts(value)
        except TypeError:
            fits = False
        if not fits:
            raise DecodeError(f"must be {wanted}")
        return value

    return read


def _read_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecodeError("must be a number")
    return float(value)


def _optional_reader(inner: Reader) -> Reader:
    return lambda value: None if value is None else inner(value)


def _tuple_reader(arguments: tuple[Any, ...]) -> Reader:
    variadic = len(arguments) == 2 and arguments[1] is Ellipsis
    readers = [_reader(argument) for argument in arguments if argument is not Ellipsis]

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise DecodeError("must be a list")
        if variadic:
            return tuple(readers[0](item) for item in value)
        if len(value) != len(readers):
            raise DecodeError(f"must have {len(readers)} items")
        return tuple(reader(item) for reader, item in zip(readers, value, strict=True))

    return read


def _dict_reader(inner: Reader) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise DecodeError("must be an object")
        return {key: inner(item) for key, item in value.items()}

    return read
