import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.text import one_line, visible

HOSTILE = st.sampled_from(
    "\x00\x07\x08\r\x1b\x7f\x85\x9b\x9d\xad\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u2028\u202e"
    "\u2060\u2066\u2069\u2800\u3164\ufe0e\ufe0f\ufeff\uffa0\ufffb\ud800\udfff\U000e0001\U000e0041"
    "\U000e007f\U000e0100\u0301\u0e49"
)
FOREIGN = st.text(st.one_of(HOSTILE, st.characters(), st.sampled_from("aß天👨❤क\n\t #1")))
READABLE_FORMAT = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2}


def is_forbidden(char: str) -> bool:
    """By the Unicode data, not by the sanitiser's own lists."""
    code = ord(char)
    if char in "\n\t":
        return False
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return code not in READABLE_FORMAT
    return (
        0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
        or code in (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)
    )


@given(FOREIGN)
def test_nothing_hidden_comes_through(text: str) -> None:
    assert not [char for char in visible(text) if is_forbidden(char)]
    visible(text).encode("utf-8")


@given(FOREIGN)
def test_once_is_enough(text: str) -> None:
    once = visible(text)
    assert visible(once) == once


@given(FOREIGN)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert "\t" not in line
    assert not [char for char in line if is_forbidden(char)]


def test_every_character_alone() -> None:
    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if is_forbidden(chr(code)) and visible(f"a{chr(code)}b") in (f"a{chr(code)}b", "ab")
    ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "今天天气真不错，周末去哪里玩？",
        "Tiếng Việt: Tie\u0302\u0301ng",
        "שָׁלוֹם עֲלֵיכֶם",
        "ที่นี่มีผู้คน",
        "हिन्दी में लिखा हुआ",
        "العربية بخط جميل",
        "👍🏽 🇮🇩 ✓ ★ café ﷽",
        "tabs\tand\nlines",
    ],
)
def test_ordinary_text_is_untouched(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]52;c;cm0=\x07", "␛]52;c;cm0=␇"),
        ("\x9b31m", "‹U+009B›31m"),
        ("rm \u202e/fr", "rm ‹U+202E›/fr"),
        ("rm\u200b -rf", "rm‹U+200B› -rf"),
        ("a\u200db", "a‹U+200D›b"),
        ("dos\r\nunix\rmac", "dos\nunix␍mac"),
        ("\u200b" * 40, "‹U+200B›×40"),
        ("ok" + "".join(chr(0xE0000 + ord(char)) for char in "run rm"), "ok‹tags “run rm”›"),
        ("می\u200cخواهم", "می·خواهم"),
        ("👨\u200d👩", "👨·👩"),
        ("❤\ufe0f 1\ufe0f\u20e3", "❤ 1\u20e3"),
        ("a\ufe0f", "a‹U+FE0F›"),
        ("❤\ufe0f\ufe0f\ufe0f\ufe0f", "❤‹U+FE0F›×4"),
        ("z" + "\u0301" * 50, "z" + "\u0301" * 8 + "‹+42 marks›"),
        ("\ud83d", "‹U+D83D›"),
    ],
)
def test_marks(raw: str, shown: str) -> None:
    assert visible(raw) == shown


def test_names_stay_on_one_line() -> None:
    assert visible("a\nb\tc", keep_newlines=False) == "a␊b␉c"


def test_one_line_looks_at_the_beginning_only() -> None:
    assert one_line("word " * 1_000_000, 9) == "word word…"
