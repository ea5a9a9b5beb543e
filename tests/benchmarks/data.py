"""Readers for the public data sets; nothing of them is kept in the repository."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

_SPEAKER = re.compile(r"(user|agent):\s*(.*)", re.DOTALL)


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
    """One data set of dialogues in its two splits."""

    name: str
    development: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]


def load_corpora(root: Path) -> list[Corpus]:
    """The corpora with topic boundaries that are present under `root`."""
    readers = {"tiage": _tiage, "dialseg711": _dialseg, "kdconv_concat": _kdconv}
    return [read(root / name) for name, read in readers.items() if (root / name).is_dir()]


def load_prompts(root: Path) -> tuple[Prompts, ...]:
    """StructFlowBench in file order."""
    raw = _read(root / "structflowbench" / "StructFlowBench.json")
    return tuple(_prompts(entry) for entry in raw)


def load_on_topic(root: Path) -> list[tuple[str, ...]]:
    """A task and the inputs that belong to it, for each task of `relevance`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in _read(root / "relevance" / "pairs.json")["pairs"]:
        if pair["kind"] == "task" and pair["label"] == "on":
            groups.setdefault((pair["task"], pair["lang"]), [pair["a"]]).append(pair["b"])
    return [tuple(group) for group in groups.values()]


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _alternating(count: int) -> tuple[bool, ...]:
    return tuple(i % 2 == 0 for i in range(count))


def _tiage(folder: Path) -> Corpus:
    def split(*names: str) -> tuple[Dialogue, ...]:
        files = [_read(folder / f"anno_{name}.json") for name in names]
        return tuple(one(turns) for file in files for turns in file.values())

    def one(turns: list[list[str]]) -> Dialogue:
        shifts = tuple(i - 1 for i, (_, label) in enumerate(turns) if label == "1")
        return Dialogue(tuple(text for text, _ in turns), _alternating(len(turns)), shifts)

    return Corpus("tiage", split("train", "dev"), split("test"))


def _dialseg(folder: Path) -> Corpus:
    lines = (folder / "dialseg711_test.jsonl").read_text("utf-8").splitlines()
    dialogues = [_marked(json.loads(line)["dialogue"]) for line in lines]
    random.Random(0).shuffle(dialogues)  # noqa: S311
    cut = int(0.3 * len(dialogues))
    return Corpus("dialseg711", tuple(dialogues[:cut]), tuple(dialogues[cut:]))


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
    inner = tuple(mark for mark in marks if 0 <= mark < len(texts) - 1)
    return Dialogue(tuple(texts), tuple(users), inner)


def _kdconv(folder: Path) -> Corpus:
    def split(name: str) -> tuple[Dialogue, ...]:
        return tuple(one(entry) for entry in _read(folder / f"{name}.json"))

    def one(entry: dict[str, Any]) -> Dialogue:
        texts = tuple(entry["utterances"])
        ends = tuple(end - 1 for end in accumulate(entry["segments"]))
        return Dialogue(texts, _alternating(len(texts)), ends[:-1])

    return Corpus("kdconv_concat", split("dev"), split("test"))


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
