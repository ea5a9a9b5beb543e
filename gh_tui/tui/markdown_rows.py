"""Blocks of Markdown laid out to rows of a width: wrapped, with hanging indents, nothing cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from textual.content import Content
from textual.highlight import highlight

from gh_tui.tui.ink import CODE, CODE_GROUND, DIM, HEAD

GAP = "  "
"""Between the columns of a table."""
WRAPPED = "↳"
"""Stands before the rest of a line of code that is wider than the pane."""
TAB = 4
LEAST = 4
"""Cells of text that the deepest indent leaves."""
HIGHLIGHTED = 10_000
"""Characters of code up to which it is coloured."""

NOTHING = Content("")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of cells."""

    lead: Content
    """What stands before the text and is not part of it."""
    text: Content
    start: int = 0
    """Where the text begins in its line."""
    ground: str = ""
    """The style of the row from its text to the right edge."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text as it is copied, and the rows it takes."""

    plain: str
    rows: Sequence[Row]


BLANK = Line("", (Row(NOTHING, NOTHING),))


@dataclass(frozen=True, slots=True)
class Indent:
    """What stands before a block: bullets and bars in its first row, their room in the others.

    Both are equally wide.
    """

    first: Content = NOTHING
    rest: Content = NOTHING

    def room(self, width: int) -> int:
        """Cells that are left of a row of `width`."""
        return max(LEAST, width - self.first.cell_length)


@dataclass(frozen=True, slots=True)
class Words:
    """Running text without newlines."""

    text: Content
    indent: Indent = Indent()

    def lines(self, width: int) -> Iterator[Line]:
        """One line, wrapped between words."""
        text = self.text.expand_tabs(TAB)
        plain = self.indent.first.plain + text.plain
        rows: list[Row] = []
        end = 0
        for piece in text.wrap(self.indent.room(width)):
            if not rows:
                rows.append(Row(NOTHING, self.indent.first + piece))
                end = len(rows[0].text.plain)
            else:
                start = max(end, plain.find(piece.plain, end))  # spaces at a break are dropped
                rows.append(Row(self.indent.rest, piece, start))
                end = start + len(piece.plain)
        yield Line(plain, rows)


@dataclass(frozen=True)
class Code:
    """Code as it is, on a ground of its own; a line that is too wide goes on below."""

    text: str
    language: str = ""
    indent: Indent = Indent()

    @cached_property
    def _coloured(self) -> Sequence[Content]:
        text = self.text.expandtabs(TAB)
        if self.language and len(text) <= HIGHLIGHTED:
            content = highlight(text, language=self.language)
        else:
            content = Content.styled(text, CODE)
        return content.split("\n", allow_blank=True)

    def lines(self, width: int) -> Iterator[Line]:
        """Each line of the code, folded at the edge."""
        room = max(LEAST, self.indent.room(width) - 2)
        before = self.indent.first
        for code in self._coloured:
            rows: list[Row] = []
            start = 0
            for piece in code.fold(room):
                mark = WRAPPED if rows else " "
                lead = Content.assemble(before, (mark, f"{DIM} {CODE_GROUND}"))
                rows.append(Row(lead, piece, start, CODE_GROUND))
                start += len(piece.plain)
                before = self.indent.rest
            yield Line(code.plain, rows)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""

    indent: Indent = Indent()

    def lines(self, width: int) -> Iterator[Line]:
        """One row."""
        rule = Content.styled("─" * self.indent.room(width), DIM)
        yield Line("---", (Row(self.indent.first, rule),))


@dataclass(frozen=True, slots=True)
class Table:
    """Cells in columns; the widest columns give way and their cells wrap."""

    cells: Sequence[Sequence[Content]]
    """Row by row, the first one is the head."""
    right: Sequence[bool]
    """For each column, whether it is aligned to the right."""
    indent: Indent = Indent()

    def lines(self, width: int) -> Iterator[Line]:
        """As many rows for each row of the table as its highest cell needs."""
        widths = self._widths(self.indent.room(width))
        before = self.indent.first
        for number, cells in enumerate(self.cells):
            wrapped = [cell.wrap(size) for cell, size in zip(cells, widths, strict=False)]
            for row in range(max(map(len, wrapped), default=0)):
                parts = [
                    _aligned(pieces[row] if row < len(pieces) else NOTHING, size, right=right)
                    for pieces, size, right in zip(wrapped, widths, self.right, strict=False)
                ]
                text = Content(GAP).join(parts)
                if number == 0:
                    text = text.stylize_before(HEAD)
                yield Line(text.plain.rstrip(), (Row(before, text),))
                before = self.indent.rest

    def _widths(self, room: int) -> list[int]:
        columns = len(self.right)
        room = max(columns, room - len(GAP) * (columns - 1))
        widths = [
            min(room, max((row[i].cell_length for row in self.cells if i < len(row)), default=1))
            for i in range(columns)
        ]
        widths = [max(1, size) for size in widths]
        while sum(widths) > room:
            widths[widths.index(max(widths))] -= 1
        return widths


Block = Words | Code | Rule | Table


def _aligned(piece: Content, width: int, *, right: bool) -> Content:
    padding = max(0, width - piece.cell_length)
    return piece.pad_left(padding) if right else piece.pad_right(padding)
