"""What a session's state is made of: turns, receipts, tool calls and passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from gh_tui.events import types as ev
from gh_tui.events.values import Answer, Fidelity, Role, ToolCall

SupplementStatus = Literal["pending", "taken", "injected", "returned"]
ToolStatus = Literal["waiting", "running", "done", "failed", "denied"]


@dataclass(slots=True)
class TurnState:
    """One entry of the timeline."""

    iri: str
    role: Role
    text: str
    summary: str
    tokens: int
    time: str
    is_supplement: bool = False
    standing: bool = False
    attached: bool = False
    """The model sees its head, its tail and its IRI."""
    pinned: bool = False
    demoted: bool = False
    """The user made a supplement or standing instruction an ordinary turn."""
    fidelity: Fidelity = "full"
    relevance_score: float | None = None
    global_sim: float | None = None
    local_sim: float | None = None
    basis: str = ""
    class_: str | None = None
    related: str | None = None
    """An older instruction that this one may replace, until the user says."""
    answer: Answer | None = None
    """What the user said of this instruction and the `older` one; `unrelated` links nothing."""
    older: str | None = None
    withdrawn: bool = False
    """The user took it back before a request had carried it."""
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    last_change: ev.TurnFidelityChanged | None = None
    """Why it is at its present fidelity."""


@dataclass(slots=True)
class SupplementState:
    """The receipt of one supplement."""

    id: str
    text: str
    time: str
    status: SupplementStatus = "pending"
    iri: str | None = None
    cycle: int | None = None
    request: int | None = None
    """The request that first carried it."""
    carrier: ev.SupplementInjected | None = None
    """How that request carried it."""
    last_request: int | None = None
    """The latest request that carried it."""
    kept_through: int | None = None
    """The latest pass that it came through."""
    relevance_score: float | None = None
    basis: str = ""
    class_: str | None = None
    suggested: str | None = None
    related: str | None = None
    answer: Answer | None = None
    older: str | None = None
    deferred: str | None = None
    returned: str | None = None
    attached: bool = False
    """It goes as an attachment."""


@dataclass(slots=True)
class ToolState:
    """One tool call from request to result."""

    call: str
    name: str
    arguments: dict[str, Any]
    status: ToolStatus
    preview: str = ""
    iri: str | None = None
    error: str | None = None


@dataclass(slots=True)
class PassState:
    """One pass: what it was asked to do and what it did."""

    pass_: int
    trigger: str
    policy: str
    budget: int
    tokens_before: int
    tokens_after: int | None = None
    prefix_kept: int | None = None
    changes: list[ev.TurnFidelityChanged] = field(default_factory=list)
