"""The names in a text: paths and identifiers, by which later work refers to it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from gh_tui.memory.tokens import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gh_tui.memory.turn import L1Turn

SHARE: Final = 12
"""A line may take this part of the text's tokens for names."""
MOST: Final = 150
"""Tokens."""
_SCANNED: Final = 20_000
_LONGEST: Final = 120
_WORD: Final = re.compile(r"[\w@$~./-]{4,}", re.ASCII)
_LETTER: Final = re.compile(r"[A-Za-z]")
_TELLING: Final = re.compile(r"[/_]|[a-z][A-Z]|\w\.\w|[A-Za-z]\d|\w-\w+-", re.ASCII)


def names_in(text: str) -> Counter[str]:
    """The names of a text with how often each occurs, in order of their first occurrence.

    A name is a word with a mark that ordinary words do not have: a slash, an underscore, a
    capital or digit inside, an inner dot, two hyphens.
    """
    found: Counter[str] = Counter()
    for match in _WORD.finditer(text[:_SCANNED]):
        word = match[0].lstrip("-").rstrip("./-~$@")
        if 3 < len(word) <= _LONGEST and _LETTER.search(word) and _TELLING.search(word):
            found[word] += 1
    return found


def digest(text: str, known: Collection[str], room: int) -> tuple[str, ...]:
    """The names of a text that are worth keeping when the text goes.

    Names in `known` are shown elsewhere. Of the others the most frequent come first, since what
    a text is about it repeats; at equal frequency the earliest.

    Args:
        text: the text.
        known: names that stay visible anyhow.
        room: tokens that the names may take, separators included.
    """
    chosen: list[str] = []
    for name, _ in names_in(text).most_common():
        if name in known:
            continue
        cost = count(f" {name},")
        if cost > room:
            break
        room -= cost
        chosen.append(name)
    return tuple(chosen)


class NameBook:
    """For each turn of a session, in order, the names that its line keeps.

    A name that an earlier turn has brought is not kept again: a second reading of a file adds
    only what is new in it.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._kept: list[tuple[str, ...]] = []

    def __getitem__(self, row: int) -> tuple[str, ...]:
        return self._kept[row]

    def add(self, turn: L1Turn) -> None:
        """Take in the next turn."""
        text = "\n".join([turn.text, *_strings(call.arguments for call in turn.calls)])
        kept = digest(text, self._known, min(MOST, turn.tokens // SHARE))
        self._kept.append(kept)
        # Of a result the line is all that stays; of the rest the whole text, as a rule.
        self._known.update(kept if turn.role == "tool" else names_in(text))


def _strings(values: Iterable[object]) -> Iterator[str]:
    """The strings inside arguments, without JSON's marks."""
    for value in values:
        if isinstance(value, dict):
            yield from _strings(value.values())
        elif isinstance(value, list | tuple):
            yield from _strings(value)
        elif isinstance(value, str):
            yield value
