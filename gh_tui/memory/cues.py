"""What a summary must not lose: failures, negations, commands, numbers, paths and names.

Rules on the text alone, in English, Chinese and Indonesian, with the commonest forms of Japanese
and Thai. Typographic apostrophes and characters of full width match like plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from gh_tui.memory import cue_patterns as patterns
from gh_tui.memory import cue_words as words

Kind = Literal["failure", "negation", "command", "number", "path", "name"]
Cue = tuple[int, Kind]
"""Where it begins, in characters, and what it is."""

WEIGHTS: Final[dict[Kind, float]] = {
    "failure": 4.0,
    "negation": 2.0,
    "command": 2.0,
    "number": 1.5,
    "path": 1.5,
    "name": 1.0,
}
"""What each kind is worth, the heaviest first."""
_COUNTED: Final = 3
"""Finds of one kind that count in a clause."""

_ALIKE: Final[dict[int, int | str]] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "’‘ʼ"), "'"),
    **dict.fromkeys(map(ord, "‑−"), "-"),
    ord("\u3000"): " ",
}
"""One character for one, so that what is found stands at the same place in the text itself."""

_LISTED: Final[dict[str, Kind]] = {
    **dict.fromkeys(words.NUMBERS, "number"),
    **dict.fromkeys(words.OBLIGATIONS, "command"),
    **dict.fromkeys(words.NEGATIONS, "negation"),
    **dict.fromkeys(words.FAILURES, "failure"),
}
_WORD: Final = re.compile(r"\w+(?:'\w+)*", re.ASCII)  # ASCII: a word ends where Chinese begins
_PARTICLES: Final = ("nya", "lah", "pun", "kah")
"""What Indonesian joins to the end of a word."""
_SEGMENT: Final = re.compile(r"[^,:;、()\n]+")

_PLAIN: Final[tuple[tuple[re.Pattern[str], Kind], ...]] = (
    (patterns.NUMBER, "number"),
    (patterns.PATH, "path"),
    (patterns.NAME, "name"),
)
_FOLDED: Final[tuple[tuple[re.Pattern[str], Kind], ...]] = ((patterns.COMMAND_PHRASE, "command"),)
_EAST: Final[tuple[tuple[re.Pattern[str], Kind], ...]] = (
    (patterns.EAST_NEGATION, "negation"),
    (patterns.EAST_OBLIGATION, "command"),
    (patterns.EAST_NUMBER, "number"),
)


def find(text: str) -> dict[Kind, list[int]]:
    """Where each kind begins in a text, in characters; kinds that are absent are left out."""
    plain, folded = _forms(text)
    listed = list(_listed(folded))
    found = _failures(folded, listed)
    found.extend(cue for cue in listed if cue[1] != "failure")
    found.extend(_matches(_FOLDED, folded))
    found.extend(_matches(_PLAIN, plain))
    found.extend(_commands(folded))
    if not folded.isascii():
        found.extend(_matches(_EAST, folded))
    starts: dict[Kind, list[int]] = {}
    for start, kind in found:
        starts.setdefault(kind, []).append(start)
    return starts


def weight(text: str) -> float:
    """How much of what must stay is in a clause, against the room that it takes."""
    held = sum(WEIGHTS[kind] * min(_COUNTED, len(starts)) for kind, starts in find(text).items())
    return held / (1.0 + len(text) / 80.0)


def focus(text: str) -> int:
    """Where the first find of the heaviest kind begins; 0 if there is none."""
    found = find(text)
    return next((min(found[kind]) for kind in WEIGHTS if kind in found), 0)


def failure_rank(line: str) -> int:
    """What a line of output tells of a failure: 0 nothing, 1 that there was one, 2 what it was."""
    plain, folded = _forms(line)
    if not _failures(folded, _listed(folded)):
        return 0
    return 2 if patterns.REPORT.search(plain) and not patterns.COUNT_ONLY.search(plain) else 1


def _forms(text: str) -> tuple[str, str]:
    """The text with plain characters, and that in lower case, each as long as the text."""
    plain = text if text.isascii() else text.translate(_ALIKE)
    lower = plain.lower()
    return plain, lower if len(lower) == len(plain) else plain


def _matches(kinds: Iterable[tuple[re.Pattern[str], Kind]], text: str) -> Iterator[Cue]:
    for pattern, kind in kinds:
        for match in pattern.finditer(text):
            yield match.start(), kind


def _failures(folded: str, listed: Iterable[Cue]) -> list[Cue]:
    found = _all_failures(folded, listed)
    if found and patterns.HARMLESS.search(folded):
        calm = patterns.HARMLESS.sub(lambda harmless: " " * len(harmless[0]), folded)
        return _all_failures(calm, _listed(calm))
    return found


def _all_failures(folded: str, listed: Iterable[Cue]) -> list[Cue]:
    found = [cue for cue in listed if cue[1] == "failure"]
    found.extend(_matches(((patterns.FAILURE_PHRASE, "failure"),), folded))
    if not folded.isascii():
        found.extend(_matches(((patterns.EAST_FAILURE, "failure"),), folded))
    return found


def _listed(folded: str) -> Iterator[Cue]:
    """The words that count wherever they stand; after an article a verb is a noun."""
    before = ""
    for match in _WORD.finditer(folded):
        word = match[0]
        kind = _LISTED.get(word) or _inflected(word)
        if kind is not None and not (
            kind == "command" and before in words.ARTICLES and word in words.COMMANDS
        ):
            yield match.start(), kind
        before = word


def _inflected(word: str) -> Kind | None:
    if word.endswith(_PARTICLES):
        stem = word[:-3]
        asks = word.endswith("lah") and stem in words.INDONESIAN_COMMANDS
        return "command" if asks else _LISTED.get(stem)
    if word.endswith("n't"):
        return "negation"
    return "failure" if word.endswith(("error", "exception")) else None


def _commands(folded: str) -> Iterator[Cue]:
    """The segments that begin as a command does."""
    for segment in _SEGMENT.finditer(folded):
        found = (match[0] for match in _WORD.finditer(segment[0]))
        first = next((word for word in found if word not in words.LEADS), "")
        follows = next(found, "")
        if (
            _english(first, follows, opens=segment.start() == 0)
            or _indonesian(first, follows)
            or _chinese(segment[0])
        ):
            yield segment.start(), "command"


def _english(first: str, follows: str, *, opens: bool) -> bool:
    """A known verb; or, where a sentence opens, any word that an article or particle follows.

    Unless that is a word of a closed class (a preposition, a pronoun), or its ending says that it
    is no bare verb.
    """
    if first in words.COMMANDS:
        if first in words.NOUNS_TOO:
            return follows in words.OBJECTS
        return follows != "of"
    ended = first.endswith(("ing", "ed", "ly", "s", "day", "ward"))
    bare = first.isalpha() and not ended and first not in words.NO_VERBS
    return opens and bare and (follows in words.ARTICLES or follows in words.PARTICLES)


def _indonesian(first: str, follows: str) -> bool:
    """A known verb, or one in -kan; not with what makes a noun of it ("kunci itu")."""
    stem = first.removesuffix("lah")
    if stem.endswith("kan") and len(stem) > 5:
        return stem not in words.NO_COMMANDS and not stem.startswith(("me", "di", "pem", "pen"))
    return stem in words.INDONESIAN_COMMANDS and follows not in words.DEMONSTRATIVES


def _chinese(segment: str) -> bool:
    if segment.isascii() or patterns.STATED.search(segment):
        return False
    lead = patterns.EAST_LEAD.match(segment)
    return patterns.EAST_COMMAND.match(segment, lead.end() if lead else 0) is not None
