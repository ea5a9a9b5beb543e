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
from typing import TYPE_CHECKING

import numpy as np

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.reference import load_reference
from gh_tui.embedding.vectors import pack, round16
from gh_tui.memory.coherence.departure import departure_features
from gh_tui.memory.coherence.gaps import LOOK_AHEAD, GapWindow, unit
from gh_tui.memory.coherence.profile import Direction, Profile
from gh_tui.memory.coherence.types import CoherenceTurn
from gh_tui.memory.coherence.words import content_words, first_sentence
from tests.benchmarks.coherence_fit import block_pairs, logistic, scaled_logistic, topic_axes
from tests.benchmarks.coherence_sessions import Material, Session, compose, load_material
from tests.benchmarks.data import Dialogue, Prompts, load_corpora, load_on_topic, load_prompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.benchmarks.coherence_fit import Floats

SIGNAL_WEIGHTS = {
    "block": 0.5,
    "cross": 0.3,
    "previous": 0.3,
    "words": 0.6,
    "filler": 0.3,
    "coherence1": 0.2,
    "coherence2": 1.0,
    "coherence3": 1.0,
}
_AXES, _SHRINK = 64, 0.6
_FOLDS = 3
_ALARMS = {1: 0.05, 2: 0.04, 3: 0.03}
_COMMON = 500
_SIGNS = {
    "topic": -1,
    "topic_mean": -1,
    "topic_max": -1,
    "topic_head": -1,
    "cosine": -1,
    "cosine_max": -1,
    "opening": 1,
    "filler": -1,
    "filler_head": -1,
    "talk": -1,
    "talk_head": -1,
}
_CHAT_WEIGHT = 3
_SIGNS = {
    "topic": -1,
    "topic_mean": -1,
    "topic_max": -1,
    "topic_head": -1,
    "cosine": -1,
    "cosine_max": -1,
    "opening": 1,
    "filler": -1,
    "filler_head": -1,
    "talk": -1,
    "talk_head": -1,
}
_QUANTILES = 16


class Texts:
    """Embeds each text once."""

    def __init__(self) -> None:
        self._embedder = NativeEmbedder()
        self._known: dict[str, Floats] = {}

    def rows(self, texts: Iterable[str]) -> Floats:
        """float64[n, dim], unit rows as the program would have them."""
        wanted = list(texts)
        new = sorted({text for text in wanted if text not in self._known})
        for start in range(0, len(new), 64):
            batch = new[start : start + 64]
            vectors = unit(round16(self._embedder.embed_sync(batch)).astype(np.float64))
            self._known.update(zip(batch, vectors, strict=True))
        return np.array([self._known[text] for text in wanted])


def fit(root: Path, texts: Texts) -> Profile:
    """Fit everything; prints how sessions of unseen topics fare."""
    corpora = load_corpora(root)
    dialogues = [corpus.development for corpus in corpora]
    even = load_prompts(root)[::2]
    prompts = [chat.prompts for chat in even]
    material = load_material()
    manners = [[text for one in split for text in one.texts] for split in dialogues]
    manners.append([text for chat in even for text in (*chat.prompts, *chat.answers)])
    manners.append([text for one in material for topic in one.topics for text in topic])
    mean = np.mean([texts.rows(manner).mean(axis=0) for manner in manners], axis=0)
    blocks = [*(one.texts for split in dialogues for one in split), *prompts, *prompts]
    products, labels = block_pairs([unit(texts.rows(one) - mean) for one in blocks], seed=0)
    coherence, _ = logistic(products * math.sqrt(mean.size), labels, ridge=30.0)
    empty = Direction(np.zeros(mean.size), 0.0)
    none = np.zeros((mean.size, 1))
    base = Profile(
        "native", mean, coherence, none, empty, empty, empty, (), {}, (), _common(dialogues)
    )
    groups = [*_reference_topics(), *load_on_topic(root)]
    space = _space(base, material, groups, texts)
    first = first_impression(space, even, texts)
    confirming = _certainty(base, material, groups, even, texts)
    return _signals(replace(space, certainty=(first, *confirming)), dialogues, texts)


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
    topics = [*(topic for one in material for topic in one.topics), *groups]

    def rows(wanted: Iterable[str]) -> Floats:
        return unit(texts.rows(wanted) - base.mean)

    talk = [*(text for one in material for text in one.talk)]
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
    def part(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(t for i, t in enumerate(texts) if (i % _FOLDS == fold) == held_out)

    return [
        replace(
            one,
            topics=tuple(t for i, t in enumerate(one.topics) if (i % _FOLDS == fold) == held_out),
            filler=part(one.filler),
            talk=part(one.talk),
        )
        for one in material
    ]


def _certainty(
    base: Profile,
    material: Sequence[Material],
    groups: Sequence[tuple[str, ...]],
    chats: Sequence[Prompts],
    texts: Texts,
) -> tuple[dict[str, float], ...]:
    """Weights of the features, fitted on sessions whose topics the axes have not seen."""
    folds: list[tuple[Profile, list[Session]]] = []
    for fold in range(_FOLDS):
        known = _space(base, _fold(material, fold, held_out=False), groups, texts)
        unseen = _fold(material, fold, held_out=True)
        folds.append((known, [session for one in unseen for session in compose(one, fold)]))
    return tuple(_weights(folds, chats, new, texts) for new in (2, 3))


def first_impression(profile: Profile, chats: Sequence[Prompts], texts: Texts) -> dict[str, float]:
    """Weights of the features of one new input, fitted on real conversations alone.

    They decide nothing, and answers that say something are what the composed sessions lack.
    """
    found, labels = _chat_rows(profile, chats, 1, texts)
    names = list(found[0])
    rows = _matrix(found)
    weights, bias = _signed(rows, labels, [_SIGNS.get(name, 0) for name in names])
    limit = float(np.quantile(rows[labels == 0] @ weights + bias, 1 - _ALARMS[1]))
    kept = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight}
    return {"bias": bias - limit, **kept}


def _weights(
    folds: Sequence[tuple[Profile, list[Session]]],
    chats: Sequence[Prompts],
    new: int,
    texts: Texts,
) -> dict[str, float]:
    rows: list[dict[str, float]] = []
    labels: list[int] = []
    owners: list[Session] = []
    for profile, sessions in folds:
        for session in sessions:
            vectors = list(texts.rows(session.inputs))
            for head in range(2, len(vectors) - new + 1):
                latest = vectors[head : head + new]
                rows.append(departure_features(profile, vectors[:head], [], latest, latest))
                labels.append(_label(session, head))
                owners.append(session)
    chat_rows, chat_labels = _chat_rows(folds[0][0], chats, new, texts)
    matrix, marks = _matrix(rows), np.array(labels)
    used = marks >= 0
    names = list(rows[0])
    weights, bias = _signed(
        np.concatenate([matrix[used], *[_matrix(chat_rows)] * _CHAT_WEIGHT]),
        np.concatenate([marks[used], *[chat_labels] * _CHAT_WEIGHT]).astype(float),
        [_SIGNS.get(name, 0) for name in names],
    )
    scores = matrix @ weights + bias
    limit = _limit(scores, marks, owners, _ALARMS[new])
    _report(new, scores - limit, marks, owners)
    kept = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight}
    return {"bias": bias - limit, **kept}


def _signed(rows: Floats, labels: Floats, signs: Sequence[int]) -> tuple[Floats, float]:
    """A fit in which no weight has the wrong sign; such features are left out, worst first.

    Features that say nearly the same would otherwise be played against each other, and a text
    near the topic in a way the sessions here do not show would count as far from it.
    """
    kept = list(range(rows.shape[1]))
    wanted = np.array(signs)
    while True:
        weights, bias = scaled_logistic(rows[:, kept], labels, ridge=5.0)
        wrong = weights * wanted[kept] * rows[:, kept].std(axis=0)
        if wrong.min() >= 0:
            full = np.zeros(rows.shape[1])
            full[kept] = weights
            return full, bias
        del kept[int(wrong.argmin())]


def _matrix(rows: Sequence[dict[str, float]]) -> Floats:
    return np.array([list(row.values()) for row in rows])


def _chat_rows(
    profile: Profile, chats: Sequence[Prompts], new: int, texts: Texts
) -> tuple[list[dict[str, float]], Floats]:
    """Each conversation going on as it did, and with another conversation's first prompts."""
    rows: list[dict[str, float]] = []
    for index, chat in enumerate(chats):
        own, replies = list(texts.rows(chat.prompts)), list(texts.rows(chat.answers))
        heads = list(texts.rows(map(first_sentence, chat.prompts)))
        other = chats[(index + 7) % len(chats)].prompts[:new]
        foreign = list(texts.rows(other)), list(texts.rows(map(first_sentence, other)))
        for start in range(1, len(own) - new + 1):
            end = start + new
            for after, said in ((own[start:end], heads[start:end]), foreign):
                rows.append(departure_features(profile, own[:start], replies[:start], after, said))
    return rows, np.tile([0.0, 1.0], len(rows) // 2)


def _label(session: Session, head: int) -> int:
    """1 at the boundary, -1 (not used) beside it, 0 elsewhere."""
    if session.boundary is None:
        return 0
    return 1 if head == session.boundary else -1 if abs(head - session.boundary) <= 3 else 0


def _limit(scores: Floats, marks: Floats, owners: Sequence[Session], alarms: float) -> float:
    """The score that the given share of sessions without a shift reaches anywhere."""
    highest: dict[int, float] = {}
    for score, mark, owner in zip(scores, marks, owners, strict=True):
        if mark == 0 and owner.boundary is None:
            highest[id(owner)] = max(highest.get(id(owner), -math.inf), float(score))
    return float(np.quantile(list(highest.values()), 1 - alarms))


def _report(new: int, scores: Floats, marks: Floats, owners: Sequence[Session]) -> None:
    found: dict[str, dict[int, bool]] = {}
    for score, mark, owner in zip(scores, marks, owners, strict=True):
        if mark == (0 if owner.boundary is None else 1):
            seen = found.setdefault(owner.kind, {})
            seen[id(owner)] = seen.get(id(owner), False) or bool(score >= 0)
    for kind, seen in found.items():
        share = sum(seen.values()) / len(seen)
        print(f"{new} new inputs, {kind}: {share:.3f} of {len(seen)} reach the limit")


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
        "signals": {k: [round(x, 5) for x in row] for k, row in profile.signals.items()},
        "quantiles": [round(value, 4) for value in profile.quantiles],
        "common": profile.common,
    }
    lines = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in entries.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    target = Path(str(resources.files("gh_tui.memory.coherence").joinpath("native.json")))
    target.write_text(to_json(fit(Path(sys.argv[1]), Texts())), "utf-8")
