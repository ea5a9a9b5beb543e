"""Tool calls that a model wrote into its answer instead of calling."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gh_tui.events.values import ToolCall

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_MARKS = re.compile(
    r"<tool_calls?>|\[TOOL_CALLS\]|<\|python_tag\|>|<function=(?P<name>[\w.-]+)>"
    r"|```[ \t]*(?:json|tool_call|tool)?[ \t]*\n"
)
_NAME_KEYS = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
_DECODER = json.JSONDecoder()


def calls_in_text(text: str, tool_names: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls of known tools that `text` spells out, in order; none for ordinary text.

    Recognised is JSON with a tool's name and an object of arguments, as the whole answer, in a
    code block, or behind a mark that model families use (`<tool_call>`, `[TOOL_CALLS]`,
    `<|python_tag|>`, `<function=name>`). JSON in running text is not a call.

    The ids are `text-1`, `text-2`, ...: unique within one answer only.
    """
    starts = [(found.end(), found["name"]) for found in _MARKS.finditer(text)]
    if text.lstrip().startswith(("{", "[")):
        starts.insert(0, (0, None))
    found: list[tuple[str, dict[str, Any]]] = []
    done = 0
    for start, name in starts:
        if start < done:
            continue
        for value, end in _values(text, start):
            found += _calls(value, name, tool_names)
            done = end
    return tuple(
        ToolCall(id=f"text-{number}", name=name, arguments=arguments)
        for number, (name, arguments) in enumerate(found, 1)
    )


def _values(text: str, start: int) -> Iterator[tuple[Any, int]]:
    """JSON objects or arrays that follow one another from `start`, with the end of each."""
    while True:
        while start < len(text) and (text[start].isspace() or text[start] in ",;"):
            start += 1
        if text[start : start + 1] not in ("{", "["):
            return
        try:
            value, start = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield value, start


def _calls(
    value: Any, name: str | None, tool_names: Collection[str]
) -> list[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        return [call for item in value for call in _calls(item, None, tool_names)]
    if not isinstance(value, dict):
        return []
    if name is not None:
        return [(name, value)] if name in tool_names else []
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    written = next((value[key] for key in _NAME_KEYS if key in value), None)
    if not isinstance(written, str) or written not in tool_names:
        return []
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return []
    return [(written, arguments)] if isinstance(arguments, dict) else []
