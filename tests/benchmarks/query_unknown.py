"""Evidence that survives under a budget while nobody knows what will be asked, on LoCoMo.

Turns come in order, and whenever the store would exceed its budget something leaves for good.
Evidence recall is the share of a question's evidence that is still there at the end, as the
mean over the questions of categories 1 to 4; the ratio is the share of evidence that left over
the share of turns that left: a rule that knows nothing has 1. Weights were chosen on
conversations 1 to 3.

    python -m tests.benchmarks --data DATA query_unknown
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Matrix
from gh_tui.events.values import Role
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.lexicon import Lexicon
from gh_tui.memory.passes import PassRequest
from gh_tui.memory.tokens import count_message
from gh_tui.memory.turn import iri_for, new_turn
from tests.benchmarks.baselines import plain_words
from tests.benchmarks.locomo import BUDGETS, DEVELOPMENT, Conversation, Question, read
from tests.benchmarks.report import Kind, Row, Table, Target, mean, with_skipped

TARGETS: Final = (
    *(Target(value) for value in (0.21, 0.48, 0.77)),
    *(Target(value, most=True) for value in (0.90, 0.72, 0.50)),
)
_UNANSWERABLE: Final = 5
_SECONDS: Final = 60.0
"""Between two turns."""

Floats = NDArray[np.float64]
Keys = Callable[[int], Floats]
"""From the number of the newest turn to a key for it and all before; the lowest leaves."""


def asked(conversation: Conversation) -> list[Question]:
    """The questions that have an answer."""
    return [q for q in conversation.questions if q.category != _UNANSWERABLE]


@dataclass(slots=True)
class Tally:
    """What one method kept."""

    recalls: dict[float, list[float]] = field(default_factory=dict)
    kept: Counter[float] = field(default_factory=Counter)
    turns: int = 0

    def add(self, conversation: Conversation, share: float, kept: frozenset[int]) -> None:
        """Take in what was left of a conversation at one budget."""
        self.recalls.setdefault(share, []).extend(
            sum(place in kept for place in q.evidence) / len(q.evidence)
            for q in asked(conversation)
        )
        self.kept[share] += len(kept)

    def row(self, method: str, kind: Kind) -> Row:
        """Recall at each budget, then the ratios."""
        recall = [mean(self.recalls[share]) for share in BUDGETS]
        evicted = [1 - self.kept[share] / self.turns for share in BUDGETS]
        ratios = [
            None if kept is None or not gone else (1 - kept) / gone
            for kept, gone in zip(recall, evicted, strict=True)
        ]
        items = len(self.recalls[BUDGETS[0]])
        return Row(method, kind, items, (*recall, *ratios))


def keep_highest(tokens: Sequence[int], budget: float, keys: Keys) -> frozenset[int]:
    """Stream turns through a store that drops the lowest keys whenever it is over its budget."""
    kept: list[int] = []
    held = 0
    for newest, size in enumerate(tokens):
        key = keys(newest)
        kept.append(newest)
        held += size
        if held <= budget:
            continue
        for row in sorted(kept, key=lambda row: (key[row], row)):
            kept.remove(row)
            held -= tokens[row]
            if held <= budget:
                break
    return frozenset(kept)


def keep_in_session(
    texts: Sequence[str],
    budget: float,
    config: EvictionConfig,
    scores: Sequence[float] | None = None,
) -> frozenset[int]:
    """Stream turns through a real session; those that the model still sees whole at the end.

    A pass runs whenever the store is over its budget, or over the high watermark.
    """
    l1 = L1Session(config)
    for number, text in enumerate(texts):
        role: Role = "assistant" if number % 2 else "user"
        now = _SECONDS * number
        l1.add(new_turn(iri_for("s", number + 1), role, text, created_at=now))
        if scores is not None:
            l1.score(iri_for("s", number + 1), scores[number])
        held = l1.tokens()
        if held > config.high_watermark * budget:
            request = PassRequest(
                now=now, budget=int(budget), tokens_before=held, trigger="watermark"
            )
            l1.evict_with_query(request)
    return frozenset(row for row, turn in enumerate(l1.turns) if turn.fidelity == "full")


def running_idf(texts: Sequence[str], tokens: Sequence[int]) -> Keys:
    """The baseline: the sum of ln(turns / turns with the word) per token, as known so far."""
    ids: dict[str, int] = {}
    words = [[ids.setdefault(w, len(ids)) for w in set(plain_words(text))] for text in texts]
    flat = np.array([word for own in words for word in own], np.int64)
    rows = np.repeat(np.arange(len(texts)), [len(own) for own in words])
    ends = np.cumsum([len(own) for own in words])
    sizes = np.array(tokens, np.float64)

    def keys(newest: int) -> Floats:
        turns, end = newest + 1, ends[newest]
        having = np.bincount(flat[:end], minlength=len(ids))
        rarity = np.log(turns / np.maximum(having, 1))
        sums = np.bincount(rows[:end], rarity[flat[:end]], turns).astype(np.float64)
        return sums / sizes[:turns]

    return keys


def information(texts: Sequence[str], tokens: Sequence[int]) -> Keys:
    """The program's information term per token, without anything else."""
    lexicon = Lexicon()
    sizes = np.array(tokens, np.float64)

    def keys(newest: int) -> Floats:
        lexicon.add(texts[newest])
        return lexicon.information().astype(np.float64) / sizes[: newest + 1]

    return keys


def _fixed(values: Floats) -> Keys:
    return lambda newest: values


class Contest:
    """All methods on some conversations."""

    kinds: Final[dict[str, Kind]] = {
        "first in, first out": "baseline",
        "relevance to the first turn": "baseline",
        "idf per token": "baseline",
        "information per token alone": "also",
        "fusion": "result",
        "fusion, no names": "also",
        "fusion, first turn as the task": "also",
        "fusion, passes from 85 to 60 %": "also",
    }

    def __init__(self) -> None:
        self.tallies = {method: Tally() for method in self.kinds}
        self.conversations = 0

    def add(self, conversation: Conversation, vectors: Matrix) -> None:
        """Run every method on a conversation, whose turns have these unit vectors."""
        self.conversations += 1
        texts = [turn.text(named=True) for turn in conversation.turns]
        plain = [turn.text(named=False) for turn in conversation.turns]
        tokens = [count_message(text) for text in texts]
        cosines = vectors @ vectors[0]
        near = cosines.astype(np.float64)
        scores = [float(score) for score in NATIVE.similarity(cosines)]
        # The store is kept just within its budget, as the baselines keep theirs.
        full = EvictionConfig(high_watermark=1.0, low_watermark=1.0, max_messages=len(texts))
        usual = EvictionConfig(max_messages=len(texts))
        for tally in self.tallies.values():
            tally.turns += len(texts)
        for share in BUDGETS:
            budget = share * sum(tokens)
            bare = share * sum(count_message(text) for text in plain)
            found = {
                "first in, first out": keep_highest(
                    tokens, budget, _fixed(np.arange(len(texts), dtype=float))
                ),
                "relevance to the first turn": keep_highest(tokens, budget, _fixed(near)),
                "idf per token": keep_highest(tokens, budget, running_idf(texts, tokens)),
                "information per token alone": keep_highest(
                    tokens, budget, information(texts, tokens)
                ),
                "fusion": keep_in_session(texts, budget, full),
                "fusion, no names": keep_in_session(plain, bare, full),
                "fusion, first turn as the task": keep_in_session(texts, budget, full, scores),
                "fusion, passes from 85 to 60 %": keep_in_session(texts, budget, usual),
            }
            for method, kept in found.items():
                self.tallies[method].add(conversation, share, kept)

    def table(self, split: str, targets: tuple[Target, ...]) -> Table:
        """The figures as a table."""
        return Table(
            measure=f"LoCoMo, query unknown, {split}",
            heads=(
                *(f"{share:.0%}" for share in BUDGETS),
                *(f"ratio {share:.0%}" for share in BUDGETS),
            ),
            rows=tuple(t.row(method, self.kinds[method]) for method, t in self.tallies.items()),
            targets=targets,
            items="questions",
        )


async def _vectors(conversations: Sequence[Conversation]) -> list[Matrix]:
    embedding = EmbeddingService(NativeEmbedder())
    try:
        return [
            await embedding.embed([turn.text(named=True) for turn in conversation.turns])
            for conversation in conversations
        ]
    finally:
        embedding.close()


def measure(data: Path) -> list[Table]:
    """Development and test split, as far as there are questions.

    Raises:
        NoData: there are none, or the data is not there.
    """
    conversations = [(number, one) for number, one in enumerate(read(data)) if asked(one)]
    vectors = asyncio.run(_vectors([one for _, one in conversations]))
    development, test = Contest(), Contest()
    for (number, conversation), rows in zip(conversations, vectors, strict=True):
        (development if number in DEVELOPMENT else test).add(conversation, rows)
    splits: list[tuple[str, Contest, tuple[Target, ...]]] = [
        ("conversations 1 to 3, development", development, ()),
        ("conversations 4 to 10, test", test, TARGETS),
    ]
    return with_skipped(
        "LoCoMo, query unknown",
        [part.table(split, targets) for split, part, targets in splits if part.conversations],
        [
            (split, "no questions with an answer")
            for split, part, _ in splits
            if not part.conversations
        ],
    )
