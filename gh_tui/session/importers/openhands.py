"""OpenHands: a list of actions and observations, each observation with the action it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gh_tui.events.values import ToolCall
from gh_tui.session.importers.parts import call_of, items, mapping, moment, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Turns

_SILENT: Final = frozenset(
    {
        *("change_agent_state", "null", "recall", "start", "initialize"),
        *("condensation", "condensation_request"),
    }
)
_OWN: Final = frozenset(
    {"thought", "translated_ipython_code", "impl_source", "security_risk", "confirmation_state"}
)
"""Arguments that are the program's notes, not the model's."""


def matches(record: dict[str, Any]) -> bool:
    """Whether an item of a list is of this format."""
    return ("action" in record or "observation" in record) and "source" in record


def read(records: Iterable[Any]) -> Turns:
    """The conversation in file order; each action that was carried out is a call."""
    asked: dict[Any, ToolCall] = {}
    for record in _flat(records):
        if "observation" in record:
            cause = record.get("cause")
            call = asked.pop(cause, None) if isinstance(cause, int | str) else None
            if call is not None:
                yield _result(record, call)
            continue
        action = string(record.get("action"))
        if not action or action in _SILENT:
            continue
        turn = _acted(record, action)
        if turn.calls and isinstance(record.get("id"), int | str):
            asked[record["id"]] = turn.calls[0]
        yield turn


def _flat(records: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The events one by one; the second of a pair answers the first."""
    for number, record in enumerate(records):
        if not isinstance(record, list):
            yield mapping(record)
            continue
        action, *answers = list(items(record)) or [{}]
        action = {"id": f"pair-{number}", **action}
        yield action
        for answer in answers:
            yield {**answer, "cause": action["id"]}


def _acted(record: dict[str, Any], action: str) -> ImportedTurn:
    arguments, time = mapping(record.get("args")), moment(record.get("timestamp"))
    text = string(arguments.get("content")) or string(record.get("message"))
    if action == "system":
        return ImportedTurn(role="system", text=text, time=time)
    if action == "message":
        role = record.get("source")
        if role == "user":
            return ImportedTurn(role="user", text=text, time=time)
        return ImportedTurn(role="assistant", text=text, time=time)
    thought = text_of(arguments.get("thought"))
    if action == "finish":
        last = string(arguments.get("final_thought")) or thought or string(record.get("message"))
        return ImportedTurn(role="assistant", text=last, time=time)
    call = _call(record, action, arguments)
    return ImportedTurn(role="assistant", text=thought, calls=(call,), time=time)


def _call(record: dict[str, Any], action: str, arguments: dict[str, Any]) -> ToolCall:
    """The call as the model made it, or else as the program carried it out."""
    about = mapping(record.get("tool_call_metadata"))
    call_id = string(about.get("tool_call_id")) or f"action-{record.get('id')}"
    for choice in items(mapping(about.get("model_response")).get("choices")):
        for call in items(mapping(choice.get("message")).get("tool_calls")):
            if call.get("id") == call_id:
                made = mapping(call.get("function"))
                return call_of(call_id, made.get("name"), made.get("arguments"))
    own = {key: value for key, value in arguments.items() if key not in _OWN}
    return call_of(call_id, about.get("function_name") or action, own)


def _result(record: dict[str, Any], call: ToolCall) -> ImportedTurn:
    extras = mapping(record.get("extras"))
    code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    ok = code == 0 if isinstance(code, int) else None
    return ImportedTurn(
        role="tool",
        text=string(record.get("content")) or string(record.get("message")),
        call_id=call.id,
        name=call.name,
        time=moment(record.get("timestamp")),
        ok=False if record.get("observation") == "error" else ok,
    )
