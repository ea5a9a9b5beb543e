"""Pieces that the formats have in common: content parts, call arguments, fields of any type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.source import MalformedError, parse

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_MARKS: Final = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_asset_pointer": "image",
    "input_audio": "audio",
    "audio": "audio",
    "file": "file",
    "input_file": "file",
    "document": "document",
    "tool_reference": "tool",
}
"""Parts without a text of their own, as they are shown in it."""


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
    """A time as it was written; a number beyond all bounds is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return None
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
    part = mapping(part)
    kind = string(part.get("type") or part.get("content_type"))
    if kind in _TEXTS:
        return string(part.get("text"))
    if kind == "refusal":
        return string(part.get("refusal"))
    if kind == "web_search_result":
        return f"{string(part.get('title'))} {string(part.get('url'))}".strip()
    if kind not in _MARKS:
        return ""
    inner = mapping(part.get("source") or part.get("file"))
    if kind == "document" and inner.get("type") == "text":
        return string(inner.get("data"))
    names = (part.get("title"), part.get("tool_name"), part.get("filename"), inner.get("filename"))
    name = next((name for name in names if isinstance(name, str)), "")
    return f"[{_MARKS[kind]} {name}]" if name else f"[{_MARKS[kind]}]"


def call_of(call_id: Any, name: Any, arguments: Any) -> ToolCall:
    """A call whose arguments are an object, or the text of one."""
    return ToolCall(string(call_id), string(name) or "tool", _arguments(arguments))


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        parsed = parsed_text(value)
        return parsed if isinstance(parsed, dict) else {"input": value}
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}


def parsed_text(text: str) -> Any:
    """The JSON value that a text is, or None."""
    try:
        return parse(text)
    except MalformedError:
        return None
