"""Inputs that are shown as attachments: by head, tail and IRI, with the whole text kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gh_tui.events import types as ev
from gh_tui.memory.store import TurnStore, full_message
from gh_tui.memory.table import FULL, LEVELS
from gh_tui.memory.tokens import scale

if TYPE_CHECKING:
    from gh_tui.events.values import Phase
    from gh_tui.memory.turn import L1Turn


class AttachmentStore(TurnStore):
    """The turns, of which inputs can become attachments and be shown whole again."""

    def attach(self, iri: str, factor: float = 1.0) -> list[ev.Event]:
        """Show an input as an attachment, by the user's choice; `recall` shows it whole again.

        Returns an empty list if that makes no room: it is not shown, or short, or is one already.
        """
        row = self._row[iri]
        return [self._attach(row, "user", factor)] if self._gain(row, factor) > 0 else []

    def attachable(self, factor: float = 1.0) -> list[tuple[L1Turn, int]]:
        """Inputs that the user could make attachments, with the tokens that each would free.

        The most first; corrected tokens.
        """
        return [(self._turns[row], tokens) for row, tokens in self._attachable(factor)]

    def _attachable(self, factor: float) -> list[tuple[int, int]]:
        """Rows of inputs and what each would free as an attachment, the most and newest first."""
        gains = ((self._gain(row, factor), row) for row in range(len(self)))
        return [(row, gain) for gain, row in sorted(gains, reverse=True) if gain > 0]

    def _gain(self, row: int, factor: float) -> int:
        """Corrected tokens that a row would free as an attachment; 0 if it cannot be one."""
        turn = self._turns[row]
        if turn.role != "user" or turn.attached or turn.fidelity != "full":
            return 0
        _, tokens = self._shown(replace(turn, attached=True))
        return self._table.cost(row, FULL, factor) - scale(tokens, factor)

    def _attach(
        self, row: int, phase: Phase, factor: float, *, attached: bool = True
    ) -> ev.TurnFidelityChanged:
        level, before = LEVELS[self._table.level[row]], self._table.cost(row, FULL, factor)
        self._set_attached(row, attached)
        if attached:
            self._chosen.add(row)
        else:
            self._chosen.discard(row)
        return ev.TurnFidelityChanged(
            iri=self._turns[row].iri,
            before=level,
            after=level,
            phase=phase,
            terms={},
            tokens_freed=before - self._table.cost(row, FULL, factor),
            attached=attached,
            whole=not attached,
        )

    def _detach(
        self, rows: Iterable[int], phase: Phase, factor: float
    ) -> list[ev.TurnFidelityChanged]:
        """Show the attachments among rows whole again, and exempt them."""
        back = [row for row in rows if self._turns[row].attached and row not in self._withdrawn]
        for row in back:
            self._exempt(row)
        return [self._attach(row, phase, factor, attached=False) for row in back]

    def _set_attached(self, row: int, attached: bool) -> None:
        """Show an input as an attachment from now on, or whole again."""
        self._set(row, attached=attached)
        shown, self._table.full[row] = self._shown(self._turns[row])
        self._full[row] = full_message(self._turns[row], shown)
        self._table.revision[row] += 1
