"""One widget for each kind of row of the conversation."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from gh_tui.text import counted, one_line, visible
from gh_tui.tui.ink import DIM
from gh_tui.tui.transcript import InputRow, NoteRow, ReplyRow, Row, ToolRow, clock
from gh_tui.tui.widgets.markdown_view import MarkdownView
from gh_tui.tui.widgets.receipt_words import short_id

FOLDED, OPEN = "▸", "▾"
SHOWN_LINES = 40
"""Lines of a long input or result that the conversation shows; the rest is in the timeline."""

_TOOL_WORDS = {
    "waiting": "asks you",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "denied": "denied",
}
_MARK_WORDS = {
    "waiting": "waiting for the model",
    "interrupted": "interrupted: the reply is not complete",
    "cancelled": "stopped: the reply is not complete",
}


class Fold(Static, can_focus=True):
    """A line that opens to a text, with Enter or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "flip", "open or fold"),
    ]

    def __init__(self, classes: str) -> None:
        super().__init__(classes=f"fold {classes}")
        self.open = False

    def head(self) -> Content:
        """The line that is always there, without its mark."""
        raise NotImplementedError

    def body(self) -> Content:
        """What is below it when open."""
        raise NotImplementedError

    def folded(self) -> Content:
        """The line, and when it is open the rest."""
        mark = OPEN if self.open else FOLDED
        head = Content.assemble((f"{mark} ", DIM), self.head())
        if self.content_size.width:
            head = head.truncate(self.content_size.width, ellipsis=True)
        return Content.assemble(head, "\n", self.body()) if self.open else head

    def redraw(self) -> None:
        """Show the present text."""
        self.update(self.folded())

    def set_open(self, is_open: bool) -> None:
        """Open or fold."""
        self.open = is_open
        self.redraw()

    def action_flip(self) -> None:
        """The other way round."""
        self.set_open(not self.open)

    def on_resize(self) -> None:
        """The line takes the room there is."""
        self.redraw()

    def on_click(self) -> None:
        """A click does what Enter does, unless it ended a selection."""
        if self.screen.get_selected_text() is None:
            self.action_flip()

    def on_mount(self) -> None:
        """First drawing."""
        self.redraw()


class InputView(Static):
    """What the user said."""

    def __init__(self, row: InputRow) -> None:
        super().__init__(classes="input")
        self.row = row

    def on_mount(self) -> None:
        """First drawing."""
        self.show_row()

    async def follow(self) -> None:
        """The row has changed."""
        self.show_row()

    def show_row(self) -> None:
        """Draw the header and the text."""
        row = self.row
        self.set_class(row.supplement is not None, "supplement")
        who = f"you · supplement {short_id(row.supplement)}" if row.supplement else "you"
        note = " · waits for the model" if row.waits else ""
        if row.returned:
            note = " · not sent: it is back in the box"
        header = Content.styled(f"{who} · {clock(row.time)}{note}", DIM)
        self.update(Content.assemble(header, "\n", Content(shortened(row.text.strip("\n")))))


class Thought(Fold):
    """The reasoning of a reply."""

    def __init__(self, row: ReplyRow) -> None:
        super().__init__("thought")
        self.row = row

    def head(self) -> Content:
        """How much was thought, and how it begins."""
        text = self.row.reasoning
        first = "" if self.open else f" · {one_line(text, 160)}"
        return Content.styled(f"thought, {counted(len(text), 'character')}{first}", DIM)

    def body(self) -> Content:
        """All of it."""
        return Content.styled(visible(self.row.reasoning), DIM)


class ReplyView(Vertical):
    """A reply of the model: its reasoning folded, its text as it grows.

    It looks the same for as long as it is there. Its parts are made when there is something to
    show in them: each drawing of the screen visits every node.
    """

    def __init__(self, row: ReplyRow) -> None:
        super().__init__(classes="reply")
        self.row = row
        self.thought: Thought | None = None
        self.text: MarkdownView | None = None
        self.mark: Static | None = None
        self._raw = 0
        """How many characters of the row have been written."""
        self._is_open = False

    async def on_mount(self) -> None:
        """Draw what there is already."""
        await self._show_row()

    async def follow(self) -> None:
        """Write what is new; at the end make sure that all of it is there."""
        if self.is_mounted:
            await self._show_row()

    async def _show_row(self) -> None:
        row = self.row
        await self._show_thought()
        await self._write(whole=row.status not in ("waiting", "streaming"))
        await self._show_mark()
        self.set_class(row.status in ("interrupted", "cancelled"), "partial")
        self.display = bool(row.text or row.reasoning or row.status == "waiting")

    def set_open(self, is_open: bool) -> None:
        """Open or fold the reasoning, also that which is still to come."""
        self._is_open = is_open
        if self.thought is not None:
            self.thought.set_open(is_open)

    async def _show_thought(self) -> None:
        if self.thought is not None:
            self.thought.display = bool(self.row.reasoning)
            self.thought.redraw()
        elif self.row.reasoning:
            self.thought = Thought(self.row)
            self.thought.open = self._is_open
            await self.mount(self.thought, before=0)

    async def _write(self, *, whole: bool) -> None:
        text, view = self.row.text, self.text
        if view is None:
            if not text:
                return
            view = self.text = MarkdownView()
            await self.mount(view, before=self.mark)
        if whole or len(text) < self._raw:  # the latter: a second attempt at the same request
            view.replace(visible(text))
        elif len(text) > self._raw:
            view.append(visible(text[self._raw :]))
        self._raw = len(text)
        view.display = bool(text)

    async def _show_mark(self) -> None:
        row = self.row
        shown = row.status == "waiting" or row.text or row.reasoning
        words = _MARK_WORDS.get(row.status, "") if shown else ""
        mark = self.mark
        if mark is None and words:
            mark = self.mark = Static(classes="mark")
            await self.mount(mark)
        if mark is not None and words:
            mark.update(Content(words))
        elif mark is not None:
            self.mark = None
            await mark.remove()


class ToolView(Fold):
    """One tool call on one line; opened, its arguments and its result."""

    def __init__(self, row: ToolRow) -> None:
        super().__init__("tool")
        self.row = row

    def head(self) -> Content:
        """Name, short arguments, state, cost."""
        row = self.row
        style = "$error" if row.status in ("failed", "denied") else DIM
        cost = f" · {counted(row.tokens, 'token')}" if row.tokens is not None else ""
        state = f"{_TOOL_WORDS[row.status]}{cost}"
        if row.error:
            state += f" · {one_line(row.error, 60)}"
        name = visible(row.name, keep_newlines=False)
        room = max(8, self.size.width - len(name) - len(state) - 8) if self.size.width else 40
        return Content.assemble(
            (name, "bold"),
            "  ",
            Content(short_arguments(row.arguments)).truncate(room, ellipsis=True),
            "  ",
            (state, style),
        )

    def body(self) -> Content:
        """Each argument as it is, then the result."""
        parts = []
        for name, value in self.row.arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            gap = "\n" if "\n" in text else " "
            head = Content.styled(f"{one_line(name, 40)}:", DIM)
            parts.append(Content.assemble(head, gap, Content(shortened(text.rstrip("\n")))))
        if self.row.result:
            parts += [Content.styled("─ result", DIM), Content(shortened(self.row.result))]
        return Content("\n").join(parts)

    async def follow(self) -> None:
        """The row has changed."""
        self.redraw()


class NoteView(Static):
    """A line of the program's own."""

    def __init__(self, row: NoteRow) -> None:
        super().__init__(classes=f"note {row.level}")
        self.row = row

    def on_mount(self) -> None:
        """The only drawing."""
        word = {"warning": "warning: ", "error": "error: "}.get(self.row.level, "")
        self.update(Content(word + shortened(self.row.text)))

    async def follow(self) -> None:
        """Nothing to do: notes do not change."""


RowView = InputView | ReplyView | ToolView | NoteView


def view_of(row: Row) -> RowView:
    """The widget for a row."""
    match row:
        case InputRow():
            return InputView(row)
        case ReplyRow():
            return ReplyView(row)
        case ToolRow():
            return ToolView(row)
        case NoteRow():
            return NoteView(row)


def folds_in(widget: Widget) -> list[Fold]:
    """The folds below a widget, in order."""
    return [fold for fold in widget.query(Fold) if fold.display]


def short_arguments(arguments: dict[str, Any]) -> str:
    """Arguments on one line, sanitised: `path=a.txt text=…`."""
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(f"{one_line(name, 40)}={one_line(text, 120)}")
    return " ".join(parts)


def shortened(text: str) -> str:
    """A long text cut to `SHOWN_LINES` lines and 8,000 characters, sanitised; says what is left."""
    head = text[:8000]
    lines = head.split("\n")
    shown = visible("\n".join(lines[:SHOWN_LINES]))
    left = text.count("\n") + 1 - min(len(lines), SHOWN_LINES)
    if left > 0 or len(text) > len(head):
        rest = len(text) - len(head)
        what = counted(left, "more line") if left > 0 else counted(rest, "more character")
        shown += f"\n… {what}: open the entry in the timeline"
    return shown
