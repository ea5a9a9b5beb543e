"""Makes the profile of the native embedder for the rule `contrast`.

    python -m tests.benchmarks.coherence_profile DATA

It reads development splits only, and no boundary label of any corpus: dialogues serve as
unlabelled text, and the sessions with a known change of topic are composed of the written
topics in `coherence_text.json`.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gh_tui.embedding.reference import load_reference
from gh_tui.embedding.vectors import pack
from gh_tui.memory.coherence.gaps import LOOK_AHEAD, GapWindow, unit
from gh_tui.memory.coherence.profile import Direction, Profile
from gh_tui.memory.coherence.types import CoherenceTurn
from gh_tui.memory.coherence.words import content_words
from tests.benchmarks.coherence_certainty import Fold, Texts, certainty
from tests.benchmarks.coherence_fit import block_pairs, logistic, topic_axes
from tests.benchmarks.coherence_sessions import Material, compose, load_material
from tests.benchmarks.data import Dialogue, load_corpora, load_on_topic, load_prompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.benchmarks.coherence_fit import Floats
    from tests.benchmarks.coherence_sessions import Said

T = TypeVar("T")

SIGNAL_WEIGHTS = {
    "block": 0.2,
    "cross": 0.2,
    "previous": 0.15,
    "words": 0.6,
    "filler": 0.3,
    "coherence1": 0.2,
    "coherence2": 1.0,
    "coherence3": 1.0,
}
_AXES, _SHRINK = 64, 0.6
_FOLDS = 3
_COMMON = 500
_QUANTILES = 16


def fit(root: Path, texts: Texts) -> Profile:
    """Fit everything; prints how sessions of unseen topics fare."""
    corpora = load_corpora(root)
    dialogues = [corpus.development for corpus in corpora]
    even = load_prompts(root)[::2]
    prompts = [chat.prompts for chat in even]
    material = load_material()
    manners = [[text for one in split for text in one.texts] for split in dialogues]
    manners.append([text for chat in even for text in (*chat.prompts, *chat.answers)])
    manners.append([said.text for one in material for topic in one.topics for said in topic])
    mean = np.mean([texts.rows(manner).mean(axis=0) for manner in manners], axis=0)
    blocks = [*(one.texts for split in dialogues for one in split), *prompts, *prompts]
    products, labels = block_pairs([unit(texts.rows(one) - mean) for one in blocks], seed=0)
    coherence, _ = logistic(products * math.sqrt(mean.size), labels, ridge=30.0)
    empty = Direction(np.zeros(mean.size), 0.0)
    none = np.zeros((mean.size, 1))
    base = Profile(
        "native", mean, coherence, none, empty, empty, empty, (), (), {}, (), _common(dialogues)
    )
    groups = [*_reference_topics(), *load_on_topic(root)]
    space = _space(base, material, groups, texts)
    folds = [_unseen(base, material, groups, texts, fold) for fold in range(_FOLDS)]
    sure = replace(
        space,
        certainty=certainty(folds, even, texts, answered=False),
        answered=certainty(folds, even, texts, answered=True),
    )
    return _signals(sure, dialogues, texts)


def _inputs(topic: Iterable[Said]) -> tuple[str, ...]:
    return tuple(said.text for said in topic)


def _reference_topics() -> list[tuple[str, ...]]:
    return [(one.task, *one.inputs) for reference in load_reference() for one in reference.topics]


def _common(dialogues: Sequence[Sequence[Dialogue]]) -> dict[str, float]:
    share: Counter[str] = Counter()
    for split in dialogues:
        turns = [text for one in split for text in one.texts]
        counts = Counter(word for text in turns for word in content_words(text))
        share.update({word: count / len(turns) for word, count in counts.items()})
    rare = math.log(3000.0)
    frequent = sorted(share.items(), key=lambda item: (-item[1], item[0]))[:_COMMON]
    return {word: round(-math.log(min(1.0, part) + 1 / 3000) / rare, 3) for word, part in frequent}


def _space(
    base: Profile,
    material: Sequence[Material],
    groups: Sequence[tuple[str, ...]],
    texts: Texts,
) -> Profile:
    """The profile with its axes of topics and its three readings."""
    topics = [*(_inputs(topic) for one in material for topic in one.topics), *groups]

    def rows(wanted: Iterable[str]) -> Floats:
        return unit(texts.rows(wanted) - base.mean)

    talk = [*(said.text for one in material for said in one.talk)]
    talk.extend(text for reference in load_reference() for text in reference.smalltalk)
    kinds = {
        "opening": rows(topic[0] for topic in topics),
        "follow": rows(text for topic in topics for text in topic[1:]),
        "filler": rows(text for one in material for text in one.filler),
        "talk": rows(talk),
    }

    def reading(yes: str, *no: str) -> Direction:
        stacked = np.concatenate([kinds[yes], *(kinds[name] for name in no)])
        labels = np.arange(len(stacked)) < len(kinds[yes])
        return Direction(*logistic(stacked, labels.astype(float), ridge=0.075))

    return replace(
        base,
        topic=topic_axes([rows(topic) for topic in topics], _AXES, _SHRINK),
        opening=reading("opening", "follow", "filler", "talk"),
        filler=reading("filler", "opening", "follow"),
        talk=reading("talk", "opening", "follow", "filler"),
    )


def _fold(material: Sequence[Material], fold: int, *, held_out: bool) -> list[Material]:
    def part(items: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(t for i, t in enumerate(items) if (i % _FOLDS == fold) == held_out)

    return [
        replace(
            one,
            topics=part(one.topics),
            filler=part(one.filler),
            talk=part(one.talk),
        )
        for one in material
    ]


def _unseen(
    base: Profile,
    material: Sequence[Material],
    groups: Sequence[tuple[str, ...]],
    texts: Texts,
    fold: int,
) -> Fold:
    """A profile without the topics of one fold, and sessions of those."""
    known = _space(base, _fold(material, fold, held_out=False), groups, texts)
    held_out = _fold(material, fold, held_out=True)
    return known, [session for one in held_out for session in compose(one, fold)]


def _signals(profile: Profile, dialogues: Sequence[Sequence[Dialogue]], texts: Texts) -> Profile:
    """Mean and deviation of each signal, and the quantiles of their sum; corpora weigh alike."""
    per_corpus = [
        [row for one in split[:150] for row in _gap_signals(profile, one, texts)]
        for split in dialogues
    ]
    table = {}
    for name, weight in SIGNAL_WEIGHTS.items():
        columns = [np.array([row[name] for row in rows]) for rows in per_corpus]
        mean = float(np.mean([column.mean() for column in columns]))
        deviation = float(np.mean([column.std() for column in columns]))
        table[name] = (mean, deviation, weight)
    steps = (np.arange(200) + 0.5) / 200
    sums = [
        np.quantile(
            [sum(w * (r[n] - m) / d for n, (m, d, w) in table.items()) for r in rows], steps
        )
        for rows in per_corpus
    ]
    places = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    quantiles = np.quantile(np.concatenate(sums), places)
    return replace(profile, signals=table, quantiles=tuple(quantiles.tolist()))


def _gap_signals(profile: Profile, dialogue: Dialogue, texts: Texts) -> list[dict[str, float]]:
    window, found = GapWindow(profile), []
    for index, vector in enumerate(texts.rows(dialogue.texts)):
        window.add(CoherenceTurn("", "user", dialogue.texts[index], None, True), vector)
        if index > LOOK_AHEAD:
            found.append(window.signals(LOOK_AHEAD + 1))
    return found


def to_json(profile: Profile) -> str:
    """The text that `load_profile` reads: one line per entry, vectors as base64 float16."""

    def packed(values: Floats) -> str:
        return pack(values.astype(np.float32))

    def reading(direction: Direction) -> dict[str, object]:
        return {"weights": packed(direction.weights), "bias": round(direction.bias, 4)}

    entries: dict[str, object] = {
        "embedder": profile.embedder,
        "mean": packed(profile.mean),
        "coherence": packed(profile.coherence),
        "topic": [packed(axis) for axis in profile.topic.T],
        "opening": reading(profile.opening),
        "filler": reading(profile.filler),
        "talk": reading(profile.talk),
        "certainty": [{k: round(v, 4) for k, v in row.items()} for row in profile.certainty],
        "answered": [{k: round(v, 4) for k, v in row.items()} for row in profile.answered],
        "signals": {k: [round(x, 5) for x in row] for k, row in profile.signals.items()},
        "quantiles": [round(value, 4) for value in profile.quantiles],
        "common": profile.common,
    }
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    target = Path(str(resources.files("gh_tui.memory.coherence").joinpath("native.json")))
    target.write_text(to_json(fit(Path(sys.argv[1]), Texts())), "utf-8")
