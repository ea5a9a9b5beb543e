"""Codex: a rollout of response items, one per line, each in an envelope or (older) on its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.parts import call_of, mapping, moment, parsed_text, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Reply, Turns

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
_ELEMENTS: Final = ("user_shell_command", "skill")
_REPORT: Final = ("Exit code:", "Chunk ID:", "Wall time:", "Process exited")
_EXIT: Final = re.compile(
    r"^(?:Exit code: |Process exited with code )(-?\d{1,9})\s*$", re.MULTILINE
)
_REPORT_LENGTH: Final = 500
"""Characters that hold what a shell's report says before the output."""


def matches(record: dict[str, Any]) -> bool:
    """Whether a line is of this format."""
    kind = string(record.get("type"))
    if kind in _ENVELOPES:
        return isinstance(record.get("payload"), dict)
    own = kind == "message" and "role" in record and "content" in record
    return own or "record_type" in record or kind in _CALLS | _RESULTS


def read(records: Iterable[Any]) -> Turns:
    """The conversation as it ended, in file order; calls of one step are one assistant turn.

    A file without messages of the model is read from the messages that were shown.
    """
    turns: list[ImportedTurn] = []
    shown: list[ImportedTurn] = []
    reply = Reply()
    for record in map(mapping, records):
        kind, time = string(record.get("type")), moment(record.get("timestamp"))
        item = mapping(record.get("payload")) if kind in _ENVELOPES else record
        if kind == "event_msg":
            if (back := _turns_back(item)) > 0:
                turns.extend(reply.finish())
                _go_back(turns, back)
                _go_back(shown, back)
            shown.extend(_shown(item, time))
        elif kind == "response_item" or kind not in _ENVELOPES:
            turns.extend(_taken_up(item, time, reply))
    turns.extend(reply.finish())
    heard = any(turn.role in ("user", "assistant") for turn in turns)
    yield from turns if heard else turns + shown


def _taken_up(item: dict[str, Any], time: str | float | None, reply: Reply) -> Turns:
    kind = string(item.get("type"))
    if kind in _CALLS:
        reply.begin(time)
        reply.ask(_call(item))
    elif kind in _RESULTS:
        yield from reply.finish()
        text, ok = _output(item.get("output"))
        call_id = string(item.get("call_id"))
        yield ImportedTurn(role="tool", text=text, call_id=call_id, time=time, ok=ok)
    elif kind == "message" and item.get("role") == "assistant":
        yield from reply.finish()
        reply.begin(time)
        reply.say(text_of(item.get("content")))
    elif kind == "message" and item.get("role") in ("user", "system", "developer"):
        yield from reply.finish()
        yield from _told(item, time)


def _told(item: dict[str, Any], time: str | float | None) -> Turns:
    """What the model was told: each part is the user's, or the program's under that name."""
    content = item.get("content")
    parts = [text_of([part]) for part in (content if isinstance(content, list) else [content])]
    by_user = item["role"] == "user"
    said = [part for part in parts if by_user and part and not _is_machinery(part)]
    told = [part for part in parts if part and not (by_user and not _is_machinery(part))]
    if told:
        yield ImportedTurn(role="system", text="\n".join(told), time=time)
    if said:
        yield ImportedTurn(role="user", text="\n".join(said), time=time)


def _is_machinery(text: str) -> bool:
    text = text.strip()
    if text.startswith(_NOT_SAID):
        return True
    return any(text.startswith(f"<{tag}>") and text.endswith(f"</{tag}>") for tag in _ELEMENTS)


def _shown(event: dict[str, Any], time: str | float | None) -> Turns:
    text = string(event.get("message"))
    match event.get("type"):
        case "user_message" if text:
            yield ImportedTurn(role="user", text=text, time=time)
        case "agent_message" if text:
            yield ImportedTurn(role="assistant", text=text, time=time)
        case _:
            pass


def _turns_back(event: dict[str, Any]) -> int:
    count = event.get("num_turns") if event.get("type") == "thread_rolled_back" else None
    return count if isinstance(count, int) else 0


def _go_back(turns: list[ImportedTurn], count: int) -> None:
    """Drop the last inputs of the user and all that followed them."""
    start = len(turns)
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role == "user":
            start, count = place, count - 1
            if count == 0:
                break
    del turns[start:]


def _call(item: dict[str, Any]) -> ToolCall:
    if item["type"] == "local_shell_call":
        return call_of(item.get("call_id"), "shell", item.get("action"))
    arguments = item.get("arguments", item.get("input"))
    return call_of(item.get("call_id"), item.get("name"), arguments)


def _output(output: Any) -> tuple[str, bool | None]:
    """The text of a result, out of the object in which a shell's result may be wrapped."""
    wrapped = mapping(parsed_text(output) if isinstance(output, str) else output)
    for key, beside in (("output", "metadata"), ("content", "success")):
        inner = wrapped.get(key)
        if wrapped.keys() <= {key, beside} and _is_content(inner):
            text = text_of(inner)
            return text, _succeeded(wrapped, text)
    if isinstance(output, dict):
        return text_of(output) or json.dumps(output, ensure_ascii=False), None
    text = text_of(output)
    return text, _succeeded({}, text)


def _is_content(value: Any) -> bool:
    """Whether a value is a text, or a list of parts of a message."""
    if isinstance(value, list):
        return bool(value) and all("type" in mapping(part) for part in value)
    return isinstance(value, str)


def _succeeded(wrapped: dict[str, Any], text: str) -> bool | None:
    code, success = mapping(wrapped.get("metadata")).get("exit_code"), wrapped.get("success")
    if isinstance(code, int):
        return code == 0
    if isinstance(success, bool):
        return success
    report = text[:_REPORT_LENGTH].partition("\nOutput:")[0] if text.startswith(_REPORT) else ""
    found = _EXIT.search(report)
    return None if found is None else int(found[1]) == 0
