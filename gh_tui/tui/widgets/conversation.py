"""The conversation: the newest rows of the transcript as widgets, following the end."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gh_tui.text import counted
from gh_tui.tui.transcript import Row, Transcript
from gh_tui.tui.widgets.message import Fold, ReplyView, RowView, folds_in, view_of

WINDOW = 60
"""Rows that stay mounted while the view follows the end."""
EARLIER = 40
"""Rows that one "load earlier" brings."""
CEILING = 400
"""Rows beyond which the oldest go even while the reader is scrolled up."""


class Earlier(Static):
    """Says how much is above, and loads it on a click."""

    class Wanted(Message):
        """The reader wants more."""

    def show(self, count: int) -> None:
        """`count` rows are above."""
        self.display = count > 0
        self.update(
            Content(f"{counted(count, 'earlier entry', 'earlier entries')} · Ctrl+Up loads")
        )

    def on_click(self) -> None:
        """Load."""
        self.post_message(self.Wanted())


class Conversation(VerticalScroll):
    """The pane of the transcript."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "fold(-1)", "previous fold", show=False),
        Binding("right_square_bracket", "fold(1)", "next fold", show=False),
        Binding("ctrl+up", "earlier", "load earlier", show=False),
    ]

    def __init__(self, transcript: Transcript, *head: Widget) -> None:
        super().__init__(id="conversation")
        self.transcript = transcript
        self._head = head
        self._earlier = Earlier(classes="note earlier")
        self._views: dict[int, RowView] = {}
        """By identity of the row."""
        self._first = 0
        """Index of the oldest mounted row."""
        self._next = 0
        """Index of the first row that was never mounted."""
        self._unfolded = False

    def compose(self) -> ComposeResult:
        """What stands above the first row."""
        yield from self._head
        yield self._earlier

    def on_mount(self) -> None:
        """Follow the end from the start."""
        self._earlier.show(0)
        self.anchor()

    @property
    def following(self) -> bool:
        """Whether the view is at its end."""
        return self.scroll_y >= self.max_scroll_y

    async def sync(self) -> None:
        """Bring the widgets in line with the transcript."""
        rows = self.transcript.rows
        changed = self.transcript.drain()
        if self._next < len(rows):
            await self._append()
        for row in changed:
            view = self._views.get(id(row))
            if view is not None:
                await view.follow()
        await self._trim()

    async def _append(self) -> None:
        rows = self.transcript.rows
        start = max(self._next, len(rows) - WINDOW)
        if start > self._next:  # a burst longer than the window: what is mounted goes
            await self._remove(rows[self._first : self._next])
            self._first = start
        self._next = len(rows)
        await self._mount_rows(rows[start:])
        self._earlier.show(self._first)

    async def _mount_rows(self, rows: list[Row], *, on_top: bool = False) -> None:
        views = [view_of(row) for row in rows]
        self._views.update({id(row): view for row, view in zip(rows, views, strict=True)})
        if on_top:
            await self.mount_all(views, after=self._earlier)
        else:
            await self.mount_all(views)
        if self._unfolded:
            self._set_folds(views)

    async def _trim(self) -> None:
        mounted = self._next - self._first
        if mounted > CEILING or (mounted > WINDOW + EARLIER // 2 and self.following):
            rows = self.transcript.rows
            keep = max(self._next - WINDOW, 0)
            await self._remove(rows[self._first : keep])
            self._first = keep
            self._earlier.show(self._first)

    async def _remove(self, rows: list[Row]) -> None:
        gone = [self._views.pop(id(row)) for row in rows if id(row) in self._views]
        if gone:
            await self.remove_children(gone)

    async def action_earlier(self) -> None:
        """Mount rows from above, and stay where the reader is."""
        start = max(0, self._first - EARLIER)
        if start == self._first:
            return
        self.release_anchor()
        rows = self.transcript.rows[start : self._first]
        height = self.virtual_size.height
        self._first = start
        await self._mount_rows(rows, on_top=True)
        self._earlier.show(self._first)

        def stay() -> None:
            self.scroll_relative(y=self.virtual_size.height - height, animate=False)

        self.call_after_refresh(stay)

    async def on_earlier_wanted(self) -> None:
        """A click on the line above the first row."""
        await self.action_earlier()

    def action_fold(self, step: int) -> None:
        """Move the focus to the next or previous fold."""
        folds = folds_in(self)
        if not folds:
            return
        focused = self.screen.focused
        if focused in folds:
            index = folds.index(focused) + step
        else:
            index = len(folds) - 1 if step < 0 else 0
        if 0 <= index < len(folds):
            folds[index].focus()

    def toggle_folds(self) -> None:
        """Open all folds, or fold them all."""
        self._unfolded = not self._unfolded
        self._set_folds(list(self._views.values()))

    def _set_folds(self, views: list[RowView]) -> None:
        for view in views:
            if isinstance(view, Fold | ReplyView):
                view.set_open(self._unfolded)
