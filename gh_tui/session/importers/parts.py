"""Pieces that the formats have in common: content parts, call arguments, fields of any type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.source import MalformedError, parse

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_PICTURES: Final = frozenset({"image", "image_url", "input_image"})


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list; nothing if it is not a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def string(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def moment(value: Any) -> str | float | None:
    """A time as it was written."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return value if isinstance(value, str) else None


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts; a picture becomes `[image]`."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    return "\n".join(filter(None, map(_part, content)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = string(mapping(part).get("type"))
    if kind in _PICTURES:
        return "[image]"
    return string(part.get("text")) if kind in _TEXTS else ""


def call_of(call_id: Any, name: Any, arguments: Any) -> ToolCall:
    """A call whose arguments are an object, or the text of one."""
    return ToolCall(string(call_id), string(name) or "tool", _arguments(arguments))


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            parsed = parse(value)
        except MalformedError:
            parsed = None
        return parsed if isinstance(parsed, dict) else {"input": value}
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}
