"""Values that events are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["user", "assistant", "tool"]
Fidelity = Literal["full", "masked", "summary", "archived"]
Phase = Literal["mask", "threshold", "fusion", "topic", "user", "undo", "recall"]
Trigger = Literal["watermark", "messages", "topic", "command", "overflow", "eager"]
Part = Literal["system", "task", "turn", "standing"]
ReturnReason = Literal["escape", "cancel", "withdrawn", "replaced"]
Answer = Literal["replaces", "adds", "unrelated"]
Outcome = Literal["done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Task:
    """A task as 5W2H; only `what` is required."""

    what: str
    why: str = ""
    who: str = ""
    when: str = ""
    where: str = ""
    how: str = ""
    how_much: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for; `error` is set when it must not run."""

    id: str
    name: str
    arguments: dict[str, Any]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One message of a request: where its text came from and what it cost."""

    iri: str | None
    part: Part
    role: str
    fidelity: Fidelity
    tokens: int
