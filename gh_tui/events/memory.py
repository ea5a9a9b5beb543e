"""What happens to turns and to the memory that holds them; `types` has the whole vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gh_tui.events.values import Fidelity, Phase, Role, ToolCall, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAdded:
    """A turn is in L1; `supplement` names the entry it was made from, if any."""

    iri: str
    role: Role
    text: str
    summary: str
    tokens: int
    is_supplement: bool = False
    standing: bool = False
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    provider_blocks: tuple[dict[str, Any], ...] = ()
    supplement: str | None = None
    name: str | None = None
    attached: bool = False
    """An input of which the model sees head, tail and IRI; `text` is the whole of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnScored:
    """The relevance of a turn in L1."""

    iri: str
    relevance_score: float | None
    global_sim: float | None
    local_sim: float | None
    basis: str
    embedding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPinned:
    """The user protects a turn."""

    iri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUnpinned:
    """The user lifts a protection."""

    iri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFidelityChanged:
    """How much of a turn the model sees has changed, and by which rule."""

    iri: str
    before: Fidelity
    after: Fidelity
    phase: Phase
    terms: dict[str, float | None]
    tokens_freed: int
    pass_: int | None = None
    attached: bool = False
    """From now on it is shown as an attachment, which is its full form then."""
    whole: bool = False
    """It was an attachment, and is shown whole from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassStarted:
    """A pass began; its fields and the turns before it determine its outcome."""

    pass_: int
    trigger: Trigger
    policy: str
    config: dict[str, Any]
    now: float
    query_iri: str | None
    budget: int
    tokens_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassFinished:
    """A pass ended; tokens of the assembled context, and of its unchanged prefix."""

    pass_: int
    tokens_after: int
    prefix_kept: int
