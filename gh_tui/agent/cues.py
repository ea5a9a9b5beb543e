"""What can be told from the words alone: lexical cues, sentences, plain questions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

import numpy as np

from gh_tui.embedding.vectors import Vector

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_VALUE = re.compile(
    r"\b[A-Z][A-Z0-9_-]{2,}\b|[\"“「『`][^\"”」』`]{1,200}[\"”」』`]|\d|\b\w+[._/@]\w+|[~/]\w+/"
)
_STATES = re.compile(
    r"\b(?:is|are|equals|called|named|adalah|ialah|bernama|jadi|isnya|nya)\b|\wnya\b|是|为|叫|等于|改成|=",
    re.IGNORECASE,
)
_QUESTION_MARKS = ("?", "？")
_EDGES = 4


def sentences(text: str) -> list[str]:
    """Split into sentences; of a long text only the first and the last four.

    People put what they want before or after what they paste.
    """
    parts = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    return parts if len(parts) <= 2 * _EDGES else parts[:_EDGES] + parts[-_EDGES:]


class Cues:
    """Counts as a feature vector which kinds of words a text has."""

    def __init__(self, tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self.names = (*tables, "value", "states", "question", "short")
        self._latin = [
            re.compile(rf"\b(?:{'|'.join(table['latin'])})(?!\w)") for table in tables.values()
        ]
        self._cjk = [re.compile("|".join(table["cjk"])) for table in tables.values()]
        self._firm = (*tables,).index("firm")

    def firm(self, text: str) -> bool:
        """Whether some word leaves little doubt that the input must not be forgotten."""
        return self._found(text.casefold(), self._firm)

    def features(self, text: str) -> Vector:
        """Zeros and ones, float32[len(names)], one for each kind of word found."""
        folded = text.casefold()  # quicker than patterns that pass over case
        found = [self._found(folded, at) for at in range(len(self._latin))]
        found += [
            _VALUE.search(text) is not None,
            _STATES.search(text) is not None,
            text.rstrip().endswith(_QUESTION_MARKS),
            length(text) <= 4,
        ]
        return np.array(found, dtype=np.float32)

    def _found(self, text: str, at: int) -> bool:
        if self._latin[at].search(text) is not None:
            return True
        return not text.isascii() and self._cjk[at].search(text) is not None


def length(text: str) -> float:
    """Words, where two Chinese characters count as one."""
    cjk = len(re.findall("[\u3400-\u9fff]", text))
    return cjk / 2 + len(re.findall(r"[^\W\u3400-\u9fff]+", text))


class Questions:
    """Tells a plain question from a proposal and from a request that is put as one."""

    def __init__(self, tables: Mapping[str, Mapping[str, str | Sequence[str]]]) -> None:
        self._ask, self._request, self._proposal = (
            (
                re.compile(rf"(?:{'|'.join(tables[name]['latin'])})(?!\w)", re.IGNORECASE),
                re.compile(str(tables[name]["cjk"])),
            )
            for name in ("ask", "request", "proposal")
        )
        self._not_asked = re.compile(str(tables["not_asked"]["cjk"]))

    def plain(self, text: str) -> bool:
        """Whether every sentence asks for an answer and none for an action.

        "Could you use port 9090?" is a request; "Which port is used?" is a plain question.
        """
        parts = sentences(text)
        return bool(parts) and all(self._asks(part) for part in parts)

    def proposes(self, text: str) -> bool:
        """Whether the text is a question that offers an idea ("How about …?")."""
        return text.rstrip().endswith(_QUESTION_MARKS) and _either(self._proposal, text)

    def statement(self, text: str) -> str:
        """The text without the polite words that make a question of a request."""
        match = self._request[0].match(text)
        return text[match.end() :].strip() or text if match else text

    def _asks(self, sentence: str) -> bool:
        if _either(self._request, sentence) or _either(self._proposal, sentence):
            return False
        if sentence.endswith(_QUESTION_MARKS):
            return True
        latin, cjk = self._ask
        if latin.match(sentence):
            return not sentence.partition(":")[2].strip()
        return cjk.search(sentence) is not None and self._not_asked.search(sentence) is None


def _either(patterns: tuple[re.Pattern[str], re.Pattern[str]], text: str) -> bool:
    latin, cjk = patterns
    return latin.match(text) is not None or cjk.search(text) is not None


def _table(name: str) -> dict[str, dict[str, list[str]]]:
    text = resources.files("gh_tui.agent").joinpath(f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def load_cues() -> Cues:
    """Read the cues that ship with the program."""
    return Cues(_table("cues"))


def load_questions() -> Questions:
    """Read the marks of questions that ship with the program."""
    return Questions(_table("questions"))
