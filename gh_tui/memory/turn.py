"""A turn: one entry of the session, and the name under which it can always be found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gh_tui.events.values import Fidelity, Role, ToolCall
from gh_tui.memory import tokens as token_count
from gh_tui.memory.summary import summarise, summarise_result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_IRI: Final = re.compile(r"iri://session/([^/\s]+)/turn/(\d+)")


def iri_for(session: str, number: int) -> str:
    """The IRI of turn `number` (from 1) of a session."""
    return f"iri://session/{session}/turn/{number}"


def number_of(iri: str) -> int:
    """The turn's number in an IRI.

    Raises:
        ValueError: the text is not the IRI of a turn.
    """
    found = _IRI.fullmatch(iri)
    if found is None:
        raise ValueError(f"not the IRI of a turn: {iri!r}")
    return int(found[2])


def iris_in(text: str) -> list[str]:
    """All IRIs of turns that a text names, in order."""
    return [found[0] for found in _IRI.finditer(text)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class L1Turn:
    """One user input, assistant message or tool result, and how the model sees it."""

    iri: str
    role: Role
    text: str
    """The whole text, whatever a request shows of it."""
    summary: str
    """One line without role or IRI."""
    tokens: int
    """`tokens.count_message` of the whole turn, uncorrected."""
    created_at: float
    """Seconds on the session's clock."""
    last_access: float
    """Seconds on the session's clock: creation, recall, pin, undo, opening, named in a call."""
    embedding: NDArray[np.float32] | None = None
    """float32[dim], or None where there is none."""
    relevance_score: float | None = None
    """In [0, 1]; None is unknown."""
    is_task: bool = False
    is_supplement: bool = False
    standing: bool = False
    attached: bool = False
    """An input that is shown as head, tail and IRI; `text` is the whole of it."""
    pinned: bool = False
    demoted: bool = False
    """The user made a supplement or standing instruction an ordinary turn."""
    replaced_by: str | None = None
    """The IRI of the instruction that replaces this one."""
    withdrawn: bool = False
    """The user took it back: the model never sees it (again)."""
    fidelity: Fidelity = "full"
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    provider_blocks: tuple[dict[str, Any], ...] = ()

    @property
    def number(self) -> int:
        """The turn's number within the session, from 1."""
        return number_of(self.iri)

    @property
    def instructs(self) -> bool:
        """It stands as an instruction of the user: supplement or standing, still in force."""
        wanted = self.is_supplement or self.standing
        left = self.demoted or self.withdrawn or self.replaced_by is not None
        return wanted and not left

    @property
    def guarded(self) -> bool:
        """The program never masks, compresses or archives it."""
        pinned = self.pinned and self.replaced_by is None
        return not self.withdrawn and (self.is_task or pinned or self.instructs)


def new_turn(
    iri: str,
    role: Role,
    text: str,
    *,
    created_at: float,
    summary: str | None = None,
    ok: bool | None = None,
    calls: tuple[ToolCall, ...] = (),
    call_id: str | None = None,
    name: str | None = None,
    provider_blocks: tuple[dict[str, Any], ...] = (),
    is_task: bool = False,
    is_supplement: bool = False,
    standing: bool = False,
    attached: bool = False,
) -> L1Turn:
    """Make a turn with its summary line and token count.

    `created_at` is in seconds on the session's clock. `summary` is a line from elsewhere (a
    recording, a model); None extracts one. `ok` says of a tool result whether the tool
    succeeded, if that is known.
    """
    if summary is None:
        summary = summarise_result(text, ok=ok) if role == "tool" else summarise(text)
    return L1Turn(
        iri=iri,
        role=role,
        text=text,
        summary=summary,
        tokens=token_count.count_message(text, calls, provider_blocks),
        created_at=created_at,
        last_access=created_at,
        is_task=is_task,
        is_supplement=is_supplement,
        standing=standing,
        attached=attached,
        calls=calls,
        call_id=call_id,
        name=name,
        provider_blocks=provider_blocks,
    )
