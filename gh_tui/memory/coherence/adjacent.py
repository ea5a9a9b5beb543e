"""The published rule: two inputs in a row that do not resemble the input before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gh_tui.memory.coherence.types import Shift

if TYPE_CHECKING:
    from collections.abc import Sequence

ADJACENT_THRESHOLD = 0.4


class AdjacentRule:
    """Two consecutive rounds below 0.4 are a shift at the first of them."""

    def __init__(self) -> None:
        self._low: tuple[str, float] | None = None

    @property
    def provisional(self) -> str | None:
        """The input of the first low round, until the next round decides."""
        return self._low[0] if self._low else None

    def restart(self) -> None:
        """Forget the low round; called on a new task."""
        self._low = None

    def observe(self, iri: str, similarities: Sequence[float | None]) -> Shift | None:
        """Take the next input; `similarities` ends with its own, to the input before it."""
        current = similarities[-1]
        if current is None or current >= ADJACENT_THRESHOLD:
            self._low = None
            return None
        if self._low is None:
            self._low = (iri, current)
            return None
        boundary, first = self._low
        self._low = None
        return Shift(boundary, (first, current), ADJACENT_THRESHOLD, "adjacent")
