"""Receipts: what became of each supplement and of each queued input, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from gh_tui.events.state import SessionState
from gh_tui.text import one_line
from gh_tui.tui.cells import fit
from gh_tui.tui.ink import DIM
from gh_tui.tui.widgets.receipt_words import (
    QueuedInput,
    Receipt,
    class_words,
    notes,
    receipt_words,
    receipts_of,
    short_id,
)

FEW = 3
"""Entries while it is not opened."""
_INDENT = 4
"""Cells in front of what the user may decide."""
_STATE = 34
_STATE_NARROW = 26
"""Cells at most of the way of an entry, in a wide and in a narrow pane."""
_SCORE = 6
_CLASS = 15
_WIDE = 110


class Receipts(Static, can_focus=True):
    """The newest supplements with their state, and inputs that wait for the next task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("enter", "open", "message"),
        Binding("e", "act('edit')", "edit"),
        Binding("w", "act('withdraw')", "withdraw"),
        Binding("a", "act('accept')", "accept"),
        Binding("p", "act('pin')", "pin"),
        Binding("o", "act('unpin')", "ordinary"),
        Binding("r", "act('replaces')", "replaces", show=False),
        Binding("d", "act('adds')", "adds", show=False),
        Binding("u", "act('unrelated')", "unrelated", show=False),
    ]

    class Act(Message):
        """A key on the selected receipt."""

        def __init__(self, action: str, entry: Receipt) -> None:
            super().__init__()
            self.action = action
            self.entry = entry

    def __init__(self) -> None:
        super().__init__(id="receipts")
        self.opened = False
        self.selected: str | None = None
        self._state = SessionState()
        self._entries: list[Receipt] = []
        self._settled: set[str] = set()
        self._drawn: list[Content] = []

    def show(self, state: SessionState) -> None:
        """Draw the receipts of a state."""
        self._state, self._entries = state, receipts_of(state)
        self.redraw()

    def settle(self) -> None:
        """A new input begins: what has been delivered or returned need not be shown any more."""
        self._settled = {e.id for e in self._entries if not _waits(e)}

    def toggle(self) -> None:
        """All receipts, or only the newest."""
        self.opened = not self.opened
        self.redraw()

    def redraw(self) -> None:
        """Draw the lines that fit."""
        lines = self._lines()
        if lines != self._drawn:
            self._drawn = lines
            self.display = bool(lines)
            self.update(Content("\n").join(lines))

    def on_resize(self) -> None:
        """The text column takes what is left."""
        self.redraw()

    def watch_has_focus(self, value: bool) -> None:
        """With the focus comes a selection, the newest; without it there is none to be seen."""
        super().watch_has_focus(value)
        shown = self.shown
        if value and shown and self.selected not in {entry.id for entry in shown}:
            self.selected = shown[-1].id
        self.redraw()

    @property
    def shown(self) -> list[Receipt]:
        """The entries that can have a line now, oldest first."""
        if self.opened:
            return self._entries
        fresh = [entry for entry in self._entries if entry.id not in self._settled]
        ranked = sorted(range(len(fresh)), key=lambda i: (_waits(fresh[i]), i))
        return [fresh[index] for index in sorted(ranked[-FEW:])]  # what waits goes first

    def _lines(self) -> list[Content]:
        shown = self.shown
        if not shown:
            return []
        width = self.size.width or 76
        blocks = self._blocks(shown, width)
        first, end = self._window(shown, blocks)
        lines = [line for block in blocks[first:end] for line in block]
        unseen = sum(map(_waits, self._entries)) - sum(map(_waits, shown[first:end]))
        if self.opened and first:
            lines.insert(0, Content.styled(f"  {first} earlier", DIM))
        if self.opened and end < len(blocks):
            lines.append(Content.styled(f"  {len(blocks) - end} later", DIM))
        if not self.opened and unseen:
            lines.append(Content.styled(f"  {unseen} more that wait: F5 shows all", DIM))
        return [line.truncate(width, ellipsis=True) for line in lines]

    def _window(self, shown: Sequence[Receipt], blocks: list[list[Content]]) -> tuple[int, int]:
        """From which entry to which there is room: the newest, or from the selected one on."""
        room = max(FEW, self.screen.size.height // 2 - 6) if self.is_attached else FEW
        first = end = len(blocks)
        while first > 0 and sum(map(len, blocks[first - 1 : end])) <= room:
            first -= 1
        ids = [entry.id for entry in shown]
        chosen = ids.index(self.selected) if self.selected in ids else len(ids) - 1
        if chosen < first:
            first, end = chosen, chosen + 1
            while sum(map(len, blocks[first : end + 1])) <= room:
                end += 1
        return first, end

    def _blocks(self, shown: Sequence[Receipt], width: int) -> list[list[Content]]:
        """For each entry its line and what the user may decide about it."""
        most = _STATE if width >= _WIDE else _STATE_NARROW
        cells = min(most, 2 + max(cell_len(receipt_words(entry)) for entry in shown))
        return [[self._line(entry, cells), *self._notes(entry, width)] for entry in shown]

    def _notes(self, entry: Receipt, width: int) -> list[Content]:
        chosen = entry.id == self.selected
        keys = notes(
            entry,
            self._state,
            width - _INDENT,
            ("now" if chosen else "none") if self.has_focus else "after F5",
        )
        return [Content.assemble(" " * _INDENT, (line, "$warning")) for line in keys]

    def _line(self, entry: Receipt, state_cells: int) -> Content:
        chosen = self.has_focus and entry.id == self.selected
        mark, style = _mark(entry)
        return Content.assemble(
            ("› " if chosen else "  ", "$accent"),
            (f"{mark} ", style),
            (fit(short_id(entry.id), 5), DIM),
            column(receipt_words(entry), state_cells),
            self._understood(entry),
            Content(one_line(entry.text)),
        )

    def _understood(self, entry: Receipt) -> Content:
        """Score and class; of a queued input, when it runs."""
        if isinstance(entry, QueuedInput):
            return column(entry.state, _SCORE + _CLASS)
        score = " –  " if entry.relevance_score is None else f"{entry.relevance_score:.2f}"
        class_ = class_words(entry, self._state.turns.get(entry.iri or ""))
        return Content.assemble((f"{score}  ", DIM), column(class_, _CLASS))

    def action_move(self, step: int) -> None:
        """Select another line."""
        ids = [entry.id for entry in self.shown]
        if not ids:
            return
        index = ids.index(self.selected) if self.selected in ids else len(ids)
        self.selected = ids[max(0, min(len(ids) - 1, index + step))]
        self.redraw()

    def action_open(self) -> None:
        """Open the message."""
        self.action_act("open")

    def action_act(self, action: str) -> None:
        """Tell the screen."""
        for entry in self._entries:
            if entry.id == self.selected:
                self.post_message(self.Act(action, entry))


def column(text: str, cells: int) -> Content:
    """A text in a column of `cells` cells, the last two of them free."""
    return Content(fit(text, cells - 2) + "  ")


def _waits(entry: Receipt) -> bool:
    return isinstance(entry, QueuedInput) or entry.status in ("pending", "taken")


def _mark(entry: Receipt) -> tuple[str, str]:
    if isinstance(entry, QueuedInput):
        return "○", "$warning"
    match entry.status:
        case "pending":
            return "○", "$warning"
        case "taken":
            return "◐", "$warning"
        case "injected":
            return "●", "$success"
        case "returned":
            return "↩", DIM
