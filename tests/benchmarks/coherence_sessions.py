"""Sessions composed of written topics: with a change of topic, and without one."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

_TEXT = Path(__file__).with_name("coherence_text.json")


@dataclass(frozen=True, slots=True)
class Material:
    """What sessions of one language are made of; a topic's first text is its task."""

    language: str
    topics: tuple[tuple[str, ...], ...]
    filler: tuple[str, ...]
    talk: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """User inputs; `boundary` is the index of the first input of another topic, if any."""

    kind: str
    inputs: tuple[str, ...]
    boundary: int | None


def load_material() -> tuple[Material, ...]:
    """The written topics, one `Material` per language."""
    raw = json.loads(_TEXT.read_text("utf-8"))
    return tuple(
        Material(
            language,
            tuple(tuple(topic) for topic in entry["topics"]),
            tuple(entry["filler"]),
            tuple(entry["talk"]),
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


def _some(topic: tuple[str, ...], count: int, rng: random.Random) -> list[str]:
    rest = list(topic[1:])
    return [topic[0], *rng.sample(rest, min(count - 1, len(rest)))]


def _shift(topic: tuple[str, ...], other: tuple[str, ...], rng: random.Random) -> Session:
    old = _some(topic, rng.randint(3, 5), rng)
    return Session("shift", (*old, *_some(other, 3, rng)), len(old))


def _long_shift(
    topic: tuple[str, ...], other: tuple[str, ...], material: Material, rng: random.Random
) -> Session:
    old = _some(topic, 8, rng)
    for noise in (material.filler, material.filler, material.talk):
        old.insert(rng.randint(2, len(old)), rng.choice(noise))
    new = _some(other, 4, rng)
    if rng.random() < 0.4:
        new = new[1:]
    else:
        new.insert(rng.randint(1, 3), rng.choice(material.filler))
    return Session("long shift", (*old, *new), len(old))


def _steady(topic: tuple[str, ...], material: Material, rng: random.Random) -> list[Session]:
    whole = _some(topic, 10, rng)
    noises = {
        "remark": material.talk,
        "filler": material.filler,
        "mixed": (*material.talk, *material.filler),
    }
    made = [Session("steady", tuple(whole), None)]
    for kind, noise in noises.items():
        inputs = list(whole[: rng.randint(5, 9)])
        count = 1 if kind == "remark" else 3
        for position in sorted(rng.sample(range(2, len(inputs) + 1), count), reverse=True):
            inputs.insert(position, rng.choice(noise))
        made.append(Session(kind, tuple(inputs), None))
    tail = (*whole[:4], *rng.sample(material.filler, 4))
    return [*made, Session("filler tail", tail, None)]
