"""Markdown as rows: nothing is cut, indents hang, and a growing text equals the whole one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gh_tui.tui.markdown_rows import Row
from gh_tui.tui.markdown_text import MarkdownText

SAMPLE = """# Head

Para **bold** with `code`
and [link](http://x.y).

- one
- two
  1. deep
  2. deeper
- three

> quoted

| a | bb |
|---|---|
| 1 | 二二 |

```py
x = [/b]
```
"""


def rows(source: str, width: int = 80) -> list[str]:
    return [
        row.lead.plain + row.text.plain
        for line in MarkdownText(source).lines(width)
        for row in line.rows
    ]


def drawn(text: MarkdownText, width: int) -> list[tuple[str, list[Row]]]:
    return [(line.plain, list(line.rows)) for line in text.lines(width)]


def test_a_character_that_is_spelled_out_is_sanitised() -> None:
    assert rows("&#x202E;a &amp; &#13;b") == ["‹U+202E›a & ␍b"]
    assert rows("<http://x/%E2%80%AE>") == ["http://x/‹U+202E› (http://x/%E2%80%AE)"]


def test_a_link_shows_its_address_unless_its_words_are_that() -> None:
    assert rows("[a](http://x.y/z) http://x.y <http://x.z>") == [
        "a (http://x.y/z) http://x.y http://x.z"
    ]
    assert rows("[x.y](http://x.z/?x.y)") == ["x.y (http://x.z/?x.y)"]


def test_the_blocks_of_a_reply() -> None:
    assert rows(SAMPLE) == [
        "Head",
        "",
        "Para bold with code and link (http://x.y).",
        "",
        "• one",
        "• two",
        "  1. deep",
        "  2. deeper",
        "• three",
        "",
        "▌ quoted",
        "",
        "a  bb  ",
        "1  二二",
        "",
        " x = [/b]",
    ]


def test_what_is_wrapped_keeps_its_indent() -> None:
    assert rows("- one two three\n\n9. four five six\n10. x", 10) == [
        "• one two",
        "  three",
        "",
        " 9. four",
        "    five",
        "    six",
        "10. x",
    ]
    assert rows("> one two three", 10) == ["▌ one two", "▌ three"]


def test_a_long_line_of_code_goes_on_below_with_a_mark() -> None:
    assert rows("```py\nabcdefghij = 1\n\tx\n```", 10) == [" abcdefgh", "↳ij = 1", "     x"]


def test_a_wide_table_wraps_its_cells() -> None:
    assert rows("| a | n |\n|---|--:|\n| one two three | 12 |", 12) == [
        "a          n",
        "one two   12",
        "three       ",
    ]


def test_what_is_copied_has_no_wrapping_in_it() -> None:
    text = MarkdownText("1. one two three\n\n```\nabcdefghij = 1\n```")
    assert [line.plain for line in text.lines(10)] == ["1. one two three", "", "abcdefghij = 1"]
    for line in text.lines(10):
        for row in line.rows:
            assert line.plain[row.start :].startswith(row.text.plain)


def test_emphasis_is_ink_and_not_text() -> None:
    (line,) = MarkdownText("a **b** `c`").lines(40)
    content = line.rows[0].text
    inks = {(content.plain[span.start : span.end], str(span.style)) for span in content.spans}
    assert ("b", "bold") in inks
    assert any(text == "c" for text, _ in inks)


SOURCES = st.text(alphabet=st.sampled_from(list("ab*_`()<>#-|\n 1.!\\~&;/@=字")), max_size=80)


@given(SOURCES, st.integers(1, 60))
def test_any_text_becomes_some_rows(source: str, width: int) -> None:
    text = MarkdownText(source)
    for line in text.lines(width):
        for row in line.rows:
            assert width < 40 or row.lead.cell_length + row.text.cell_length <= width
    shown = "\n".join(line.plain for line in text.lines(200))
    words = {
        child.content
        for token in MarkdownIt("gfm-like", {"linkify": False}).parse(source)
        for child in token.children or []
        if child.type == "code_inline"
    }
    assert "|" in source or all(word in shown for word in words)


@given(st.lists(SOURCES, max_size=6), st.integers(8, 60))
def test_a_text_that_grew_equals_the_whole_one(pieces: list[str], width: int) -> None:
    grown = MarkdownText()
    for piece in pieces:
        grown.append(piece)
        grown.lines(width)
    assert drawn(grown, width) == drawn(MarkdownText("".join(pieces)), width)
