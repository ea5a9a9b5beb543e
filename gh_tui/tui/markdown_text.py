"""Markdown as blocks of text that can be laid out: the one form of a reply, young or old.

A `Markdown` widget of Textual is dozens of nodes, and each drawing of the screen visits every
node; these blocks are drawn by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content
from textual.style import Style

from gh_tui.text import visible
from gh_tui.tui.ink import CODE, CODE_GROUND, DIM, HEAD
from gh_tui.tui.markdown_rows import BLANK, Block, Code, Indent, Line, Rule, Table, Words

BULLETS = "•▪‣"
BAR = "▌ "
HREF = "href"
"""The name under which a style keeps the address of its link."""

_EMPHASIS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_IMPLIED = ("", "http://", "mailto:")
"""What the parser puts before an address in running text."""
_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")


def parser() -> MarkdownIt:
    """A parser that sanitises what it has read: `&#x202E;` spells a character out in the clear."""
    markdown = MarkdownIt("gfm-like")
    markdown.core.ruler.push("visible", lambda state: _sanitise(state.tokens))
    return markdown


def _sanitise(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.type == "text":
            token.content = visible(token.content)
        _sanitise(token.children or ())


@dataclass(slots=True)
class _Part:
    """A block of the outermost level with all that is in it."""

    blocks: Sequence[Block]
    spaced: bool
    """A blank line comes after it."""
    width: int = -1
    lines: Sequence[Line] = ()

    def laid(self, width: int) -> Sequence[Line]:
        if width != self.width:
            self.lines = [line for block in self.blocks for line in block.lines(width)]
            self.width = width
        return self.lines


class MarkdownText:
    """A sanitised Markdown text that can grow at its end.

    Only the last block of the outermost level is parsed and laid out anew; a reference whose
    target comes later is a link only after `replace`.
    """

    def __init__(self, source: str = "") -> None:
        self._parser = parser()
        self._parts: list[_Part] = []
        self._closed = 0
        """How many of the parts cannot change any more; the others come from `_tail`."""
        self._tail = ""
        self.replace(source)

    def replace(self, source: str) -> None:
        """Another text."""
        self._parts, self._closed, self._tail = [], 0, ""
        self.append(source)

    def append(self, piece: str) -> None:
        """More of it."""
        self._tail += piece
        lines = self._tail.split("\n")
        groups = list(_groups(self._parser.parse(self._tail)))
        self._parts[self._closed :] = [_part(tokens) for _, tokens in groups]
        # What a line begins is certain only when the line is complete.
        certain = [i for i, (start, _) in enumerate(groups) if 0 < start < len(lines) - 1]
        if certain:
            self._tail = "\n".join(lines[groups[certain[-1]][0] :])
            self._closed += certain[-1]

    def lines(self, width: int) -> list[Line]:
        """All lines, laid out to a width in cells."""
        result: list[Line] = []
        spaced = False
        for part in self._parts:
            lines = part.laid(width)
            if lines and spaced:
                result.append(BLANK)
            result += lines
            spaced = part.spaced
        return result


def _groups(tokens: Sequence[Token]) -> Iterator[tuple[int, Sequence[Token]]]:
    """The tokens of each block of the outermost level, with the line where it begins."""
    start = 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            lines = tokens[start].map
            yield (lines[0] if lines else 0), tokens[start : index + 1]
            start = index + 1


def _part(tokens: Sequence[Token]) -> _Part:
    small = tokens[0].type == "heading_open" and tokens[0].tag not in ("h1", "h2")
    return _Part(list(_Walk(tokens).blocks()), spaced=not small)


@dataclass(slots=True)
class _Level:
    """A list item or a quote that is open."""

    mark: str
    """Before its first row."""
    rest: str
    """Before its other rows."""
    fresh: bool = True
    """Nothing of it stands yet."""

    @property
    def is_quote(self) -> bool:
        return self.mark == BAR


@dataclass(slots=True)
class _List:
    """A list that is open."""

    bullet: str = ""
    number: int = 0
    room: int = 0
    """Cells of its highest number with the dot."""

    def mark(self) -> str:
        if self.bullet:
            return f"{self.bullet} "
        self.number += 1
        return f"{self.number - 1}.".rjust(self.room) + " "


@dataclass(slots=True)
class _Walk:
    """One walk through the tokens of a block."""

    tokens: Sequence[Token]
    levels: list[_Level] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)

    def blocks(self) -> Iterator[Block]:
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self.lists.append(self._list(index))
                case "bullet_list_close" | "ordered_list_close":
                    self.lists.pop()
                case "list_item_open":
                    mark = self.lists[-1].mark()
                    self.levels.append(_Level(mark, " " * len(mark)))
                case "blockquote_open":
                    self.levels.append(_Level(BAR, BAR))
                case "list_item_close" | "blockquote_close":
                    if self.levels[-1].fresh:
                        yield Words(Content(""), self._indent())
                    self.levels.pop()
                case "table_open":
                    yield from self._gap()
                    yield self._table(index)
                    index = self._end(index)
                case _:
                    yield from self._leaf(token, self.tokens[index - 1] if index else token)
            index += 1

    def _leaf(self, token: Token, opener: Token) -> Iterator[Block]:
        match token.type:
            case "inline":
                yield from self._gap()
                style = DIM if any(level.is_quote for level in self.levels) else ""
                if opener.type == "heading_open":
                    style = f"{HEAD} underline" if opener.tag == "h1" else HEAD
                for line in _inline(token).split("\n", allow_blank=True):
                    yield Words(line.stylize_before(style), self._indent())
            case "fence" | "code_block" | "html_block":
                yield from self._gap()
                words = token.info.split()
                language = words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""
                yield Code(token.content.rstrip("\n"), language, self._indent())
            case "hr":
                yield from self._gap()
                yield Rule(self._indent())
            case _:
                pass

    def _gap(self) -> Iterator[Block]:
        """Blocks of a quote are told apart by a line; those of a list stand close."""
        if self.levels and self.levels[-1].is_quote and not self.levels[-1].fresh:
            yield Words(Content(""), self._indent())

    def _indent(self) -> Indent:
        first, rest = [], []
        for level in self.levels:
            first.append(Content.styled(level.mark if level.fresh else level.rest, DIM))
            rest.append(Content.styled(level.rest, DIM))
            level.fresh = False
        return Indent(Content("").join(first), Content("").join(rest))

    def _list(self, index: int) -> _List:
        token = self.tokens[index]
        if token.type == "bullet_list_open":
            depth = sum(bool(item.bullet) for item in self.lists)
            return _List(bullet=BULLETS[depth % len(BULLETS)])
        start = token.attrGet("start")
        first = int(start) if start is not None else 1
        inside = self.tokens[index : self._end(index)]
        items = sum(t.type == "list_item_open" and t.level == token.level + 1 for t in inside)
        return _List(number=first, room=len(f"{first + items - 1}."))

    def _end(self, index: int) -> int:
        """Where the block that opens at `index` closes."""
        level = self.tokens[index].level
        later = range(index + 1, len(self.tokens))
        return next(i for i in later if self.tokens[i].level == level)

    def _table(self, index: int) -> Table:
        rows: list[list[Content]] = []
        right: list[bool] = []
        for token in self.tokens[index : self._end(index)]:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                right.append("right" in str(token.attrGet("style") or ""))
            elif token.type == "inline" and rows:
                rows[-1].append(_inline(token))
        return Table(rows, right, self._indent())


def _inline(token: Token) -> Content:
    parts: list[Content] = []
    styles: list[str | Style] = []
    links: list[tuple[int, str]] = []
    for child in token.children or []:
        match child.type:
            case "code_inline":
                parts.append(_inked(child.content, [*styles, f"{CODE} {CODE_GROUND}"]))
            case "softbreak":
                parts.append(Content(" "))
            case "hardbreak":
                parts.append(Content("\n"))
            case "strong_open" | "em_open" | "s_open" as kind:
                styles.append(_EMPHASIS[kind])
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "link_open":
                href = str(child.attrGet("href") or "")
                links.append((len(parts), href))
                styles.append(Style.from_meta({HREF: href}) + Style(underline=True))
            case "link_close":
                styles.pop()
                start, href = links.pop()
                shown = "".join(part.plain for part in parts[start:])
                if href not in {scheme + shown for scheme in _IMPLIED}:
                    parts.append(Content.styled(f" ({visible(href, keep_newlines=False)})", DIM))
            case "image":
                parts.append(_inked(f"[{child.content}]", [*styles, DIM]))
            case _:
                parts.append(_inked(child.content, styles))
    return Content("").join(parts)


def _inked(text: str, styles: Iterable[str | Style]) -> Content:
    content = Content(text)
    for style in styles:
        content = content.stylize(style)
    return content
