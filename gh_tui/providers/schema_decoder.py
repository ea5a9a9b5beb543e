"""An incremental reader of one JSON object whose string members are shown as they arrive."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
REPLACEMENT: Final = "\ufffd"


class _State(Enum):
    VALUE = auto()
    """Between tokens."""
    STRING = auto()
    ESCAPE = auto()
    """After a backslash."""
    UNICODE = auto()
    """Within the four digits of an escape."""


class ObjectDecoder:
    """Yields the decoded text of chosen top-level string members of one JSON object.

    The input may be cut between any two characters. Nothing is validated: the caller parses the
    finished text. Lone surrogates come out as U+FFFD. Only the first member of a name counts.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._seen: set[str] = set()
        self._state = _State.VALUE
        self._depth = 0
        self._expect_key = False
        self._in_key = False
        self._key: list[str] = []
        self._member: str | None = None
        self._digits = ""
        self._high: int | None = None
        self._out: list[tuple[str, str]] = []

    def feed(self, text: str) -> list[tuple[str, str]]:
        """Take more of the object; return (member, decoded text) pieces, none of them empty."""
        self._out = []
        for char in text:
            match self._state:
                case _State.VALUE:
                    self._between(char)
                case _State.STRING:
                    self._inside(char)
                case _State.ESCAPE:
                    self._escape(char)
                case _State.UNICODE:
                    self._unicode(char)
        return _joined(self._out)

    def _between(self, char: str) -> None:
        match char:
            case '"':
                self._state = _State.STRING
                self._in_key = self._depth == 1 and self._expect_key
                if self._in_key:
                    self._key = []
            case "{" | "[":
                self._depth += 1
                self._expect_key = self._depth == 1
                if self._depth > 1:
                    self._member = None
            case "}" | "]":
                self._depth -= 1
            case ":" if self._depth == 1:
                self._expect_key = False
                self._choose()
            case "," if self._depth == 1:
                self._expect_key = True
                self._member = None
            case _:
                pass

    def _choose(self) -> None:
        name = "".join(self._key)
        self._member = name if name in self._names and name not in self._seen else None
        self._seen.add(name)

    def _inside(self, char: str) -> None:
        match char:
            case '"':
                self._settle()
                self._state = _State.VALUE
            case "\\":
                self._state = _State.ESCAPE
            case _:
                self._settle()
                self._emit(char)

    def _escape(self, char: str) -> None:
        if char == "u":
            self._state, self._digits = _State.UNICODE, ""
            return
        self._state = _State.STRING
        self._settle()
        self._emit(_ESCAPES.get(char, char))

    def _unicode(self, char: str) -> None:
        self._digits += char
        if len(self._digits) < 4:
            return
        self._state = _State.STRING
        try:
            unit = int(self._digits, 16)
        except ValueError:
            self._settle()
            self._emit(REPLACEMENT)
            return
        if self._high is not None and 0xDC00 <= unit <= 0xDFFF:
            self._emit(chr(0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)))
            self._high = None
            return
        self._settle()
        if 0xD800 <= unit <= 0xDBFF:
            self._high = unit
        else:
            self._emit(chr(unit))

    def _settle(self) -> None:
        """A high surrogate that no low one followed is replaced."""
        if self._high is not None:
            self._high = None
            self._emit(REPLACEMENT)

    def _emit(self, char: str) -> None:
        if 0xD800 <= ord(char) <= 0xDFFF:
            char = REPLACEMENT
        if self._in_key:
            self._key.append(char)
        elif self._member is not None and self._depth == 1:
            self._out.append((self._member, char))


def _joined(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    joined: list[tuple[str, list[str]]] = []
    for name, char in pieces:
        if joined and joined[-1][0] == name:
            joined[-1][1].append(char)
        else:
            joined.append((name, [char]))
    return [(name, "".join(chars)) for name, chars in joined]
