"""How often each phase of a pass fires on conversations, with the default settings.

Each conversation is lived through as a session: turns come a minute apart, are scored against
the first input and the input before, and passes run as they fall due under a budget of half the
conversation's tokens; a confirmed topic shift runs its pass. A phase that never fires decides
nothing, whatever its threshold says.

    python -m tests.benchmarks --data DATA phases
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.events import types as ev
from gh_tui.events.values import Role, Trigger
from gh_tui.memory.coherence import CoherenceTurn, TopicCoherence
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.passes import PassRequest, Query
from gh_tui.memory.relevance import RelevanceTracker
from gh_tui.memory.turn import iri_for, new_turn
from tests.benchmarks.data import Skip, load_corpora, load_prompts
from tests.benchmarks.report import Row, Table, mean, with_skipped

PHASES: Final = ("mask", "threshold", "fusion", "topic")
SHARE: Final = 0.5
MOST: Final = 40
"""Conversations of each kind."""
_SECONDS: Final = 60.0
_FIFTEEN: Final = Path(__file__).with_name("fifteen_turns.json")

Talk = list[tuple[Role, str]]


@dataclass(slots=True)
class Tally:
    """What happened in the conversations of one kind."""

    conversations: int = 0
    turns: int = 0
    passes: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    """In how many passes each phase took something."""
    scores: list[float] = field(default_factory=list)

    def take(self, events: Sequence[ev.Event]) -> None:
        """Count a pass."""
        phases = [e.phase for e in events if isinstance(e, ev.TurnFidelityChanged)]
        self.passes += 1
        self.changes.update(phases)
        self.fired.update(set(phases))

    def row(self, name: str) -> Row:
        """The share of passes in which each phase fired, and turns changed by it in a hundred."""
        fired = [self.fired[phase] / max(1, self.passes) for phase in PHASES]
        changed = [100 * self.changes[phase] / self.turns for phase in PHASES]
        below = mean(score < EvictionConfig().relevance_threshold for score in self.scores)
        figures = (self.turns, self.passes, *fired, *changed, below)
        return Row(name, "also", self.conversations, figures)


class Life:
    """One conversation, lived through."""

    def __init__(self, service: EmbeddingService, budget: int, tally: Tally) -> None:
        self._l1 = L1Session(calibrate=NATIVE.similarity)
        self._tracker = RelevanceTracker(NATIVE, dim=service.dim, embedder=service.name)
        self._watch = TopicCoherence()
        self._service, self._budget, self._tally = service, budget, tally
        self._now = 0.0

    async def add(self, role: Role, text: str) -> None:
        """Take in the next turn, and run the pass that is due."""
        first = not len(self._l1)
        vector = (await self._service.embed([text]))[0]
        if first:
            self._tracker.set_task_5w2h(vector)
        if role == "user":
            score = self._tracker.on_new_input(text, vector, now=self._now)
        else:
            score = self._tracker.score_turn(vector, now=self._now)
        iri = iri_for("s", len(self._l1) + 1)
        turn = new_turn(iri, role, text, created_at=self._now, is_task=first)
        self._l1.add(replace(turn, embedding=vector, relevance_score=score.relevance_score))
        self._tally.turns += 1
        if score.relevance_score is not None:
            self._tally.scores.append(score.relevance_score)
        shift = self._watch.observe(CoherenceTurn(iri, role, text, vector, role == "user")).shift
        if shift is not None:
            before = self._l1.turns[: self._l1.row(shift.boundary_iri)]
            proposed = tuple(t.iri for t in before if not self._l1.protected(t.iri))
            self._pass("topic", proposed)
        elif (trigger := self._l1.due(self._l1.tokens(), self._budget)) is not None:
            self._pass(trigger)
        self._now += _SECONDS

    def _pass(self, trigger: Trigger, proposed: tuple[str, ...] = ()) -> None:
        latest = self._l1.latest_input
        query = Query() if latest is None else Query(latest.iri, latest.text, latest.embedding)
        request = PassRequest(
            now=self._now,
            budget=self._budget,
            tokens_before=self._l1.tokens(),
            trigger=trigger,
            query=query,
            proposed=proposed,
        )
        self._tally.take(self._l1.evict_with_query(request))


def conversations(data: Path, skip: Skip) -> dict[str, list[Talk]]:
    """The conversations that are there, a few of each kind; the fifteen turns always are.

    Args:
        data: the folder of the public data.
        skip: told what is not there.
    """
    raw = json.loads(_FIFTEEN.read_text("utf-8"))
    found: dict[str, list[Talk]] = {
        "the fifteen turns": [
            [turn for said, answer in own["talk"] for turn in _both(said, answer)]
            for own in raw.values()
        ]
    }
    for corpus in load_corpora(data, skip):
        found[corpus.name] = [
            [
                ("user" if user else "assistant", text)
                for user, text in zip(one.users, one.texts, strict=True)
            ]
            for one in corpus.test[:MOST]
        ]
    chats = load_prompts(data, skip)
    if len(chats) == 1:
        skip("structflowbench", "a single conversation, and the second is the first of the test")
    found["structflowbench"] = [
        [
            turn
            for said, answer in zip(chat.prompts, chat.answers, strict=True)
            for turn in _both(said, answer)
        ]
        for chat in chats[1 : 2 * MOST : 2]
    ]
    talks = {name: [talk for talk in own if talk] for name, own in found.items()}
    return {name: own for name, own in talks.items() if own}


def _both(said: str, answer: str) -> Talk:
    return [("user", said), ("assistant", answer)]


async def _measure(talks_by_kind: Mapping[str, Sequence[Talk]]) -> Table:
    service, rows = EmbeddingService(NativeEmbedder()), []
    try:
        for name, talks in talks_by_kind.items():
            tally = Tally(conversations=len(talks))
            for talk in talks:
                tokens = sum(new_turn("", role, text, created_at=0.0).tokens for role, text in talk)
                life = Life(service, int(SHARE * tokens), tally)
                for role, text in talk:
                    await life.add(role, text)
            rows.append(tally.row(name))
    finally:
        service.close()
    return Table(
        measure=f"Phases, budget {SHARE:.0%}",
        heads=(
            *("turns", "passes"),
            *(f"{phase} fired" for phase in PHASES),
            *(f"by {phase}, per 100 turns" for phase in PHASES),
            "scores below 0.3",
        ),
        rows=tuple(rows),
        items="conversations",
        note="no tool results in these, so nothing to mask; recorded coding sessions have them",
    )


def measure(data: Path) -> list[Table]:
    """One row per kind of conversation."""
    left_out: list[tuple[str, str]] = []
    found = conversations(data, lambda part, reason: left_out.append((part, reason)))
    return with_skipped("Phases", [asyncio.run(_measure(found))], left_out)
