"""Sessions composed of written topics: with a change of topic, and without one."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_TEXT = Path(__file__).with_name("coherence_text.json")
_UNOPENED = 0.4
"""Share of long shifts in which the new topic is not opened by a task."""
_TALK = 0.2
"""Share of small talk in what disturbs a mixed session."""


class Said(NamedTuple):
    """What a user says, and what an agent might answer."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Material:
    """What sessions of one language are made of; a topic's first text is its task."""

    language: str
    topics: tuple[tuple[Said, ...], ...]
    filler: tuple[str, ...]
    talk: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """User inputs with an agent's answers."""

    kind: str
    said: tuple[Said, ...]
    boundary: int | None
    """The index of the first input of another topic, if any."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the user says."""
        return tuple(one.text for one in self.said)

    @property
    def answers(self) -> tuple[str, ...]:
        """What the agent answers, one to each input."""
        return tuple(one.answer for one in self.said)


def load_material() -> tuple[Material, ...]:
    """The written topics, one `Material` per language."""
    raw = json.loads(_TEXT.read_text("utf-8"))
    return tuple(
        Material(
            language,
            tuple(tuple(Said(*pair) for pair in topic) for topic in entry["topics"]),
            tuple(entry["filler"]),
            tuple(Said(*pair) for pair in entry["talk"]),
        )
        for language, entry in raw.items()
    )


def compose(material: Material, seed: int) -> list[Session]:
    """Shifts between pairs of topics, and undisturbed and disturbed sessions of each topic."""
    rng = random.Random(f"{material.language}{seed}")  # noqa: S311
    sessions: list[Session] = []
    for topic in material.topics:
        others = [other for other in material.topics if other is not topic]
        sessions.extend(
            _shift(topic, other, rng) for other in rng.sample(others, min(10, len(others)))
        )
        sessions.extend(
            _long_shift(topic, other, material, rng)
            for other in rng.sample(others, min(5, len(others)))
        )
        for _ in range(3):
            sessions.extend(_steady(topic, material, rng))
    return sessions


def _some(topic: Sequence[Said], count: int, rng: random.Random) -> list[Said]:
    rest = list(topic[1:])
    return [topic[0], *rng.sample(rest, min(count - 1, len(rest)))]


def _filler(material: Material, topic: Sequence[Said], rng: random.Random) -> Said:
    """An input that says nothing, after which the agent goes on with its topic."""
    return Said(rng.choice(material.filler), rng.choice(topic).answer)


def _shift(topic: Sequence[Said], other: Sequence[Said], rng: random.Random) -> Session:
    old = _some(topic, rng.randint(3, 5), rng)
    return Session("shift", (*old, *_some(other, 3, rng)), len(old))


def _long_shift(
    topic: Sequence[Said], other: Sequence[Said], material: Material, rng: random.Random
) -> Session:
    old = _some(topic, 8, rng)
    noises = [_filler(material, topic, rng) for _ in range(2)]
    for noise in (*noises, rng.choice(material.talk)):
        old.insert(rng.randint(2, len(old)), noise)
    new = _some(other, 4, rng)
    if rng.random() < _UNOPENED:
        new = new[1:]
    else:
        new.insert(rng.randint(1, 3), _filler(material, other, rng))
    return Session("long shift", (*old, *new), len(old))


def _steady(topic: Sequence[Said], material: Material, rng: random.Random) -> list[Session]:
    whole = _some(topic, 10, rng)
    made = [Session("steady", tuple(whole), None)]
    for kind in ("remark", "filler", "mixed"):
        said = list(whole[: rng.randint(5, 9)])
        count = 1 if kind == "remark" else 3
        for position in sorted(rng.sample(range(2, len(said) + 1), count), reverse=True):
            talk = kind == "remark" or (kind == "mixed" and rng.random() < _TALK)
            noise = rng.choice(material.talk) if talk else _filler(material, topic, rng)
            said.insert(position, noise)
        made.append(Session(kind, tuple(said), None))
    tail = [_filler(material, topic, rng) for _ in range(4)]
    return [*made, Session("filler tail", (*whole[:4], *tail), None)]
