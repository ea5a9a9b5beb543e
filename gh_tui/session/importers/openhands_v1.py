"""OpenHands' SDK: events that name their kind; an observation names the action it answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gh_tui.session.importers.parts import call_of, mapping, moment, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Turns

_ANSWERS: Final = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})


def matches(record: dict[str, Any]) -> bool:
    """Whether an event is of this format."""
    kind = string(record.get("kind"))
    return "source" in record and (kind.endswith("Event") or kind in _ANSWERS)


def read(records: Iterable[Any]) -> Turns:
    """The conversation in file order; that the agent finishes is what it says, and no call."""
    finished: set[str] = set()
    for event in map(mapping, records):
        kind, time = string(event.get("kind")), moment(event.get("timestamp"))
        if kind == "SystemPromptEvent":
            text = text_of(event.get("system_prompt"))
            yield ImportedTurn(role="system", text=text, time=time)
        elif kind == "MessageEvent":
            said = mapping(event.get("llm_message"))
            text = text_of(said.get("content"))
            by_user = said.get("role", event.get("source")) == "user"
            yield ImportedTurn(role="user" if by_user else "assistant", text=text, time=time)
        elif kind == "ActionEvent":
            turn = _acted(event)
            if not turn.calls:
                finished.add(_call_id(event))
            yield turn
        elif kind in _ANSWERS and _call_id(event) not in finished:
            yield _result(event)


def _call_id(event: dict[str, Any]) -> str:
    own = string(mapping(event.get("tool_call")).get("id"))
    return own or string(event.get("tool_call_id")) or string(event.get("action_id"))


def _acted(event: dict[str, Any]) -> ImportedTurn:
    thought, time = text_of(event.get("thought")), moment(event.get("timestamp"))
    action, made = mapping(event.get("action")), mapping(event.get("tool_call"))
    if action.get("kind") == "FinishAction":
        text = "\n".join(filter(None, (thought, string(action.get("message")))))
        return ImportedTurn(role="assistant", text=text, time=time)
    function = mapping(made.get("function")) or made
    own = {key: value for key, value in action.items() if key != "kind"}
    call = call_of(
        _call_id(event) or event.get("id"),
        function.get("name", event.get("tool_name")),
        function.get("arguments", own),
    )
    return ImportedTurn(role="assistant", text=thought, calls=(call,), time=time)


def _result(event: dict[str, Any]) -> ImportedTurn:
    seen = mapping(event.get("observation"))
    text = text_of(seen.get("content")) or text_of(seen.get("output"))
    text = text or string(event.get("error")) or string(event.get("rejection_reason"))
    failed, code = seen.get("is_error"), seen.get("exit_code")
    ok = code == 0 if isinstance(code, int) else None
    if failed is True or event.get("kind") != "ObservationEvent":
        ok = False
    return ImportedTurn(
        role="tool",
        text=text,
        call_id=_call_id(event),
        name=string(event.get("tool_name")) or None,
        time=moment(event.get("timestamp")),
        ok=ok,
    )
