"""Fits how sure `contrast` may be that new inputs, and the answers to them, left the topic."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.vectors import round16
from gh_tui.memory.coherence.departure import Exchange, departure_features, is_filler
from gh_tui.memory.coherence.gaps import LOOK_AHEAD, unit
from gh_tui.memory.coherence.words import first_sentence
from tests.benchmarks.coherence_fit import scaled_logistic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gh_tui.memory.coherence.profile import Profile
    from tests.benchmarks.coherence_fit import Floats
    from tests.benchmarks.coherence_sessions import Session
    from tests.benchmarks.data import Prompts

ALARMS: Final = {1: 0.05, 2: 0.04, 3: 0.03}
"""For so many new inputs, the share of sessions without a shift that may look like one."""
SIGNS: Final = {
    "topic": -1,
    "topic_mean": -1,
    "topic_max": -1,
    "topic_head": -1,
    "cosine": -1,
    "cosine_max": -1,
    "whole_topic": -1,
    "whole_mean": -1,
    "whole_cosine": -1,
    "whole_max": -1,
    "answer_max": -1,
    "answer_mean": -1,
    "opening": 1,
    "filler": -1,
    "filler_head": -1,
    "talk": -1,
    "talk_head": -1,
}
"""Which way a feature may speak; one that is not here may speak either way."""
_CHAT_WEIGHT = 3
_FOREIGN = (7, 19, 31)
"""How far from a conversation those stand whose beginnings are put into it."""
_LEAST_BEFORE = 2
_SILENT = 0.2
"""Share of composed answers that are left out: an agent does not always say something."""

Spoken = Sequence[Exchange]
Fold = tuple["Profile", Sequence["Session"]]
"""A profile whose axes have not seen the topics of the sessions."""


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


def certainty(
    folds: Sequence[Fold], chats: Sequence[Prompts], texts: Texts, *, answered: bool
) -> tuple[dict[str, float], ...]:
    """Weights of the features for one, two and three new inputs.

    Of conversations with a model each transition counts as staying on the topic, and other
    conversations' beginnings as leaving it. Those alone say what one new input is worth, which
    decides nothing; for two and three composed sessions count too, with an agent that speaks.

    Args:
        folds: composed sessions, with profiles that have not seen their topics.
        chats: conversations with a model.
        texts: their vectors.
        answered: whether the new inputs have been answered: one when its answer has come; of two
            or three all but the last.
    """
    spoken = [
        (profile, session, _of_session(session, profile, texts))
        for profile, sessions in folds
        for session in sessions
    ]
    profile = folds[0][0]
    talks = [_of_chat(chat, profile, texts) for chat in chats]
    first = _first_impression(profile, talks, answered=answered)
    rest = (
        _weights(spoken, (profile, talks), new, answered=answered)
        for new in range(2, LOOK_AHEAD + 2)
    )
    return (first, *rest)


def _first_impression(
    profile: Profile, talks: Sequence[Spoken], *, answered: bool
) -> dict[str, float]:
    found, labels = _chat_rows(profile, talks, 1, answered=answered)
    rows, names = _matrix(found), list(found[0])
    weights, bias = _signed(rows, labels, [SIGNS.get(name, 0) for name in names])
    limit = float(np.quantile(rows[labels == 0] @ weights + bias, 1 - ALARMS[1]))
    return _named(names, weights, bias - limit)


def _named(names: Sequence[str], weights: Floats, bias: float) -> dict[str, float]:
    kept = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight}
    return {"bias": bias, **kept}


def _weights(
    spoken: Sequence[tuple[Profile, Session, Spoken]],
    talks: tuple[Profile, Sequence[Spoken]],
    new: int,
    *,
    answered: bool,
) -> dict[str, float]:
    rows: list[dict[str, float]] = []
    labels: list[int] = []
    owners: list[Session] = []
    for profile, session, said in spoken:
        for head in range(_LEAST_BEFORE, len(session.inputs) - new + 1):
            row = _row(profile, said[:head], said[head : head + new], answered=answered)
            if row is not None:
                rows.append(row)
                labels.append(_label(session, head))
                owners.append(session)
    chat_rows, chat_labels = _chat_rows(*talks, new, answered=answered)
    matrix, marks = _matrix(rows), np.array(labels)
    used = marks >= 0
    names = list(rows[0])
    weights, bias = _signed(
        np.concatenate([matrix[used], *[_matrix(chat_rows)] * _CHAT_WEIGHT]),
        np.concatenate([marks[used], *[chat_labels] * _CHAT_WEIGHT]).astype(float),
        [SIGNS.get(name, 0) for name in names],
    )
    scores = matrix @ weights + bias
    limit = _limit(scores, marks, owners, ALARMS[new])
    _report(f"{new} new inputs{', answered' * answered}", scores - limit, marks, owners)
    return _named(names, weights, bias - limit)


def _row(
    profile: Profile, before: Spoken, after: Spoken, *, answered: bool
) -> dict[str, float] | None:
    """The features; None where answers are wanted and there are none."""
    heard = max(1, len(after) - 1) if answered else 0
    after = [*after[:heard], *(replace(one, answers=()) for one in after[heard:])]
    if answered and not any(one.answers for one in after):
        return None
    return departure_features(profile, before, after)


def _chat_rows(
    profile: Profile, talks: Sequence[Spoken], new: int, *, answered: bool
) -> tuple[list[dict[str, float]], Floats]:
    rows: list[dict[str, float]] = []
    labels: list[float] = []
    for index, own in enumerate(talks):
        steps = _FOREIGN if new == 1 else _FOREIGN[:1]
        foreign = [talks[(index + step) % len(talks)][:new] for step in steps]
        for start in range(1, len(own) - new + 1):
            for place, after in enumerate((own[start : start + new], *foreign)):
                row = _row(profile, own[:start], after, answered=answered)
                if row is not None:
                    rows.append(row)
                    labels.append(float(place > 0))
    return rows, np.array(labels)


def _of_session(session: Session, profile: Profile, texts: Texts) -> Spoken:
    rng = random.Random(session.inputs[0])  # noqa: S311
    inputs, answers = texts.rows(session.inputs), texts.rows(session.answers)
    return [
        Exchange(said, said, _heard(profile, answer) if rng.random() >= _SILENT else ())
        for said, answer in zip(inputs, answers, strict=True)
    ]


def _of_chat(chat: Prompts, profile: Profile, texts: Texts) -> Spoken:
    heads = texts.rows(map(first_sentence, chat.prompts))
    prompts, answers = texts.rows(chat.prompts), texts.rows(chat.answers)
    return [
        Exchange(prompt, head, _heard(profile, answer))
        for prompt, head, answer in zip(prompts, heads, answers, strict=True)
    ]


def _heard(profile: Profile, answer: Floats) -> tuple[Floats, ...]:
    return () if is_filler(profile, answer) else (answer,)


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


def _report(what: str, scores: Floats, marks: Floats, owners: Sequence[Session]) -> None:
    found: dict[str, dict[int, bool]] = {}
    for score, mark, owner in zip(scores, marks, owners, strict=True):
        if mark == (0 if owner.boundary is None else 1):
            seen = found.setdefault(owner.kind, {})
            seen[id(owner)] = seen.get(id(owner), False) or bool(score >= 0)
    for kind, seen in found.items():
        share = sum(seen.values()) / len(seen)
        print(f"{what}, {kind}: {share:.3f} of {len(seen)} reach the limit")
