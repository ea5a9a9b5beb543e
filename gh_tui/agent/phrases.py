"""The closed list of inputs that act by themselves, compared as wholes."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources

_CJK = "\u3400-\u4dbf\u4e00-\u9fff"
_DROPPED = re.compile(r"(?<![a-z0-9])[.,!:~。、]|[.,!:~。、](?![a-z0-9])")
_APOSTROPHES = str.maketrans({"'": None, "’": None, "?": " ? "})
_CJK_GAP = re.compile(rf"(?<=[{_CJK}])\s+|\s+(?=[{_CJK}])")
_LONGEST = 120
_MOST_PARTS = 3
_PART_END = re.compile(r"[,;!~，；！。、]+|\.+(?=\s|$)|\s+[-–—]+\s+|\n+")
_PARTICLES = re.compile(
    r"(?<!\S)(?:ya|yah|yak|dong|deh|aja|saja|sih|nih|tuh|lah|kok|dulu|please|pls|plz|just|guys|mate|bro|gan|bos|kak)(?!\S)"
    rf"|(?<=[{_CJK}])[吧啊呀哦噢啦哈嘛呗哟]+$"
)
_ASIDE = "Aside"
_SKIP = "SkipCurrentStep"
_BRACKETS = {"(": "(?:", "[": "(?:", ")": ")", "]": ")?", "|": "|"}


def normalise(text: str) -> str:
    """Make case, spacing and closing punctuation equal.

    Question marks, quotes, brackets and code signs stay: `pause?` and `pause()` are not
    `pause`.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = _DROPPED.sub(" ", plain).translate(_APOSTROPHES).split()
    return _CJK_GAP.sub("", " ".join(words))


class PhraseBook:
    """Whole inputs and the class of each.

    A pattern spells out a finite set of texts: `(a|b)` is a choice, `[a|b]` an option, both
    nest; there is nothing that repeats or stands for any text. The class Aside holds what may
    stand beside another entry, and is never an answer.
    """

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._classes = {
            name: re.compile("|".join(f"(?:{_regex(line)})" for line in lines))
            for name, lines in patterns.items()
        }
        self._aside = self._classes.pop(_ASIDE, None)

    def lookup(self, text: str) -> str | None:
        """The class whose list holds the whole text, or None.

        The text may also be up to three entries of one class in a row ("wait, hold on"), and
        particles that only set the tone count for nothing.
        """
        if len(text) > _LONGEST:
            return None
        found = self._entry(text)
        if found is None:
            parts = [part for part in _PART_END.split(text) if part.strip()]
            if 1 < len(parts) <= _MOST_PARTS:
                classes = {self._entry(part) for part in parts if not self._is_aside(part)}
                # "Leave this one, go on" is one request, and what goes on is all but this step.
                classes = {_SKIP} if classes == {_SKIP, "Resume"} else classes
                found = classes.pop() if len(classes) == 1 else None
        return found

    def _is_aside(self, text: str) -> bool:
        return self._aside is not None and self._aside.fullmatch(normalise(text) + " ") is not None

    def _entry(self, text: str) -> str | None:
        whole = normalise(text)
        return self._equal(whole) or self._equal(" ".join(_PARTICLES.sub(" ", whole).split()))

    def _equal(self, whole: str) -> str | None:
        return next((name for name, rx in self._classes.items() if rx.fullmatch(whole + " ")), None)


def _regex(pattern: str) -> str:
    """A pattern as a regular expression over words that each end in a space."""
    parts = re.split(r"([()\[\]|])", pattern)
    return "".join(_BRACKETS.get(part) or _words(part) for part in parts) + " ?"


def _words(text: str) -> str:
    return "".join(
        re.escape(word) + ("" if re.search(f"[{_CJK}]$", word) else " ?" if word == "?" else " ")
        for word in text.split()
    )


def load_phrases() -> PhraseBook:
    """Read the list that ships with the program."""
    text = resources.files("gh_tui.agent").joinpath("phrases.toml").read_text("utf-8")
    return PhraseBook(
        {
            name: [line for lines in languages.values() for line in lines]
            for name, languages in tomllib.loads(text).items()
        }
    )
