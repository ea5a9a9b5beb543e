"""The L1 timeline: one line per turn, and a line for each pass."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.cells import fit
from gh_tui.tui.widgets import reasons, row
from gh_tui.tui.widgets.ledger import FILTERS, Ledger, Line, Update

Action = Literal["open", "pin", "unpin", "recall", "undo", "preview"]

_MANY = 4000
"""Drawn lines that are kept before the store is emptied."""


class Timeline(ScrollView, can_focus=True):
    """What the model remembers, turn by turn; only the visible lines are ever drawn.

    The first two lines (totals, column names) and the last two (the selected turn) stay in
    place, fewer of them in a low pane; the turns scroll between them.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "timeline--archived",
        "timeline--assistant",
        "timeline--back",
        "timeline--changed",
        "timeline--cursor",
        "timeline--dim",
        "timeline--filter",
        "timeline--full",
        "timeline--header",
        "timeline--high",
        "timeline--low",
        "timeline--mark",
        "timeline--masked",
        "timeline--oldpass",
        "timeline--pass",
        "timeline--preview",
        "timeline--reason",
        "timeline--selected",
        "timeline--strip",
        "timeline--summary",
        "timeline--text",
        "timeline--tool",
        "timeline--track",
        "timeline--user",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Newest", show=False),
        Binding("enter", "act('open')", "Open"),
        Binding("p", "pin", "Pin"),
        Binding("r", "act('recall')", "Recall"),
        Binding("u", "act('undo')", "Undo pass"),
        Binding("v", "act('preview')", "Preview pass"),
        Binding("f", "filter", "Filter"),
    ]

    class Act(Message):
        """The user asks for something to be done with a turn; the IRI is empty if there is none."""

        def __init__(self, action: Action, iri: str) -> None:
            super().__init__()
            self.action = action
            self.iri = iri

    def __init__(self) -> None:
        super().__init__()
        self._ledger = Ledger()
        self._selected: Line | None = None
        self._following = True
        self._now = ""
        self._settling = False
        self._moving = False
        self._drawn: dict[Line, tuple[object, Strip]] = {}
        self._inks: dict[tuple[str, str], Style] = {}

    @property
    def selected_iri(self) -> str | None:
        """The turn under the cursor."""
        return self._selected if isinstance(self._selected, str) else None

    @property
    def following(self) -> bool:
        """Whether the view moves to the newest turn as it comes."""
        return self._following

    def show(self, state: SessionState, envelope: Envelope | None) -> None:
        """Show what an event changed.

        Args:
            state: the state with the event taken in; always the same object between rebuilds.
            envelope: the event; None rebuilds all, as after a jump in a replay.
        """
        if envelope is None or state is not self._ledger.state:
            self._ledger.rebuild(state)
            self._now = envelope.time if envelope is not None else _latest(state)
            self._changed(Update(everything=True))
            return
        self._now = envelope.time
        update = self._ledger.take(envelope.event)
        if update.lines or update.grown or update.everything:
            self._changed(update)

    def tick(self, now: str) -> None:
        """Let the ages grow while nothing happens.

        Args:
            now: RFC 3339.
        """
        self._now = now
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        width = self.scrollable_content_region.width
        top, bottom = self._frame()
        if y < top:
            return self._head(y, width)
        if y >= self.size.height - bottom:
            return self._foot(y - (self.size.height - bottom), width)
        index = self.scroll_offset.y + y - top
        if index >= len(self._ledger.shown):
            return Strip.blank(width, self.rich_style)
        return self._line(self._ledger.shown[index], width)

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._drawn.clear()
        self._inks.clear()

    def on_resize(self) -> None:
        """Lines depend on the width, the last position on the height."""
        self._drawn.clear()
        self._fit()

    def on_click(self, event: events.Click) -> None:
        """Select the line under the mouse; a second click opens it."""
        top, bottom = self._frame()
        index = self.scroll_offset.y + event.y - top
        inside = top <= event.y < self.size.height - bottom
        if not inside or index >= len(self._ledger.shown):
            return
        line = self._ledger.shown[index]
        if isinstance(line, str):
            self._select(index)
            if event.chain > 1:
                self.action_act("open")

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Who scrolls back is not carried to the end; who scrolls to the end follows again."""
        super().watch_scroll_y(old_value, new_value)
        if not self._moving:
            self._following = new_value >= self.max_scroll_y

    def action_move(self, step: int) -> None:
        """Select the next or previous turn."""
        index = self._index() + step
        shown = self._ledger.shown
        while 0 <= index < len(shown) and isinstance(shown[index], int):
            index += step
        if 0 <= index < len(shown):
            self._select(index)

    def action_page(self, step: int) -> None:
        """Move by a screen of turns."""
        goal = self._index() + step * max(1, self._body() - 1)
        self._select_near(goal, -1 if step > 0 else 1)

    def action_first(self) -> None:
        """Select the first turn."""
        self._select_near(0, 1)

    def action_last(self) -> None:
        """Select the newest turn and follow again."""
        self._select_near(len(self._ledger.shown) - 1, -1)

    def action_act(self, action: Action) -> None:
        """Ask the screen for something to be done with the selected turn."""
        if self.selected_iri is not None or action in ("undo", "preview"):
            self.post_message(self.Act(action, self.selected_iri or ""))

    def action_pin(self) -> None:
        """Pin the selected turn, or lift its pin."""
        turn = self._ledger.state.turns.get(self.selected_iri or "")
        if turn is not None:
            self.action_act("unpin" if turn.pinned else "pin")

    def action_filter(self) -> None:
        """Show the next kind of turns only."""
        place = FILTERS.index(self._ledger.filter)
        self._ledger.filter = FILTERS[(place + 1) % len(FILTERS)]
        self._ledger.refilter()
        self._changed(Update(everything=True))
        if not self._following:
            self.call_after_refresh(self._reveal_selected)

    def _changed(self, update: Update) -> None:
        if update.everything or len(self._drawn) > _MANY:
            self._drawn.clear()
        for line in update.lines:
            self._drawn.pop(line, None)
        self._choose_selected()
        if not self._settling and self.is_attached:
            self._settling = True
            self.call_later(self._settle)

    def _choose_selected(self) -> None:
        shown = self._ledger.shown
        if self._following:
            self._selected = next((line for line in reversed(shown) if isinstance(line, str)), None)
        elif self.selected_iri not in self._ledger.seen:
            self._selected = next((line for line in shown if isinstance(line, str)), None)

    def _settle(self) -> None:
        """Draw once for all events that came together."""
        self._settling = False
        if self._ledger.stale:
            self._ledger.refilter()
            self._choose_selected()
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        width = self.scrollable_content_region.width
        size = Size(width, len(self._ledger.shown) + sum(self._frame()))
        if size != self.virtual_size:
            self.virtual_size = size
        if self._following:
            self._scroll(self.max_scroll_y)

    def _frame(self) -> tuple[int, int]:
        """Lines that stay in place above and below."""
        height = self.size.height
        if height < 6:
            return min(1, max(0, height - 1)), 0
        return (1, 1) if height < 12 else (2, 2)

    def _body(self) -> int:
        return max(1, self.size.height - sum(self._frame()))

    def _index(self) -> int:
        shown = self._ledger.shown
        if shown and shown[-1] == self._selected:
            return len(shown) - 1
        try:
            return shown.index(self._selected) if self._selected is not None else -1
        except ValueError:
            return -1

    def _select_near(self, goal: int, step: int) -> None:
        shown = self._ledger.shown
        index = min(max(goal, 0), len(shown) - 1)
        for candidate in (*_walk(index, step, len(shown)), *_walk(index, -step, len(shown))):
            if isinstance(shown[candidate], str):
                self._select(candidate)
                return

    def _select(self, index: int) -> None:
        line = self._ledger.shown[index]
        if not isinstance(line, str):
            return
        for stale in (self._selected, line):
            if stale is not None:
                self._drawn.pop(stale, None)
        self._selected = line
        self._following = line == self._ledger.newest
        self._reveal(index)
        self.refresh()

    def _reveal(self, index: int) -> None:
        first, body = self.scroll_offset.y, self._body()
        if index < first:
            self._scroll(index)
        elif index >= first + body:
            self._scroll(index - body + 1)

    def _scroll(self, y: int) -> None:
        self._moving = True
        self.scroll_to(y=y, animate=False, force=True)
        self._moving = False

    def _reveal_selected(self) -> None:
        index = self._index()
        if index >= 0:
            self._reveal(index)

    def _line(self, line: Line, width: int) -> Strip:
        age = self._age(line)
        selected = line == self._selected
        focused = self.has_focus
        key = (age, selected, focused, width)
        kept = self._drawn.get(line)
        if kept is not None and kept[0] == key:
            return kept[1]
        if isinstance(line, int):
            strip = self._strip(row.separator_row(line, self._ledger, width), width)
        else:
            turn = self._ledger.state.turns[line]
            columns = row.columns_for(width)
            pieces = row.turn_row(turn, self._ledger, columns, age, selected=selected)
            ground = "selected" if selected else "changed" if line in self._ledger.fresh else ""
            strip = self._strip(pieces, width, ground)
        self._drawn[line] = (key, strip)
        return strip

    def _head(self, y: int, width: int) -> Strip:
        if y == 0:
            return self._strip(row.header_row(self._ledger, width), width, "strip")
        return self._strip(row.heading(row.columns_for(width)), width, "strip")

    def _foot(self, y: int, width: int) -> Strip:
        turn = self._ledger.state.turns.get(self.selected_iri or "")
        if turn is None:
            return self._strip([], width, "strip")
        return self._strip(row.detail_rows(turn, self._ledger, width)[y], width, "strip")

    def _strip(self, pieces: Iterable[row.Piece], width: int, ground: str = "") -> Strip:
        base = self._ink(ground, "")
        segments: list[Segment] = []
        left = width
        for name, text in pieces:
            if (cells := cell_len(text)) > left:
                text = fit(text, left)
                cells = left
            segments.append(Segment(text, self._ink(ground, name)))
            left -= cells
        segments.append(Segment(" " * left, base))
        return Strip(segments, width)

    def _ink(self, ground: str, name: str) -> Style:
        ink = self._inks.get((ground, name))
        if ink is None:
            ink = self.rich_style
            if ground:
                ink += Style(bgcolor=self._style(ground).bgcolor)
            if name:
                style = self._style(name)
                ink += Style(color=style.color, bold=style.bold, italic=style.italic)
            self._inks[ground, name] = ink
        return ink

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"timeline--{name}")

    def _age(self, line: Line) -> str:
        turn = self._ledger.state.turns.get(line) if isinstance(line, str) else None
        if turn is None:
            return ""
        try:
            passed = datetime.fromisoformat(self._now) - datetime.fromisoformat(turn.time)
        except (ValueError, TypeError):  # a damaged recording
            return "–"
        return reasons.span(max(0.0, passed.total_seconds()))


def _walk(index: int, step: int, length: int) -> range:
    return range(index, length, 1) if step > 0 else range(min(index, length - 1), -1, -1)


def _latest(state: SessionState) -> str:
    times = [turn.time for turn in state.turns.values()]
    return times[-1] if times else ""
