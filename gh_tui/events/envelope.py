"""An event with its place in a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gh_tui.events.types import Event

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Envelope:
    """One event as published, recorded and replayed."""

    seq: int | None
    """Counts from 1 without gaps; None for what is never recorded (`ReplyDelta`)."""
    time: str
    """RFC 3339, UTC."""
    session: str
    event: Event
