"""Trains the rule `learned`, on corpora of dialogues and on composed agent sessions.

    python -m tests.benchmarks.coherence_learn DATA

Writes the weights into the package. It reads development splits only; the threshold is chosen
on dialogues of theirs that the weights have not seen. The sessions are made of the written topics
in `coherence_text.json`: dialogues between people have no stray remarks, and nobody who only
says that it is done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.embedding.vectors import pack
from gh_tui.memory.coherence.features import SIGNALS, SPANS, GapFeatures
from gh_tui.memory.coherence.gaps import unit
from gh_tui.memory.coherence.learned import BIAS, EMBEDDER, FAR, TIMES, GapDecision, LearnedModel
from gh_tui.memory.coherence.profile import Profile, load_profile
from gh_tui.memory.coherence.types import CoherenceTurn
from tests.benchmarks.coherence_fit import weighted_logistic
from tests.benchmarks.coherence_sessions import compose, load_material
from tests.benchmarks.data import Corpus, Dialogue, load_corpora
from tests.benchmarks.segmentation import Segmentation, precision_recall, score
from tests.benchmarks.topic_shift import Vectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.benchmarks.coherence_fit import Floats

_PROTOTYPES = Path(__file__).with_name("coherence_prototypes.json")
# Which kind of turn follows which says more than both on their own.
_KINDS = (
    *("thanks +0", "thanks -1", "welcome +0", "welcome -1", "request +0", "request -1"),
    *("question +0", "question -1", "agreement +0", "opening +0", "filler +0", "talk +0", "user"),
)
_PRODUCTS = tuple((a, b) for i, a in enumerate(_KINDS) for b in _KINDS[i:])
AIMS: Final = {"tiage": 0.54, "dialseg711": 0.85, "kdconv_concat": 0.85}
"""The Score wanted of each corpus; the threshold is the one whose worst shortfall is least."""
_RIDGE = 30.0
_CORPUS_SHARE, _COMPOSED_SHARE = 3000.0, 1500.0
_EVERY = 9
_DONE = {
    "en": ("Alright, finished.", "It is ready.", "Understood, I took care of it."),
    "zh": ("行，弄好了。", "已经处理完毕。", "明白，改好了。"),
    "id": ("Baik, beres.", "Sudah dikerjakan.", "Siap, semuanya selesai."),
}
_ABOUT = {"en": "About this: {}. It goes as follows.", "zh": "关于“{}”，做法如下。"}
_ABOUT["id"] = "Mengenai ini: {}. Caranya sebagai berikut."
_FOLDS = 3
_LEAST_SPREAD = 1e-3
_THRESHOLDS = tuple(i / 40 for i in range(4, 29))


@dataclass(frozen=True, slots=True)
class Read:
    """A dialogue and the features of its gaps, as each was known when a turn had come."""

    dialogue: Dialogue
    features: tuple[Floats, ...]
    """For one, two and three turns after the gap: float64[gaps, features]."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Turns dialogues into features; needs no labels."""

    profile: Profile
    vectors: Vectors
    prototypes: Mapping[str, Sequence[str]]
    session: Mapping[str, tuple[float, float]]

    def typical(self) -> dict[str, Floats]:
        """The vectors of the prototypes."""
        self.vectors.learn(text for texts in self.prototypes.values() for text in texts)
        return {
            kind: np.array([unit(self.vectors[text].astype(np.float64)) for text in texts])
            for kind, texts in self.prototypes.items()
        }

    def read(self, dialogue: Dialogue) -> Read:
        """Feed one dialogue."""
        rows: list[list[list[float]]] = [[] for _ in range(SPANS)]
        for gaps in self._feed(dialogue):
            for after in gaps.spans():
                rows[after - 1].append(list(gaps.features(after).values()))
        return Read(dialogue, tuple(np.array(one) for one in rows))

    def names(self, dialogue: Dialogue) -> tuple[tuple[str, ...], ...]:
        """The names of the features; the same for every dialogue of four turns or more."""
        *_, gaps = self._feed(dialogue)
        return tuple(tuple(gaps.features(after)) for after in gaps.spans())

    def spread(self, corpora: Iterable[Sequence[Dialogue]]) -> dict[str, tuple[float, float]]:
        """Mean and deviation of the signals, corpora counting alike."""
        moments = []
        for dialogues in corpora:
            rows = [
                list(gaps.signals(SPANS).values())
                for one in dialogues
                for gaps in self._feed(one)
                if len(gaps.spans()) == SPANS
            ]
            moments.append((np.mean(rows, axis=0), np.mean(np.square(rows), axis=0)))
        mean, squared = np.mean(moments, axis=0)
        return _named(SIGNALS, mean, np.sqrt(squared - mean**2))

    def _feed(self, dialogue: Dialogue) -> Iterable[GapFeatures]:
        gaps = GapFeatures(self.profile, self.typical(), self.session)
        for turn in as_turns(dialogue, self.vectors):
            assert turn.vector is not None
            gaps.add(turn, unit(turn.vector.astype(np.float64)))
            yield gaps


def compose_dialogues() -> list[Dialogue]:
    """Sessions with an agent that says nothing, or what it has to say, or either."""
    made = []
    for material in load_material():
        for number, session in enumerate(compose(material, seed=1)[::_EVERY]):
            texts: list[str] = []
            for place, (text, answer) in enumerate(session.said):
                done = _DONE[material.language][(number + place) % 3]
                speaks = number % 3 == 0 or (number % 3 == 1 and place % 2 == 0)
                texts += [text, answer if speaks else done]
            ends = () if session.boundary is None else (2 * session.boundary - 1,)
            made.append(Dialogue(tuple(texts), (True, False) * len(session.inputs), ends))
    return made


def as_turns(dialogue: Dialogue, vectors: Vectors) -> list[CoherenceTurn]:
    """The turns of a dialogue, each of which may open a topic."""
    return [
        CoherenceTurn(str(i), "user" if user else "assistant", text, vectors[text], is_input=True)
        for i, (text, user) in enumerate(zip(dialogue.texts, dialogue.users, strict=True))
    ]


class Trainer:
    """Fits models to development splits whose features were read once."""

    def __init__(self, corpora: Sequence[Corpus], vectors: Vectors) -> None:
        """Read the development splits of `corpora`; no label is used for that."""
        vectors.learn(text for one in corpora for d in one.development for text in d.texts)
        prototypes = json.loads(_PROTOTYPES.read_text("utf-8"))
        plain = Reader(load_profile(), vectors, prototypes, dict.fromkeys(SIGNALS, (0.0, 1.0)))
        splits = [one.development for one in corpora]
        self.reader = replace(plain, session=plain.spread(splits))
        self.names = self.reader.names(splits[0][0])
        composed = compose_dialogues()
        vectors.learn(text for one in composed for text in one.texts)
        self._composed = [self.reader.read(one) for one in composed]
        self.read = {one.name: [self.reader.read(d) for d in one.development] for one in corpora}

    def train(self, names: Sequence[str]) -> tuple[LearnedModel, list[Unseen]]:
        """A model of these corpora with its threshold, and what it was chosen on."""
        chosen = [self.read[name] for name in names]
        unseen = [Unseen([]) for _ in chosen]
        for fold in range(_FOLDS):
            model = self.fit([[r for i, r in enumerate(c) if i % _FOLDS != fold] for c in chosen])
            for corpus, kept in zip(chosen, unseen, strict=True):
                kept.cases.extend(
                    (one.dialogue, self.chances(model, one)) for one in corpus[fold::_FOLDS]
                )
        aims = [AIMS[name] for name in names]
        worst = [
            min(kept.score(limit) - aim for kept, aim in zip(unseen, aims, strict=True))
            for limit in _THRESHOLDS
        ]
        best = _THRESHOLDS[int(np.argmax(worst))]
        return replace(self.fit(chosen), threshold=best), unseen

    def fit(self, corpora: Sequence[Sequence[Read]]) -> LearnedModel:
        """The weights; each corpus counts the same, whatever its size."""
        stacked = [np.concatenate([r.features[-1] for r in one]) for one in corpora]
        mean = np.mean([rows.mean(axis=0) for rows in stacked], axis=0)
        spread = np.sqrt(np.mean([((rows - mean) ** 2).mean(axis=0) for rows in stacked], axis=0))
        usual = _named(self.names[-1], mean, np.maximum(spread, _LEAST_SPREAD))
        weights = []
        parts = [(one, _CORPUS_SHARE) for one in corpora] + [(self._composed, _COMPOSED_SHARE)]
        for after in range(1, SPANS + 1):
            labels = [
                np.concatenate([_labels(read.dialogue, after) for read in one]) for one, _ in parts
            ]
            shares = [
                np.full(len(one), share / len(one))
                for one, (_, share) in zip(labels, parts, strict=True)
            ]
            rows = self._design(usual, [read for one, _ in parts for read in one], after)
            found, bias = weighted_logistic(
                rows, np.concatenate(labels), np.concatenate(shares), _RIDGE
            )
            terms = dict(zip(self._terms(after), found.tolist(), strict=True))
            weights.append({BIAS: bias, **terms})
        typical = self.reader.typical()
        return LearnedModel(EMBEDDER, 0.5, typical, self.reader.session, usual, tuple(weights))

    def chances(self, model: LearnedModel, read: Read) -> list[list[float]]:
        """For each turn, what `GapDecision` is told when it has come."""
        found = []
        for after in range(1, SPANS + 1):
            weights = np.array(list(model.weights[after - 1].values()))
            total = self._design(model.usual, [read], after) @ weights[1:] + weights[0]
            found.append((1.0 / (1.0 + np.exp(-total))).tolist())
        return [
            [column[turn - 1 - i] for i, column in enumerate(found) if turn - 1 - i >= 0]
            for turn in range(len(read.dialogue.texts))
        ]

    def _design(
        self, usual: Mapping[str, tuple[float, float]], reads: Sequence[Read], after: int
    ) -> Floats:
        names = self.names[after - 1]
        mean, deviation = np.array([usual[name] for name in names]).T
        raw = np.concatenate([read.features[after - 1] for read in reads])
        plain = np.clip((raw - mean) / deviation, -FAR, FAR)
        pairs = [(names.index(a), names.index(b)) for a, b in _PRODUCTS]
        products = [np.clip(plain[:, a] * plain[:, b], -FAR, FAR) for a, b in pairs]
        return np.column_stack([plain, *products])

    def _terms(self, after: int) -> tuple[str, ...]:
        return (*self.names[after - 1], *(f"{a}{TIMES}{b}" for a, b in _PRODUCTS))


@dataclass(frozen=True, slots=True)
class Unseen:
    """Dialogues of one corpus with chances by weights that were fitted without them."""

    cases: list[tuple[Dialogue, list[list[float]]]]

    def score(self, limit: float) -> float:
        """The Score on all turns."""
        return score([_decided(*case, limit, users_only=False) for case in self.cases])

    def precision_recall(self, limit: float) -> tuple[float | None, float | None]:
        """On user inputs."""
        return precision_recall([_decided(*case, limit, users_only=True) for case in self.cases])


def _decided(
    dialogue: Dialogue, chances: list[list[float]], limit: float, *, users_only: bool
) -> Segmentation:
    decision, found = GapDecision(limit), set()
    inputs = [user or not users_only for user in dialogue.users]
    for index, known in enumerate(chances):
        turn = CoherenceTurn(str(index), "user", "", None, is_input=inputs[index])
        if shift := decision.observe(turn, known):
            found.add(int(shift.boundary_iri) - 1)
    if decision.provisional:
        found.add(int(decision.provisional) - 1)
    truth = frozenset(b for b in dialogue.boundaries if inputs[b + 1])
    return Segmentation(truth, frozenset(found), len(dialogue.texts))


def _labels(dialogue: Dialogue, after: int) -> Floats:
    gaps = range(len(dialogue.texts) - after)
    return np.array([float(gap in dialogue.boundaries) for gap in gaps])


def _named(names: Sequence[str], mean: Floats, deviation: Floats) -> dict[str, tuple[float, float]]:
    pairs = zip(mean.tolist(), deviation.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True))


def to_json(model: LearnedModel, prototypes: Mapping[str, Sequence[str]]) -> str:
    """The text that `parse_model` reads: an entry per line, prototypes with their texts."""

    def pairs(spreads: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
        return {name: [round(value, 5) for value in pair] for name, pair in spreads.items()}

    entries: dict[str, object] = {
        "embedder": model.embedder,
        "threshold": model.threshold,
        "session": pairs(model.session),
        "usual": pairs(model.usual),
        "weights": {
            str(after): {name: round(weight, 4) for name, weight in weights.items()}
            for after, weights in enumerate(model.weights, start=1)
        },
        "prototypes": {
            kind: {
                text: pack(row.astype(np.float32))
                for text, row in zip(prototypes[kind], rows, strict=True)
            }
            for kind, rows in model.prototypes.items()
        },
    }
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"


def main(data: Path) -> None:
    """Train on all corpora and write the weights."""
    corpora = load_corpora(data)
    trainer = Trainer(corpora, Vectors())
    model, unseen = trainer.train(list(trainer.read))
    for name, kept in zip(trainer.read, unseen, strict=True):
        found = kept.score(model.threshold)
        print(f"{name}: Score {found:.3f} on unseen dialogues at {model.threshold}")
    target = Path(str(resources.files("gh_tui.memory.coherence").joinpath("learned.json")))
    target.write_text(to_json(model, trainer.reader.prototypes), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
