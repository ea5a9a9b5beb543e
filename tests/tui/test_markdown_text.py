from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gh_tui.tui.markdown_text import rendered

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


def test_a_character_that_is_spelled_out_is_sanitised() -> None:
    assert rendered("&#x202E;a &amp; &#13;b").plain == "‹U+202E›a & ␍b"
    assert rendered("<http://x/%E2%80%AE>").plain == "http://x/‹U+202E› (http://x/%E2%80%AE)"


def test_the_blocks_of_a_reply() -> None:
    assert rendered(SAMPLE).plain.split("\n") == [
        "Head",
        "",
        "Para bold with code and link (http://x.y).",
        "",
        "•  one",
        "•  two",
        "   1. deep",
        "   2. deeper",
        "•  three",
        "",
        "▌ quoted",
        "",
        "a  bb  ",
        "1  二二",
        "",
        " x = [/b]",
    ]


def test_emphasis_is_ink_and_not_text() -> None:
    content = rendered("a **b** `c`")
    inks = {(content.plain[span.start : span.end], str(span.style)) for span in content.spans}
    assert ("b", "bold") in inks
    assert any(text == "c" for text, _ in inks)


@given(st.text(alphabet=st.sampled_from(list("ab*_`[]()<>#-|\n 1.!\\~&;:/@=字")), max_size=80))
def test_any_text_becomes_some_content(source: str) -> None:
    shown = rendered(source).plain
    words = {
        child.content
        for token in MarkdownIt("gfm-like", {"linkify": False}).parse(source)
        for child in token.children or []
        if child.type == "code_inline"
    }
    table = "|" in source
    assert table or all(word in shown for word in words)
