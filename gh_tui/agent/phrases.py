"""The closed list of inputs that act by themselves, compared as wholes."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources

_DROPPED = re.compile(r"(?<![a-z0-9])[.,!:~。、]|[.,!:~。、](?![a-z0-9])")
_APOSTROPHES = str.maketrans({"'": None, "’": None, "?": " ? "})
_CJK = "\u3400-\u4dbf\u4e00-\u9fff"
_CJK_GAP = re.compile(rf"(?<=[{_CJK}])\s+|\s+(?=[{_CJK}])")
_LONGEST = 120
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
    nest; there is nothing that repeats or stands for any text.
    """

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._classes = {
            name: re.compile("|".join(f"(?:{_regex(line)})" for line in lines))
            for name, lines in patterns.items()
        }

    def lookup(self, text: str) -> str | None:
        """The class whose list holds the whole text, or None."""
        if len(text) > _LONGEST:
            return None
        whole = normalise(text) + " "
        return next((name for name, rx in self._classes.items() if rx.fullmatch(whole)), None)


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
