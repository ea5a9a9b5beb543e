"""The vocabulary: everything that can happen in a session, one frozen class each.

The class names and field names are the wire format (`codec`); a trailing underscore keeps a
name clear of a Python keyword and is dropped on the wire. Vectors travel as base64 float16.
Scores are in [0, 1] or None when unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from gh_tui.events.memory import (
    PassFinished,
    PassStarted,
    TurnAdded,
    TurnFidelityChanged,
    TurnPinned,
    TurnScored,
    TurnUnpinned,
)
from gh_tui.events.values import (
    Answer,
    ManifestEntry,
    Outcome,
    ReturnReason,
    Task,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """A live session is wired; `reason` says why this provider was chosen."""

    provider: str
    model: str
    window: int
    window_source: str
    embedder: str
    settings: dict[str, Any]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    """The input `iri` became the task; where a recording does not say which, the first one."""

    task: Task
    by: str
    iri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRefined:
    """The task was edited or re-based."""

    task: Task
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInputReceived:
    """An input was accepted while no task ran, or to run after this one."""

    iri: str
    text: str
    client_id: str | None = None
    attached: bool = False
    """It goes as an attachment: the model sees its head, its tail and its IRI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementaryInputReceived:
    """On the wire `USER_SUPPLEMENTARY_INPUT`: accepted and on disk."""

    id: str
    text: str
    client_id: str | None = None
    attached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementScored:
    """The relevance of an entry that is not yet in L1."""

    id: str
    relevance_score: float | None
    global_sim: float | None
    local_sim: float | None
    basis: str
    embedding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputClassified:
    """The Supervisor put an input (`id` or `iri`) into one of the twelve classes."""

    class_: str
    group: str
    by: str
    id: str | None = None
    iri: str | None = None
    suggested: str | None = None
    standing: bool = False
    related: str | None = None
    """An older standing instruction so near that the user is asked: replaces, adds, unrelated?"""
    answer: Answer | None = None
    """What the user said to that."""
    older: str | None = None
    """The older instruction that the answer is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementInjected:
    """The first request that carries the entry got its 2xx headers."""

    id: str
    iri: str
    cycle: int
    request: int
    content: str | None = None
    """The whole message that carried it, if that says more than the entry does."""
    place: int | None = None
    messages: int | None = None
    """It was message `place` of the `messages` of the request, counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementDeferred:
    """The request that carried the entry failed; the next one carries it."""

    id: str
    iri: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementReturned:
    """The entry went back to the user and will not be sent; a queued input goes by its IRI.

    If it has a turn, no request shows that turn any more.
    """

    id: str
    text: str
    reason: ReturnReason


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPaused:
    """The agent waits between cycles."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResumed:
    """The agent goes on."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleStarted:
    """A cycle of the ReAct loop began."""

    cycle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent:
    """What the model is sent, message by message."""

    request: int
    cycle: int
    purpose: str
    manifest: tuple[ManifestEntry, ...]
    tokens: int
    tokens_basis: Literal["estimated", "confirmed"]
    budget: int
    prefix_kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyDelta:
    """Transient: never recorded, has no `seq`."""

    request: int
    kind: Literal["text", "reasoning"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyProgress:
    """The reply so far, for a reader that comes after a crash."""

    request: int
    text: str
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFinished:
    """`chunks` holds (milliseconds since the request, characters) for each delta of text.

    `first_ms` is how long the server took to the first delta of any kind.
    """

    request: int
    outcome: Literal["complete", "interrupted", "cancelled"]
    text: str
    reasoning: str = ""
    usage: dict[str, int] | None = None
    chunks: tuple[tuple[int, int], ...] = ()
    first_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequested:
    """The model asked for a tool; with `needs_approval`, `preview` shows what would run."""

    call: str
    name: str
    arguments: dict[str, Any]
    needs_approval: bool = False
    preview: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolApproval:
    """An answer to a request for approval."""

    call: str
    decision: Literal["allow", "deny"]
    by: str = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool ended; its result is the turn `iri`."""

    call: str
    name: str
    ok: bool
    iri: str | None
    tokens: int
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassPreviewed:
    """What a pass would do if it ran now, since the user asked; nothing has changed."""

    policy: str
    budget: int
    tokens_before: int
    tokens_after: int
    changes: tuple[TurnFidelityChanged, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceChecked:
    """One round of the topic_coherence_agent."""

    round: int
    similarities: tuple[float | None, ...]
    provisional: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicShiftDetected:
    """A confirmed shift; `boundary` is the first input of the new topic."""

    boundary: str
    similarities: tuple[float | None, ...]
    threshold: float
    rule: str
    proposed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationSuspected:
    """The server reports clearly fewer prompt tokens than were sent; `cleared`: no longer."""

    request: int
    sent: int
    reported: int
    cleared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFailed:
    """A request failed; with `retry_at` it will be tried again."""

    request: int
    kind: str
    message: str
    retry_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the user should know; `client_id` is that of the command that it answers."""

    level: Literal["info", "warning", "error"]
    text: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFinished:
    """The agent stopped working; `text` is its answer or the reason."""

    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """The session was closed."""

    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """A kind this version does not know; kept as it came (`fields` without the envelope)."""

    type: str
    fields: dict[str, Any] = field(default_factory=dict)


DeliveryEvent = SupplementInjected | SupplementDeferred | SupplementReturned
SupplementEvent = SupplementaryInputReceived | SupplementScored | DeliveryEvent
TurnEvent = TurnScored | TurnPinned | TurnUnpinned | TurnFidelityChanged
MemoryEvent = TurnAdded | TurnEvent | PassStarted | PassFinished | PassPreviewed
ReplyEvent = ReplyDelta | ReplyProgress | ReplyFinished
RequestEvent = CycleStarted | RequestSent | ReplyEvent | ProviderFailed | TruncationSuspected
ToolEvent = ToolRequested | ToolApproval | ToolFinished
TaskEvent = TaskStarted | TaskRefined | AgentPaused | AgentResumed | TaskFinished
InputEvent = UserInputReceived | InputClassified | CoherenceChecked | TopicShiftDetected
SessionEvent = SessionStarted | TaskEvent | InputEvent | Notice | SessionEnded
Event = SupplementEvent | MemoryEvent | RequestEvent | ToolEvent | SessionEvent | UnknownEvent
