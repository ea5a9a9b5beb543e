"""Markdown as one piece of text: what replies become once they are no longer the newest.

A `Markdown` widget is dozens of nodes, and each drawing of the screen visits every node; this
is one. It looks almost the same, except that wrapped list items are not indented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from textual.content import Content

from gh_tui.text import visible
from gh_tui.tui.cells import fit
from gh_tui.tui.ink import CODE, DIM, HEAD

BULLETS = "•▪‣"
_CELL_LIMIT = 40
_EMPHASIS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}


@dataclass(slots=True)
class _Place:
    """Where in nested lists and quotes the next block stands."""

    ordered: list[int | None] = field(default_factory=list)
    quotes: int = 0
    first: bool = False
    """The next block is the first of a list item and stands behind its bullet."""

    def prefix(self) -> str:
        quote = "▌ " * self.quotes
        depth = len(self.ordered)
        if depth == 0:
            return quote
        if not self.first:
            return quote + "   " * depth
        self.first = False
        number = self.ordered[-1]
        mark = BULLETS[(depth - 1) % len(BULLETS)] if number is None else f"{number}."
        return quote + "   " * (depth - 1) + f"{mark:<2} "


def parser(*, linkify: bool = True) -> MarkdownIt:
    """A parser that sanitises what it has read: `&#x202E;` spells a character out in the clear.

    Args:
        linkify: make links of bare addresses.
    """
    markdown = MarkdownIt("gfm-like", {"linkify": linkify})
    markdown.core.ruler.push("visible", lambda state: _sanitise(state.tokens))
    return markdown


def _sanitise(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.type == "text":
            token.content = visible(token.content)
        _sanitise(token.children or ())


def rendered(source: str) -> Content:
    """The content of a sanitised Markdown text; links are shown with their address."""
    tokens = parser(linkify=False).parse(source)
    return Content("\n").join(_blocks(tokens))


def _blocks(tokens: Sequence[Token]) -> Iterator[Content]:
    """Lines; a blank one between two blocks, but not inside of a list."""
    place, index = _Place(), 0
    last_depth: int | None = None
    while index < len(tokens):
        token = tokens[index]
        if token.type == "table_open":
            end = next(i for i in range(index, len(tokens)) if tokens[i].type == "table_close")
            lines, index = list(_table(tokens[index:end])), end
        else:
            lines = list(_block(token, tokens[index - 1] if index else None, place))
        depth = len(place.ordered)
        if lines:
            if last_depth is not None and not (depth and last_depth):
                yield Content("")
            last_depth = depth
        yield from lines
        index += 1


def _block(token: Token, opener: Token | None, place: _Place) -> Iterator[Content]:
    match token.type:
        case "bullet_list_open":
            place.ordered.append(None)
        case "ordered_list_open":
            place.ordered.append(int(token.attrGet("start") or 1) - 1)
        case "bullet_list_close" | "ordered_list_close":
            place.ordered.pop()
        case "list_item_open":
            number = place.ordered[-1]
            place.ordered[-1] = None if number is None else number + 1
            place.first = True
        case "blockquote_open":
            place.quotes += 1
        case "blockquote_close":
            place.quotes -= 1
        case "inline":
            style = HEAD if opener is not None and opener.type == "heading_open" else ""
            yield Content.assemble(place.prefix(), _inline(token).stylize_before(style))
        case "fence" | "code_block" | "html_block":
            prefix = place.prefix()
            for line in token.content.rstrip("\n").split("\n"):
                yield Content.assemble(f"{prefix} ", (line, CODE))
        case "hr":
            yield Content.styled("─" * 24, DIM)
        case _:
            pass


def _inline(token: Token) -> Content:
    parts: list[Content] = []
    styles: list[str] = []
    links: list[str] = []
    for child in token.children or []:
        match child.type:
            case "code_inline":
                parts.append(Content.styled(child.content, CODE))
            case "softbreak":
                parts.append(Content(" "))
            case "hardbreak":
                parts.append(Content("\n"))
            case "strong_open" | "em_open" | "s_open" as kind:
                styles.append(_EMPHASIS[kind])
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "link_open":
                links.append(str(child.attrGet("href") or ""))
                styles.append("underline")
            case "link_close":
                styles.pop()
                parts.append(Content.styled(f" ({links.pop()})", DIM))
            case "image":
                parts.append(Content.styled(f"[{child.content}]", DIM))
            case _:
                parts.append(Content.styled(child.content, " ".join(styles)))
    return Content("").join(parts)


def _table(tokens: Sequence[Token]) -> Iterator[Content]:
    rows: list[list[Content]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(_inline(token))
    columns = max((len(row) for row in rows), default=0)
    widths = [
        min(_CELL_LIMIT, max((cell_len(row[i].plain) for row in rows if i < len(row)), default=1))
        for i in range(columns)
    ]
    for number, row in enumerate(rows):
        cells = [
            Content.styled(fit(cell.plain, width), HEAD if number == 0 else "")
            for cell, width in zip(row, widths, strict=False)
        ]
        yield Content("  ").join(cells)
