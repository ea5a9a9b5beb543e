"""Inputs that are too large to be sent whole: when they are offered as attachments, in words.

An attachment is kept whole like any input; the model sees its head, its tail and its IRI, and
can read all of it with recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gh_tui.events import types as ev
from gh_tui.memory.turn import number_of

SHARE: Final = 0.15
"""Share of the budget above which an input is offered as an attachment."""
SHOWN: Final = 0.05
"""Share of the budget that an attachment shows."""


@dataclass(frozen=True, slots=True)
class Oversize:
    """A text above the share."""

    tokens: int
    """Corrected."""
    budget: int
    fits: bool
    """It could be sent whole: what no pass may take leaves room for it."""

    @property
    def words(self) -> str:
        """How large it is, such as `5,004 tokens, 183 % of the budget`."""
        return f"{self.tokens:,} tokens, {100 * self.tokens // max(1, self.budget)} % of the budget"


def oversize(tokens: int, budget: int, room: int) -> Oversize | None:
    """Measure an input; None if it may be sent as it is.

    Args:
        tokens: of the input, corrected.
        budget: tokens that passes work for.
        room: tokens that a request has besides its fixed parts.
    """
    if tokens <= SHARE * budget:
        return None
    return Oversize(tokens, budget, tokens <= room)


def shown_tokens(budget: int, most: int) -> int:
    """How much of an attachment is shown, in tokens, at most `most`."""
    return min(most, max(1, int(SHOWN * budget)))


def attaches(found: Oversize | None, asked: bool) -> bool:
    """Whether an input goes as an attachment: it was asked for, or it does not fit whole."""
    return asked or (found is not None and not found.fits)


def told_attached(iris: Sequence[str]) -> ev.Notice:
    """What the user hears of inputs that a pass shows as attachments.

    Args:
        iris: at least one turn.
    """
    turns = ", ".join(f"turn {number_of(iri)}" for iri in iris)
    return ev.Notice(
        level="warning",
        text="The request would not fit. Shown as attachment from now on, by head, tail and IRI: "
        f"{turns}. The agent can read all of it with recall; /undo or /recall shows it whole "
        "again.",
    )


def told(name: str, found: Oversize) -> ev.Notice:
    """What the user hears of an input that went as an attachment unasked."""
    return ev.Notice(
        level="info",
        text=f"{name} has {found.words} and does not fit whole: it goes as an attachment. "
        "The model sees its head, its tail and its IRI, and can read all of it with recall.",
    )
