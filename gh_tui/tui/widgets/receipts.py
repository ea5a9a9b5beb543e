"""Receipts: what became of each supplement, one line each."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static

from gh_tui.events.entries import SupplementState
from gh_tui.events.state import SessionState
from gh_tui.text import one_line, visible
from gh_tui.tui.cells import fit
from gh_tui.tui.ink import DIM

CLASS_WORDS = {
    "AddContext": "context",
    "RefineObjective": "refine",
    "ProvideConstraint": "constraint",
    "GuideDirection": "guide",
    "PrioritizeStep": "prioritise",
    "SuggestApproach": "suggest",
    "Pause": "pause",
    "Resume": "resume",
    "SkipCurrentStep": "skip",
    "ConfirmDirection": "confirm",
    "CorrectApproach": "correct",
    "AbortCurrentStep": "abort",
}
"""The twelve classes, short."""
FEW = 3
"""Lines while it is not opened."""


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
    ]

    class Act(Message):
        """A key on the selected receipt."""

        def __init__(self, action: str, entry: SupplementState) -> None:
            super().__init__()
            self.action = action
            self.entry = entry

    def __init__(self) -> None:
        super().__init__(id="receipts")
        self.opened = False
        self.selected: str | None = None
        self._entries: list[SupplementState] = []
        self._queued: list[str] = []
        self._settled: set[str] = set()
        self._drawn: list[Content] = []

    def show(self, state: SessionState) -> None:
        """Draw the receipts of a state."""
        self._entries = list(state.supplements.values())
        waiting = list(state.queued.values())
        self._queued = waiting if state.running else waiting[1:]  # the first begins at once
        self.redraw()

    def settle(self) -> None:
        """A new input begins: what has been delivered or returned need not be shown any more."""
        self._settled = {e.id for e in self._entries if e.status in ("injected", "returned")}

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

    def on_focus(self) -> None:
        """Select the newest."""
        shown = self.shown
        if shown and self.selected not in {entry.id for entry in shown}:
            self.selected = shown[-1].id
        self.redraw()

    def on_blur(self) -> None:
        """No selection without focus."""
        self.redraw()

    @property
    def shown(self) -> list[SupplementState]:
        """The entries that have a line now, oldest first."""
        if self.opened:
            return self._entries[-self._most() :]
        return [entry for entry in self._entries if entry.id not in self._settled][-FEW:]

    def _most(self) -> int:
        return max(FEW, self.screen.size.height // 2 - 4) if self.is_attached else FEW

    def _lines(self) -> list[Content]:
        shown = self.shown
        lines = [self._line(entry) for entry in shown]
        lines += [
            Content.assemble(("  queued  ", "$warning"), "after this task  ", one_line(text))
            for text in self._queued
        ]
        if not self.opened and len(lines) > FEW:
            lines = lines[-FEW:]
        hidden = len(self._entries) - len(shown)
        if self.opened and hidden > 0:
            lines.insert(0, Content.styled(f"  {hidden} earlier", DIM))
        width = self.size.width or 76
        return [line.truncate(width, ellipsis=True) for line in lines]

    def _line(self, entry: SupplementState) -> Content:
        chosen = self.has_focus and entry.id == self.selected
        mark, style = _mark(entry)
        score = " –  " if entry.relevance_score is None else f"{entry.relevance_score:.2f}"
        class_ = class_words(entry)
        wide = self.size.width >= 110
        return Content.assemble(
            ("› " if chosen else "  ", "$accent"),
            (f"{mark} ", style),
            (fit(short_id(entry.id), 5), DIM),
            column(receipt_words(entry), 34 if wide else 23),
            (f"{score}  ", DIM),
            column(class_, 24 if wide else 12),
            (question(entry), "$warning"),
            Content(one_line(entry.text)),
        )

    def action_move(self, step: int) -> None:
        """Select another line."""
        ids = [entry.id for entry in self.shown]
        if not ids:
            return
        index = ids.index(self.selected) if self.selected in ids else len(ids)
        self.selected = ids[max(0, min(len(ids) - 1, index + step))]
        self.redraw()
        self.scroll_visible_line(ids.index(self.selected))

    def scroll_visible_line(self, index: int) -> None:
        """Keep the selected line in view."""
        self.scroll_to_region(Region(0, index, 1, 1), animate=False)

    def action_open(self) -> None:
        """Open the message."""
        self.action_act("open")

    def action_act(self, action: str) -> None:
        """Tell the screen."""
        for entry in self._entries:
            if entry.id == self.selected:
                self.post_message(self.Act(action, entry))


def receipt_words(entry: SupplementState) -> str:
    """The state of an entry in words, sanitised."""
    if entry.status == "returned":
        return f"returned ({visible(entry.returned or '')})"
    if entry.deferred:
        return f"{entry.status}, deferred: {one_line(entry.deferred, 80)}"
    if entry.status != "injected":
        return entry.status
    words = f"injected c{entry.cycle}·r{entry.request}"
    if entry.last_request is not None and entry.last_request != entry.request:
        words = f"seen r{entry.request}–r{entry.last_request}"
    if entry.kept_through is not None:
        words += f", kept p{entry.kept_through}"
    return words


def short_id(name: str) -> str:
    """`supplement-12` as `#12`: what is in front of the number is the same for all."""
    _, dash, number = name.rpartition("-")
    return f"#{one_line(number, 6)}" if dash else one_line(name, 6)


def column(text: str, cells: int) -> Content:
    """A text in a column of `cells` cells, the last two of them free."""
    return Content(fit(text, cells - 2) + "  ")


def class_words(entry: SupplementState) -> str:
    """The class in one word, with a suggestion and its key."""
    name = one_line(entry.class_ or "", 20)
    word = CLASS_WORDS.get(name, name)
    if entry.suggested:
        suggested = one_line(entry.suggested, 20)
        return f"{CLASS_WORDS.get(suggested, suggested)}? a"
    return word


def question(entry: SupplementState) -> str:
    """What the user is asked about an instruction that is close to an older one."""
    if entry.related is None:
        return ""
    number = one_line(entry.related.rpartition("/")[2], 8)
    return f"like #{number}: r replaces, d adds? "


def _mark(entry: SupplementState) -> tuple[str, str]:
    match entry.status:
        case "pending":
            return "○", "$warning"
        case "taken":
            return "◐", "$warning"
        case "injected":
            return "●", "$success"
        case "returned":
            return "↩", DIM
