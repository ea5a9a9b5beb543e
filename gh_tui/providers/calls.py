"""Tool calls put together from the fragments of a stream."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, NoReturn

from gh_tui.events.values import ToolCall


@dataclass(slots=True)
class _Slot:
    """A call whose fragments are still coming."""

    index: int | None
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    mixed: bool = False
    """A fragment came that could belong to another call as well."""


class CallAssembler:
    """Tool calls put together from fragments by index and id; never merged, never guessed.

    A fragment continues the call with its id, else the latest with its index, else the latest
    of all. It opens a new call where it carries another id with a name, or a name that the
    call cannot have.
    """

    def __init__(self) -> None:
        self._slots: list[_Slot] = []

    def add(self, fragment: dict[str, Any]) -> None:
        """Add one element of a delta's `tool_calls`."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        slot = self._slot(fragment, name)
        if isinstance(name, str) and name:
            slot.name = name
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            slot.arguments.append(arguments)

    def result(self, *, cut: bool) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began.

        Args:
            cut: the answer ended at its length limit.
        """
        calls: list[ToolCall] = []
        ids: set[str] = set()
        for slot in self._slots:
            # Results are matched by id, so each call needs one of its own.
            call_id = slot.id if slot.id and slot.id not in ids else f"call_{uuid.uuid4().hex[:16]}"
            ids.add(call_id)
            calls.append(_call(slot, call_id, cut=cut))
        return tuple(calls)

    def _slot(self, fragment: dict[str, Any], name: Any) -> _Slot:
        given = fragment.get("id")
        call_id = given if isinstance(given, str) else ""
        number = fragment.get("index")
        index = number if isinstance(number, int) and not isinstance(number, bool) else None
        known = next((s for s in reversed(self._slots) if call_id and s.id == call_id), None)
        if known and (index is None or known.index in (None, index)):
            return known
        latest = self._latest(index)
        if latest is None or _begins(latest, call_id, name, indexed=index is not None):
            latest = _Slot(index=index, id=call_id)
            self._slots.append(latest)
        elif index is None and not call_id and len(self._slots) > 1:
            self._mark_mixed()
        latest.id = latest.id or call_id
        return latest

    def _latest(self, index: int | None) -> _Slot | None:
        for slot in reversed(self._slots):
            if index is None or slot.index == index:
                return slot
        return None

    def _mark_mixed(self) -> None:
        """A nameless fragment while several calls are open could belong to any of them."""
        waiting = [slot for slot in self._slots if _parsed(slot) is None]
        if len(waiting) > 1:
            for slot in waiting:
                slot.mixed = True


def _begins(slot: _Slot, call_id: str, name: Any, *, indexed: bool) -> bool:
    """Whether a fragment with this id and name cannot continue `slot`."""
    if call_id and slot.id and call_id != slot.id:
        # Some servers make up a new id for each fragment; those carry an index and no name.
        return name is not None or not indexed
    if not isinstance(name, str) or not name or not slot.name:
        return False
    return name != slot.name or _parsed(slot) is not None


def _parsed(slot: _Slot) -> dict[str, Any] | None:
    """The arguments if they are one JSON object that can be written down again."""
    try:
        value = json.loads(without_surrogates("".join(slot.arguments)), parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def without_surrogates(text: str) -> str:
    """`text` with surrogate pairs joined and single ones replaced: escapes in JSON may split."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _call(slot: _Slot, call_id: str, *, cut: bool) -> ToolCall:
    arguments = _parsed(slot)
    error = None
    if slot.mixed:
        error = "the pieces of several tool calls came mixed and cannot be told apart"
    elif not slot.name:
        error = "the tool call has no name"
    elif arguments is None:
        raw = "".join(slot.arguments)
        if not raw.strip():
            error = "the tool call came without arguments; an object is needed, at least {}"
        elif cut:
            error = "the answer reached its length limit inside the arguments of this call"
        else:
            start = raw if len(raw) <= 80 else raw[:79] + "…"
            error = f"the arguments are not one JSON object: {start}"
    return ToolCall(
        id=call_id, name=slot.name, arguments={} if error else arguments or {}, error=error
    )
