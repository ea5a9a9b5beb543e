"""A growing Markdown text as one widget that draws its own rows."""

from __future__ import annotations

import time

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.visual import Visual
from textual.widget import Widget

from gh_tui.tui.markdown_rows import Line, Row
from gh_tui.tui.markdown_text import HREF, MarkdownText

QUICK = 0.01
"""Seconds that taking in a piece may last without a rest after it."""
REST = 8.0
"""The rest after a longer one, as a multiple of it: a list of a thousand items stays readable
while it grows, and the keyboard is answered."""


class MarkdownView(Widget):
    """The text, as high as it is."""

    class LinkClicked(Message):
        """A link was clicked; nothing has been opened."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    def __init__(self) -> None:
        super().__init__(classes="markdown")
        self.source = ""
        self._text = MarkdownText()
        self._unwritten = ""
        self._resting: Timer | None = None
        self._width = -1
        self._lines: list[Line] = []
        self._rows: list[tuple[int, Row]] = []
        """Each with the number of its line."""

    def append(self, piece: str) -> None:
        """Add to the end."""
        self.source += piece
        self._unwritten += piece
        if self._resting is None:
            self._write()

    def replace(self, source: str) -> None:
        """Show another text."""
        self.source, self._unwritten = source, ""
        self._text.replace(source)
        self._redraw()

    def _write(self) -> None:
        self._resting = None
        if not self._unwritten:
            return
        start = time.perf_counter()
        self._text.append(self._unwritten)
        self._unwritten = ""
        self._redraw()
        took = time.perf_counter() - start
        if took > QUICK:
            self._resting = self.set_timer(took * REST, self._write)

    def _redraw(self) -> None:
        width, height = self._width, len(self._rows)
        self._width = -1
        if width > 0:
            self._lay(width)
        self.refresh(layout=len(self._rows) != height or width <= 0)

    def _lay(self, width: int) -> None:
        if width != self._width:
            self._width = width
            self._lines = self._text.lines(width)
            self._rows = [(y, row) for y, line in enumerate(self._lines) for row in line.rows]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows at that width."""
        if width < 1:
            return 0
        self._lay(width)
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """One row."""
        width = self.size.width
        if width < 1:
            return Strip.blank(width)
        self._lay(width)
        if y >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        number, row = self._rows[y]
        text = self._selected(row, number)
        padding = " " * max(0, width - row.lead.cell_length - text.cell_length)
        text += padding
        if row.ground:
            text = text.stylize_before(row.ground)
        parts = [
            _at_one_offset(self._drawn(row.lead), row.start, number),
            self._drawn(text).apply_offsets(row.start, number),
        ]
        return Strip.join(parts).crop(0, width)

    def _drawn(self, content: Content) -> Strip:
        if not content:
            return Strip.blank(0)
        width = content.cell_length
        strips = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False)
        return strips[0]

    # Selection: offsets count in the lines as they are copied, not in the rows.

    def _selected(self, row: Row, number: int) -> Content:
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is None:
            return row.text
        size = len(row.text.plain)
        start = max(0, span[0] - row.start)
        end = size if span[1] < 0 else min(size, span[1] - row.start)
        if end <= start:
            return row.text
        ink = Style.from_styles(self.screen.get_component_styles("screen--selection"))
        return row.text.stylize(ink, start, end)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text without what wrapping and indents added."""
        return selection.extract("\n".join(line.plain for line in self._lines)), "\n"

    def on_click(self, event: events.Click) -> None:
        """A click on a link tells its address."""
        href = event.style.meta.get(HREF)
        if isinstance(href, str) and self.screen.get_selected_text() is None:
            event.stop()
            self.post_message(self.LinkClicked(href))


def _at_one_offset(strip: Strip, x: int, y: int) -> Strip:
    """Every cell of what is not text means where the text begins."""
    if not strip:
        return strip
    cells = [strip.crop(i, i + 1).apply_offsets(x, y) for i in range(strip.cell_length)]
    return Strip.join(cells)
