"""Readers for the public data sets; nothing of them is kept in the repository.

What is missing or cannot be read is told and left out; the rest is still measured.
"""

from __future__ import annotations

import codecs
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

FOLDERS: Final = ("relevance", "locomo", "tiage", "dialseg711", "kdconv_concat", "structflowbench")
UNREADABLE: Final = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    RecursionError,
)
"""What a reader may raise when a file is not what it should be."""
_SPEAKER: Final = re.compile(r"(user|agent):\s*(.*)", re.DOTALL)

Skip = Callable[[str, str], None]
"""Told which part of the data is left out, and why."""


class NoData(Exception):
    """A benchmark has nothing to measure; the text says why."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns and the true boundaries: `boundaries` holds the indexes of turns that end a topic."""

    texts: tuple[str, ...]
    users: tuple[bool, ...]
    boundaries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prompts:
    """A conversation with a model; `relations` names how each prompt follows from earlier ones."""

    prompts: tuple[str, ...]
    answers: tuple[str, ...]
    relations: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One data set of dialogues in its two splits, of which one may be empty."""

    name: str
    development: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, with or without a mark at its beginning, or in UTF-16 with one.

    Raises:
        OSError, UnicodeDecodeError: it cannot be read.
    """
    raw = path.read_bytes()
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if wide else "utf-8-sig")


def why(error: BaseException) -> str:
    """What is wrong with a file, in a few words."""
    if isinstance(error, FileNotFoundError):
        return "is not there"
    return f"cannot be read: {type(error).__name__}: {error!s:.200}"


@contextmanager
def needed(path: Path) -> Iterator[None]:
    """Around the reading of a file without which there is nothing to measure.

    Raises:
        NoData: it is not there, or not what it should be.
    """
    try:
        yield
    except UNREADABLE as error:
        raise NoData(f"{path} {why(error)}") from error


def _strictly(part: str, reason: str) -> None:
    raise NoData(f"{part}: {reason}")


def load_corpora(root: Path, skip: Skip = _strictly) -> list[Corpus]:
    """The corpora with topic boundaries of which a split can be read under `root`.

    Args:
        root: the folder of the data.
        skip: told of each corpus, file and line that is left out.

    Raises:
        NoData: unless `skip` says otherwise, when anything is left out.
    """
    readers = {"tiage": _tiage, "dialseg711": _dialseg, "kdconv_concat": _kdconv}
    corpora = []
    for name, read in readers.items():
        if not (root / name).is_dir():
            skip(name, f"there is no {name} in {root}")
            continue
        development, test = read(root / name, partial(skip, name))
        corpora.append(Corpus(name, development, test))
        if not test:
            skip(name, "no dialogue in its test split")
    return [corpus for corpus in corpora if corpus.development or corpus.test]


def load_prompts(root: Path, skip: Skip = _strictly) -> tuple[Prompts, ...]:
    """StructFlowBench in file order; `skip` is told if it cannot be read.

    Raises:
        NoData: unless `skip` says otherwise, when it cannot be read.
    """
    path = root / "structflowbench" / "StructFlowBench.json"
    try:
        return tuple(_prompts(entry) for entry in json.loads(read_text(path)))
    except UNREADABLE as error:
        skip("structflowbench", f"{path} {why(error)}")
        return ()


def load_on_topic(root: Path) -> list[tuple[str, ...]]:
    """A task and the inputs that belong to it, for each task of `relevance`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in json.loads(read_text(root / "relevance" / "pairs.json"))["pairs"]:
        if pair["kind"] == "task" and pair["label"] == "on":
            groups.setdefault((pair["task"], pair["lang"]), [pair["a"]]).append(pair["b"])
    return [tuple(group) for group in groups.values()]


Dialogues = tuple[Dialogue, ...]
Tell = Callable[[str], None]


def _alternating(count: int) -> tuple[bool, ...]:
    return tuple(i % 2 == 0 for i in range(count))


def _dialogue(texts: Sequence[str], users: Sequence[bool], ends: Iterable[int]) -> Dialogue:
    """Boundaries are between two turns, each counts once."""
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a turn that is no text")
    inner = sorted({end for end in ends if 0 <= end < len(texts) - 1})
    return Dialogue(tuple(texts), tuple(users), tuple(inner))


def _read(
    folder: Path, names: Iterable[str], parse: Callable[[Any], Iterable[Dialogue]], tell: Tell
) -> Dialogues:
    """The dialogues of the files that can be read; one without turns is none."""
    found: list[Dialogue] = []
    for name in names:
        try:
            found += parse(json.loads(read_text(folder / name)))
        except UNREADABLE as error:
            tell(f"{name} {why(error)}")
    return tuple(one for one in found if one.texts)


def _tiage(folder: Path, tell: Tell) -> tuple[Dialogues, Dialogues]:
    def one(turns: list[tuple[str, str | int]]) -> Dialogue:
        labels = [int(label) for _, label in turns]
        if not set(labels) <= {-1, 0, 1}:
            raise ValueError("a label other than -1, 0 and 1")
        shifts = [i - 1 for i, label in enumerate(labels) if label == 1]
        return _dialogue([text for text, _ in turns], _alternating(len(turns)), shifts)

    def split(*names: str) -> Dialogues:
        return _read(folder, names, lambda raw: [one(turns) for turns in raw.values()], tell)

    return split("anno_train.json", "anno_dev.json"), split("anno_test.json")


def _dialseg(folder: Path, tell: Tell) -> tuple[Dialogues, Dialogues]:
    name = "dialseg711_test.jsonl"
    try:
        # Not `splitlines`: it also cuts at U+2028 and the like, which may stand in a string.
        lines = [line for line in read_text(folder / name).split("\n") if line.strip()]
    except UNREADABLE as error:
        tell(f"{name} {why(error)}")
        return (), ()
    dialogues: list[Dialogue] = []
    torn = 0
    for line in lines:
        try:
            dialogues.append(_marked(json.loads(line)["dialogue"]))
        except UNREADABLE:
            torn += 1
    if torn:
        tell(f"{torn} of the {len(lines)} lines of {name}, which are damaged")
    dialogues = [one for one in dialogues if one.texts]
    random.Random(0).shuffle(dialogues)  # noqa: S311
    cut = int(0.3 * len(dialogues))
    return tuple(dialogues[:cut]), tuple(dialogues[cut:])


def _marked(text: str) -> Dialogue:
    texts: list[str] = []
    users: list[bool] = []
    marks: list[int] = []
    for part in (piece.strip() for piece in text.split("[NEWLINE]")):
        if part == "[BOUNDARY]":
            marks.append(len(texts) - 1)
        elif match := _SPEAKER.fullmatch(part):
            texts.append(match[2])
            users.append(match[1] == "user")
        elif part:
            texts[-1] += f" {part}"
    return _dialogue(texts, users, marks)


def _kdconv(folder: Path, tell: Tell) -> tuple[Dialogues, Dialogues]:
    def one(entry: dict[str, Any]) -> Dialogue:
        texts = entry["utterances"]
        ends = [end - 1 for end in accumulate(entry["segments"])]
        return _dialogue(texts, _alternating(len(texts)), ends)

    def split(name: str) -> Dialogues:
        return _read(folder, [name], lambda raw: [one(entry) for entry in raw], tell)

    return split("dev.json"), split("test.json")


def _prompts(entry: dict[str, Any]) -> Prompts:
    turns = entry["whole_conv"]
    names = [turn["name"] for turn in turns]
    relations: dict[str, set[str]] = {}
    for link in entry["structure"]:
        for target in link["target"]:
            relations.setdefault(target, set()).add(link["relation"])
    return Prompts(
        tuple(turn["user prompt"] for turn in turns),
        tuple(turn["assistant answer"] for turn in turns),
        tuple(
            # A name that stands for two prompts says nothing about either.
            frozenset(relations.get(name, ()) if names.count(name) == 1 else ())
            for name in names
        ),
    )
