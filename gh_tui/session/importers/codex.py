"""Codex: a rollout of response items, one per line, each in an envelope or (older) on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.parts import call_of, mapping, moment, string, text_of
from gh_tui.session.importers.source import MalformedError, parse
from gh_tui.session.importers.turns import ImportedTurn, Turns

_ENVELOPES: Final = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
)
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_NOT_SAID: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
)


def matches(record: dict[str, Any]) -> bool:
    """Whether a line is of this format."""
    kind = string(record.get("type"))
    if kind in _ENVELOPES:
        return isinstance(record.get("payload"), dict)
    own = kind == "message" and "role" in record and "content" in record
    return own or "record_type" in record or kind in _CALLS | _RESULTS


def read(records: Iterator[Any]) -> Turns:
    """The conversation in file order; calls of one step are put into one assistant turn."""
    pending: ImportedTurn | None = None
    for record in map(mapping, records):
        item, kind = record, string(record.get("type"))
        if kind in _ENVELOPES:
            if kind != "response_item":
                continue
            item = mapping(record.get("payload"))
        turn = _turn(item, moment(record.get("timestamp")))
        if turn is None:
            continue
        if turn.role == "assistant" and pending is not None and turn.calls:
            pending = replace(pending, calls=pending.calls + turn.calls)
            continue
        if pending is not None:
            yield pending
            pending = None
        if turn.role == "assistant":
            pending = turn
        else:
            yield turn
    if pending is not None:
        yield pending


def _turn(item: dict[str, Any], time: str | float | None) -> ImportedTurn | None:
    kind = string(item.get("type"))
    if kind == "message":
        return _message(item, time)
    if kind in _CALLS:
        return ImportedTurn(role="assistant", text="", calls=(_call(item),), time=time)
    if kind in _RESULTS:
        text, ok = _output(item.get("output"))
        call_id = string(item.get("call_id"))
        return ImportedTurn(role="tool", text=text, call_id=call_id, time=time, ok=ok)
    return None


def _message(item: dict[str, Any], time: str | float | None) -> ImportedTurn | None:
    role, text = item.get("role"), text_of(item.get("content"))
    if role == "assistant":
        return ImportedTurn(role="assistant", text=text, time=time)
    if role == "user" and not text.lstrip().startswith(_NOT_SAID):
        return ImportedTurn(role="user", text=text, time=time)
    if role in ("user", "system", "developer"):
        return ImportedTurn(role="system", text=text, time=time)
    return None


def _call(item: dict[str, Any]) -> ToolCall:
    if item["type"] == "local_shell_call":
        return call_of(item.get("call_id"), "shell", item.get("action"))
    arguments = item.get("arguments", item.get("input"))
    return call_of(item.get("call_id"), item.get("name"), arguments)


def _output(output: Any) -> tuple[str, bool | None]:
    """The text of a result, out of the object in which a shell's result is wrapped."""
    inner = output
    if isinstance(output, str):
        try:
            inner = parse(output)
        except MalformedError:
            return output, None
    wrapped = mapping(inner)
    text = wrapped.get("output", wrapped.get("content"))
    if text is None:
        return (output if isinstance(output, str) else text_of(output)), None
    code = mapping(wrapped.get("metadata")).get("exit_code")
    success = wrapped.get("success")
    ok = code == 0 if isinstance(code, int) else success if isinstance(success, bool) else None
    return text_of(text), ok
