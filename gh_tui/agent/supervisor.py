"""The Supervisor: which of twelve classes an input is in, and what it may replace.

Everything is decided by example sentences, a closed phrase list and lexical cues; no model
is asked. A control acts only when the whole input is on the phrase list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from gh_tui.agent.cues import Cues, Questions, length, load_cues, load_questions, sentences
from gh_tui.agent.head import Head
from gh_tui.agent.phrases import PhraseBook, load_phrases
from gh_tui.agent.prototypes import load_prototypes, load_vectors, load_weights
from gh_tui.agent.words import Words
from gh_tui.embedding.calibration import Calibration
from gh_tui.embedding.vectors import Matrix, Vector, cosine, problem
from gh_tui.errors import EmbeddingError

Group = Literal["information", "guidance", "control", "feedback"]
By = Literal["phrase", "similarity", "rules", "user"]

CLASSES: Final[dict[str, Group]] = {
    "AddContext": "information",
    "RefineObjective": "information",
    "ProvideConstraint": "information",
    "GuideDirection": "guidance",
    "PrioritizeStep": "guidance",
    "SuggestApproach": "guidance",
    "Pause": "control",
    "Resume": "control",
    "SkipCurrentStep": "control",
    "ConfirmDirection": "feedback",
    "CorrectApproach": "feedback",
    "AbortCurrentStep": "feedback",
}
STANDING: Final = frozenset(
    {"ProvideConstraint", "CorrectApproach", "RefineObjective", "GuideDirection"}
)
ACTING: Final = frozenset({"Pause", "Resume", "SkipCurrentStep", "AbortCurrentStep"})

_CUE_WEIGHT = np.float32(0.3)
_WORD_WEIGHT = np.float32(0.4)
_SUGGEST_AT = 0.4
_SUGGEST_WORDS = 12.0
_STANDING_AT = 0.45
_FIRM_AT = 0.15
_NEVER = 2.0
_SENTENCE_AT = 0.6
_ASK_AT = 0.55
_EDGE: Final = 2000
"""Characters at each end that are looked at: between them is what was pasted."""

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]


@dataclass(frozen=True, slots=True)
class Classification:
    """The class of an input, and how it was found."""

    class_: str
    """One of `CLASSES`; one of `ACTING` only with `by` phrase or user."""
    group: Group
    by: By
    suggested: str | None
    """A control class that similarity proposes, for one key to accept; it must not act."""
    standing: bool
    """The input becomes a standing instruction."""
    confidence: float
    """In [0, 1]; 1 for a phrase."""

    @property
    def acts(self) -> bool:
        """Whether the input is a control to be carried out rather than told to the model."""
        return self.class_ in ACTING


def _edges(text: str) -> str:
    return text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"


def of_class(
    name: str, by: By, confidence: float = 1.0, suggested: str | None = None
) -> Classification:
    """A classification with the group and the protection that its class implies.

    Args:
        name: one of `CLASSES`.
        by: how it was found; `user` when the user changed it.
        confidence: in [0, 1].
        suggested: a control class to offer.

    Raises:
        KeyError: there is no such class.
    """
    return Classification(name, CLASSES[name], by, suggested, name in STANDING, confidence)


class Supervisor:
    """Classifies inputs after the first; never asks the user anything by itself."""

    def __init__(self, embed: Embed, *, embedder: str = "") -> None:
        """Read the examples and lists; nothing is embedded yet.

        Args:
            embed: n texts to float32[n, dim]; the same embedder for the life of this object.
            embedder: its name; the built-in one has the vectors of the examples shipped, any
                other embeds them once, at `warm_up` or the first `classify`.
        """
        self._embedder = embedder
        self._embed = embed
        self._phrases: PhraseBook = load_phrases()
        self._cues: Cues = load_cues()
        self._questions: Questions = load_questions()
        self._examples = load_prototypes()
        self._words = Words(self._examples[0])
        self._fitted: Head | None = None
        self._fallback: Head | None = None
        self._fitting = asyncio.Lock()

    async def warm_up(self) -> None:
        """Read the fit that ships (0.3 s); for another embedder than the built-in one, make it.

        Raises:
            EmbeddingError: the embedder failed.
        """
        await self._head()

    async def classify(self, text: str, vector: Vector | None = None) -> Classification:
        """Put an input into one of the twelve classes.

        Args:
            text: the whole input.
            vector: its embedding, float32[dim], when it is known already.

        Returns:
            A class with `by` phrase (the whole input is on the closed list), rules (a plain
            question, or the embedder failed) or similarity.
        """
        phrase = self._phrases.lookup(text)
        if phrase is not None:
            return of_class(phrase, "phrase")
        text = _edges(text)
        if not text.strip() or self._questions.plain(text):
            return of_class("AddContext", "rules")
        shares, by = await self._shares(text, vector)
        suggested = _suggested(shares, text)
        name, confidence = _decide(shares, self._threshold(text))
        parts = sentences(text)
        if name not in STANDING and len(parts) > 1:
            name, confidence = await self._best_part(parts, name, confidence)
        return of_class(name, by, confidence, suggested)

    def signs(self) -> Matrix:
        """What the words of the examples tell, float32[n, k]; the fit that ships depends on it."""
        return np.stack([self._signs(text) for text in self._examples[0]])

    def _threshold(self, text: str) -> float:
        """The share of the standing classes from which an input is a standing instruction."""
        if self._questions.proposes(text):
            return _NEVER
        return _FIRM_AT if self._cues.firm(text) else _STANDING_AT

    async def _best_part(
        self, parts: Sequence[str], name: str, confidence: float
    ) -> tuple[str, float]:
        """The surest standing class among the sentences, or what the whole was."""
        best = (name, 0.0)
        for part in parts:
            if self._questions.plain(part) or self._questions.proposes(part):
                continue
            shares, _ = await self._shares(part, None)
            found, sure = _decide(shares, _SENTENCE_AT)
            if found in STANDING and sure > best[1]:
                best = (found, sure)
        return best if best[0] in STANDING else (name, confidence)

    async def _shares(self, text: str, vector: Vector | None) -> tuple[dict[str, float], By]:
        signs = self._signs(text)
        try:
            head = await self._head()
            if problem(vector, head.dim) is not None:
                vector = (await self._embed([text]))[0]
        except EmbeddingError:
            vector = None
        if vector is None or problem(vector, head.dim) is not None:
            wordy = await self._wordy_head()
            return wordy.shares(np.zeros(1, dtype=np.float32), signs), "rules"
        return head.shares(vector, signs), "similarity"

    async def _head(self) -> Head:
        async with self._fitting:
            if self._fitted is None:
                texts, _ = self._examples
                vectors = load_vectors(self._embedder, texts)
                if vectors is None:
                    vectors = await self._embed(texts)
                self._fitted = await asyncio.to_thread(self._fit, vectors, self._embedder)
            return self._fitted

    async def _wordy_head(self) -> Head:
        """Words alone, for when the embedder fails."""
        async with self._fitting:
            if self._fallback is None:
                nothing = np.zeros((len(self._examples[0]), 1), dtype=np.float32)
                self._fallback = await asyncio.to_thread(self._fit, nothing, "")
            return self._fallback

    def _fit(self, vectors: Matrix, embedder: str) -> Head:
        signs = self.signs()
        return Head(vectors, signs, self._examples[1], load_weights(embedder, signs))

    def _signs(self, text: str) -> Vector:
        cues = self._cues.features(self._questions.statement(text))
        return np.concatenate([_CUE_WEIGHT * cues, _WORD_WEIGHT * self._words.features(text)])


def _decide(shares: dict[str, float], standing_at: float) -> tuple[str, float]:
    """The best class that does not act, with a lean towards what must not be forgotten."""
    merged = dict.fromkeys(CLASSES, 0.0)
    for label, share in shares.items():
        merged[label if label in CLASSES else "AddContext"] += share
    # "Stop, that is the wrong folder" corrects, whether or not the user accepts the abort.
    merged["CorrectApproach"] += merged["AbortCurrentStep"]
    open_ = {name: share for name, share in merged.items() if name not in ACTING}
    total = sum(open_.values())
    standing = {name: share for name, share in open_.items() if name in STANDING}
    if sum(standing.values()) / total >= standing_at:
        name = max(standing, key=standing.__getitem__)
    else:
        rest = {name: share for name, share in open_.items() if name not in STANDING}
        name = max(rest, key=rest.__getitem__)
    return name, open_[name] / total


def _suggested(shares: dict[str, float], text: str) -> str | None:
    """The acting class to offer, when it is clearly the nearest and the input is short."""
    name = max(ACTING, key=lambda label: shares.get(label, 0.0))
    near = shares.get(name, 0.0)
    return name if near >= _SUGGEST_AT and length(text) <= _SUGGEST_WORDS else None


def related_standing(
    vector: Vector | None,
    standing: Sequence[tuple[str, Vector | None]],
    calibration: Calibration,
) -> str | None:
    """The older standing instruction that a new one may replace: worth a question, no more.

    Args:
        vector: the new instruction, float32[dim]; None when unknown.
        standing: IRI and vector of each older instruction, oldest first.
        calibration: of the embedder that made all the vectors.

    Returns:
        The IRI of the nearest one whose calibrated similarity is at least 0.55, the later of
        equals, or None.
    """
    best: tuple[float, str] | None = None
    for iri, older in standing:
        cos = cosine(vector, older)
        if cos is None:
            continue
        near = calibration.similarity(cos)
        if near >= _ASK_AT and (best is None or near >= best[0]):
            best = (near, iri)
    return best[1] if best is not None else None
