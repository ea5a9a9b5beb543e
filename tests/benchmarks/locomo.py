"""Evidence under a budget (query known) and turn recall at k, on LoCoMo.

    python -m tests.benchmarks.locomo DATA [--json FILE]

Each dialogue session of a conversation becomes a recording, and the ranking measured is that of
`Index.search` over them, as `search_memory` uses it; the row `one session` puts the same turns
into one `L0`, which ranks as the eviction's query term does. A turn's text is what was said, and
the caption of a picture that was sent; in the main rows the speaker's name stands before it, as
in any transcript, and in the rows `no names` it does not. Weights were chosen on conversations
1 to 3; conversations 4 to 10 are the test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Matrix, Vector, pack
from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.memory.index import Index
from gh_tui.memory.l0 import L0
from gh_tui.memory.lexicon import Lexicon
from gh_tui.memory.tokens import count_message
from gh_tui.memory.turn import iri_for, number_of
from tests.benchmarks.baselines import PlainBm25, descending
from tests.benchmarks.data import NoData, needed, read_text

BUDGETS: Final = (0.10, 0.25, 0.50)
DEPTHS: Final = (5, 10, 25, 50)
DEVELOPMENT: Final = range(3)
DRAGON: Final = (0.567, 0.662, 0.767, 0.827)
"""Turn recall of a published retriever, for comparison."""
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")
_UNANSWERABLE: Final = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the places of the turns that answer it."""

    text: str
    category: int
    evidence: tuple[int, ...]
    """Places in the conversation, from 0, each once."""


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of the data."""

    session: int
    speaker: str
    words: str

    def text(self, *, named: bool) -> str:
        return f"{self.speaker}: {self.words}" if named else self.words


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, its turns in order."""

    turns: tuple[Said, ...]
    questions: tuple[Question, ...]


@dataclass(slots=True)
class Row:
    """One line of the table."""

    measure: str
    method: str
    split: str
    items: int
    values: list[float] = field(default_factory=list)


Query = tuple[str, Vector]


def read(data: Path) -> list[Conversation]:
    """The conversations in file order.

    Raises:
        NoData: the file is not there, or not what it should be.
    """
    path = data / "locomo" / "locomo10.json"
    with needed(path):
        return [_conversation(item) for item in json.loads(read_text(path))]


def _conversation(item: Mapping[str, Any]) -> Conversation:
    talk = item["conversation"]
    names = [name for name in talk if re.fullmatch(r"session_\d+", name)]
    turns: list[Said] = []
    places: dict[str, int] = {}
    for session, name in enumerate(sorted(names, key=lambda name: int(name[8:]))):
        for raw in talk[name]:
            places[raw["dia_id"]] = len(turns)
            picture = raw.get("blip_caption")
            words = f"{raw['text']} [shares {picture}]" if picture else raw["text"]
            turns.append(Said(session, raw["speaker"], words))
    questions = []
    for raw in item["qa"]:
        named = _EVIDENCE.findall(" ".join(raw.get("evidence") or []))
        found = {places.get(f"D{int(day)}:{int(turn)}") for day, turn in named} - {None}
        if found:
            evidence = tuple(sorted(place for place in found if place is not None))
            questions.append(Question(raw["question"], raw["category"], evidence))
    return Conversation(tuple(turns), tuple(questions))


class Scores:
    """Evidence recall of one method over conversations."""

    def __init__(self) -> None:
        self.known: list[list[float]] = []
        self.at: list[list[float]] = []

    def joined(self, other: Scores) -> Scores:
        """Both together."""
        both = Scores()
        both.known, both.at = self.known + other.known, self.at + other.at
        return both

    def add(
        self, conversation: Conversation, tokens: NDArray[np.int64], ranked: list[list[int]]
    ) -> None:
        """Take in the ranking of all turns for every question of a conversation."""
        for question, order in zip(conversation.questions, ranked, strict=True):
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            evidence = place[list(question.evidence)]
            self.at.append([float(np.mean(evidence < depth)) for depth in DEPTHS])
            if question.category != _UNANSWERABLE:
                spent = np.cumsum(tokens[order])
                budgets = [share * tokens.sum() for share in BUDGETS]
                self.known.append([float(np.mean(spent[evidence] <= most)) for most in budgets])

    def rows(self, method: str, split: str) -> list[Row]:
        """The rows of a method, one for each measure that had questions."""
        return [
            Row(measure, method, split, len(values), _means(values))
            for measure, values in (("query known", self.known), ("turn recall", self.at))
            if values
        ]


def _means(values: list[list[float]]) -> list[float]:
    return [round(float(mean), 4) for mean in np.mean(np.array(values), axis=0)]


def write_recordings(
    folder: Path, texts: Sequence[str], sessions: Sequence[int], vectors: Matrix
) -> dict[str, int]:
    """Write one recording per session; gives the place of each IRI."""
    places: dict[str, int] = {}
    (folder / "sessions").mkdir(parents=True)
    for session in sorted(set(sessions)):
        name = f"day-{session:03}"
        events: list[ev.Event] = [_started()]
        for place in (place for place, own in enumerate(sessions) if own == session):
            iri = iri_for(name, len(events))
            places[iri] = place
            events += [_added(iri, texts[place]), _scored(iri, vectors[place])]
        lines = [
            to_line(Envelope(number, "2026-01-01T00:00:00Z", name, event))
            for number, event in enumerate(events, 1)
        ]
        (folder / "sessions" / f"{name}.jsonl").write_bytes(b"".join(lines))
    return places


def _started() -> ev.SessionStarted:
    return ev.SessionStarted(
        provider="none",
        model="none",
        window=0,
        window_source="guessed",
        embedder="native",
        settings={},
    )


def _added(iri: str, text: str) -> ev.TurnAdded:
    tokens = count_message(text)
    return ev.TurnAdded(iri=iri, role="user", text=text, summary=text[:80], tokens=tokens)


def _scored(iri: str, vector: Vector) -> ev.TurnScored:
    return ev.TurnScored(
        iri=iri,
        relevance_score=None,
        global_sim=None,
        local_sim=None,
        basis="none",
        embedding=pack(vector),
    )


class Contest:
    """The methods that are compared, each with its scores so far."""

    def __init__(self) -> None:
        self.scores: dict[str, Scores] = {}

    async def add(self, conversation: Conversation, embedding: EmbeddingService) -> None:
        """Measure every method on one conversation that has questions."""
        asked = [question.text for question in conversation.questions]
        queries = list(zip(asked, await embedding.embed(asked), strict=True))
        for named in (True, False):
            texts = [turn.text(named=named) for turn in conversation.turns]
            vectors = await embedding.embed(texts)
            tokens = np.array([count_message(text) for text in texts])
            orders: dict[str, list[list[int]]] = {}
            suffix = "" if named else ", no names"
            if named:
                plain = PlainBm25(texts)
                orders["recency"] = [list(reversed(range(len(texts))))] * len(asked)
                orders["bm25"] = [plain.order(question) for question in asked]
                orders["bm25 of the program"] = _by_words(texts, asked)
            orders[f"search{suffix}"] = _by_index(conversation, texts, vectors, queries)
            orders[f"one session{suffix}"] = _by_l0(texts, vectors, queries)
            for method, ranked in orders.items():
                self.scores.setdefault(method, Scores()).add(conversation, tokens, ranked)


def _by_words(texts: Sequence[str], asked: Sequence[str]) -> list[list[int]]:
    lexicon = Lexicon()
    for text in texts:
        lexicon.add(text)
    return [descending(lexicon.bm25(question)) for question in asked]


def _by_index(
    conversation: Conversation, texts: Sequence[str], vectors: Matrix, queries: Sequence[Query]
) -> list[list[int]]:
    sessions = [turn.session for turn in conversation.turns]
    every = len(texts)
    with tempfile.TemporaryDirectory() as folder:
        places = write_recordings(Path(folder), texts, sessions, vectors)
        index = Index(Path(folder))
        added = index.refresh()
        if added != every:
            raise RuntimeError(f"{added} of {every} turns in the index")
        found = [
            [places[hit.iri] for hit in index.search(query, vector, every)]
            for query, vector in queries
        ]
        index.close()
    return [_complete(order, every) for order in found]


def _by_l0(texts: Sequence[str], vectors: Matrix, queries: Sequence[Query]) -> list[list[int]]:
    archive = L0()
    for place, text in enumerate(texts):
        iri = iri_for("s", place + 1)
        archive.add(_added(iri, text))
        archive.add_vector(iri, vectors[place])
    every = len(texts)
    found = [
        [number_of(hit.iri) - 1 for hit in archive.search(query, vector, every)]
        for query, vector in queries
    ]
    return [_complete(order, every) for order in found]


def _complete(found: list[int], every: int) -> list[int]:
    """Turns that a search never gives (no words) come last."""
    return found + sorted(set(range(every)) - set(found))


async def measure(data: Path) -> list[Row]:
    """All rows, for development, test and all conversations, where there are questions.

    Raises:
        NoData: there are none.
    """
    embedding = EmbeddingService(NativeEmbedder())
    parts = {"development": Contest(), "test": Contest()}
    try:
        for number, conversation in enumerate(read(data)):
            if conversation.questions:
                part = "development" if number in DEVELOPMENT else "test"
                await parts[part].add(conversation, embedding)
    finally:
        embedding.close()
    development, test = (part.scores for part in parts.values())
    rows: list[Row] = []
    for method in development | test:
        before, after = development.get(method, Scores()), test.get(method, Scores())
        rows += before.rows(method, "development")
        rows += after.rows(method, "test")
        rows += before.joined(after).rows(method, "all")
    if not rows:
        raise NoData(f"no question about the turns of a conversation in {data / 'locomo'}")
    asked = rows[-1].items
    return [*rows, Row("turn recall", "DRAGON, as published", "all", asked, list(DRAGON))]


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    lines = []
    for measure_name, heads in (("query known", BUDGETS), ("turn recall", DEPTHS)):
        lines.append(
            f"{measure_name:12} {'split':12} {'items':>6}  " + " ".join(f"{h:>6}" for h in heads)
        )
        for row in rows:
            if row.measure == measure_name:
                values = " ".join(f"{value:6.3f}" for value in row.values)
                lines.append(f"{row.method:22} {row.split:12} {row.items:6}  {values}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.locomo")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        rows = asyncio.run(measure(options.data))
    except NoData as reason:
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    sys.stdout.write(table(rows) + "\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
