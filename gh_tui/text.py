"""The one boundary between foreign text and the terminal.

Everything that a model, tool, file, recording or server wrote passes `visible` (or `one_line`)
before it is shown. Characters that command the terminal, reorder text or cannot be seen become
marks that can be seen: `␛` for ESC, `‹U+202E›` for the rest. The result holds no ESC, C0 (but
newline and tab), DEL, C1, bidi control, zero-width, tag or filler character and no surrogate,
and sanitising it again changes nothing. Recordings keep the raw text.
"""

from __future__ import annotations

import re

_MAX_STACK = 8
"""Combining marks in a row; the deepest ordinary stacks (Tibetan, pointed Hebrew) need fewer."""

_RUN_CUT = 3
"""A longer run of one character is written once, with its length."""

_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    r"\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_COMBINING = (
    r"\u0300-\u034e\u0350-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0f71-\u0f84\u135d-\u135f\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe20-\ufe2f"
)
_ASCII_HIDDEN = bytes({*range(0x20), 0x7F} - {0x09, 0x0A})
_SUSPECT = re.compile(f"[{_HIDDEN}]")
_STACK = re.compile(f"([{_COMBINING}]{{{_MAX_STACK}}})([{_COMBINING}]+)")
_MARKED = re.compile(
    r"\r\n"
    r"|(?P<tags>[\U000e0020-\U000e007e]+\U000e007f?)"
    r"|(?P<presentation>(?<=[^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\ufe00-\ufe0f])"
    r"[\ufe0e\ufe0f](?![\ufe00-\ufe0f]))"
    r"|(?P<joiner>(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f]))"
    f"|(?P<run>(?P<one>[{_HIDDEN}])(?P=one)*)"
)
_SPACE = re.compile(r"\s+")


def visible(text: str, *, keep_newlines: bool = True) -> str:
    """The text with everything unseen or commanding made visible.

    A joiner between two characters of a script (Persian, Hindi, joined emoji) becomes a thin
    `·`, so that the words stay readable; a presentation selector after an emoji is dropped,
    since terminals disagree about its width. CRLF becomes a newline.

    Args:
        text: any string, lone surrogates included.
        keep_newlines: when false, newline and tab become `␊` and `␉`: for names and titles.
    """
    if text.isascii():
        raw = text.encode("ascii")
        if len(raw.translate(None, _ASCII_HIDDEN)) < len(raw):
            text = _MARKED.sub(_mark, text)
    else:
        if _SUSPECT.search(text):
            text = _MARKED.sub(_mark, text)
        text = _STACK.sub(_cut_stack, text)
    if not keep_newlines:
        text = text.replace("\n", "␊").replace("\t", "␉")
    return text


def one_line(text: str, limit: int = 400) -> str:
    """The beginning of a text on one line, white space collapsed, sanitised.

    Args:
        text: any string.
        limit: how many characters of it are looked at; more are shown as `…`.
    """
    head = text[:limit]
    collapsed = _SPACE.sub(" ", visible(head)).strip()
    return collapsed + "…" if len(text) > limit else collapsed


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things in words: `1 line`, `2,000 lines`; `plural` if it is not the noun + s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def _cut_stack(match: re.Match[str]) -> str:
    return f"{match[1]}‹+{len(match[2])} marks›"


def _mark(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "tags":
            hidden = "".join(chr(ord(char) - 0xE0000) for char in match[0].rstrip("\U000e007f"))
            return f"‹tags “{hidden}”›"
        case "presentation":
            return ""
        case "joiner":
            return "·"
        case "run":
            return _mark_run(match["one"], len(match[0]))
        case _:
            return "\n"


def _mark_run(char: str, length: int) -> str:
    code = ord(char)
    if code < 0x20:
        mark = chr(0x2400 + code)
    elif code == 0x7F:
        mark = "␡"
    else:
        mark = f"‹U+{code:04X}›"
    return mark * length if length <= _RUN_CUT else f"{mark}×{length}"
