"""What each field of a scripted reply may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, Literal, get_args

Ending = Literal["done", "no_marker", "cut", "reset", "stall"]
_CALL_FIELDS: Final = frozenset({"id", "name", "arguments"})


def field_fault(name: str, value: Any) -> str | None:
    """What is wrong with a field of a reply; None if nothing is.

    Args:
        name: a field of `Reply`.
        value: as parsed from JSON.
    """
    allowed, what = _ALLOWED[name]
    return None if allowed(value) else f"{name} must be {what}, not {_shown(value)}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _maybe_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _texts(value: Any) -> bool:
    return value is None or (_list(value) and all(isinstance(item, str) for item in value))


def _list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _maybe_list(value: Any) -> bool:
    return value is None or _list(value)


def _calls(value: Any) -> bool:
    return _list(value) and all(
        isinstance(call, Mapping)
        and set(call) <= _CALL_FIELDS
        and isinstance(call.get("name"), str)
        and isinstance(call.get("id", ""), str)
        and isinstance(call.get("arguments", ""), str | Mapping)
        for call in value
    )


def _usage(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _headers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and isinstance(text, str)
        and (name + text).isascii()
        and (name + text).isprintable()
        for name, text in value.items()
    )


def _whole(value: Any, least: int, most: int | None = None) -> bool:
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and value >= least
        and (most is None or value <= most)
    )


def _seconds(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and isfinite(value)
        and value >= 0
    )


_SECONDS: Final = (_seconds, "seconds, a number of at least 0")
_TEXT: Final = (_text, "a text")
_ALLOWED: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "text": _TEXT,
    "chunks": (_texts, "a list of texts"),
    "reasoning": _TEXT,
    "calls": (_calls, "a list of objects with name and perhaps arguments and id"),
    "deltas": (_maybe_list, "a list"),
    "events": (_maybe_list, "a list"),
    "usage": (_usage, "an object"),
    "finish_reason": (_maybe_text, "a text"),
    "stream": (lambda value: isinstance(value, bool), "true or false"),
    "status": (lambda value: _whole(value, 200, 599), "a whole number from 200 to 599"),
    "headers": (_headers, "an object of texts in ASCII"),
    "error": (lambda value: True, "anything"),
    "body": (lambda value: _maybe_text(value) or isinstance(value, bytes), "a text"),
    "content_type": (lambda value: value is None or _headers({"": value}), "a text in ASCII"),
    "delay": _SECONDS,
    "first_delay": _SECONDS,
    "chunk_delay": _SECONDS,
    "keep_alive": _SECONDS,
    "split": (lambda value: _whole(value, 0), "a number of bytes, at least 0"),
    "ending": (lambda value: value in get_args(Ending), f"one of {', '.join(get_args(Ending))}"),
    "after": (lambda value: value is None or _whole(value, 0), "a number of events, at least 0"),
}
