"""Recordings on disk for the tests of the archive."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gh_tui.clock import ManualClock
from gh_tui.embedding.vectors import pack
from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.events.values import Role, Task
from gh_tui.memory.index import Index
from gh_tui.memory.turn import iri_for

TIME = "2026-01-02T03:04:05Z"


class Ticking(ManualClock):
    """A second passes whenever it is looked at."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()


class Recording:
    """One session's file, written line by line."""

    def __init__(self, data: Path, session: str, *, title: str = "", embedder: str = "native"):
        folder = data / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{session}.jsonl"
        self.session = session
        self._seq = 0
        self._turns = 0
        self.write(
            ev.SessionStarted(
                provider="p",
                model="m",
                window=1,
                window_source="guessed",
                embedder=embedder,
                settings={},
            )
        )
        if title:
            self.write(ev.TaskStarted(task=Task(what=title), by="user"))

    def line(self, event: ev.Event) -> bytes:
        self._seq += 1
        return to_line(Envelope(self._seq, TIME, self.session, event))

    def write(self, event: ev.Event) -> None:
        self.append(self.line(event))

    def append(self, data: bytes) -> None:
        with self.path.open("ab") as stream:
            stream.write(data)

    def say(
        self,
        text: str,
        vector: Sequence[float] | NDArray[np.float32] | None = None,
        *,
        role: Role = "user",
        name: str | None = None,
    ) -> str:
        turn = self.turn(text, role=role, name=name)
        self.write(turn)
        if vector is not None:
            self.score(turn.iri, vector)
        return turn.iri

    def turn(self, text: str, *, role: Role = "user", name: str | None = None) -> ev.TurnAdded:
        self._turns += 1
        iri = iri_for(self.session, self._turns)
        return ev.TurnAdded(iri=iri, role=role, text=text, summary=text[:40], tokens=1, name=name)

    def withdraw(self, iri: str) -> None:
        self.write(
            ev.TurnFidelityChanged(
                iri=iri,
                before="full",
                after="archived",
                phase="user",
                terms={"withdrawn": 1.0},
                tokens_freed=1,
            )
        )

    def score(self, iri: str, vector: Sequence[float] | NDArray[np.float32]) -> None:
        self.write(
            ev.TurnScored(
                iri=iri,
                relevance_score=None,
                global_sim=None,
                local_sim=None,
                basis="",
                embedding=pack(np.asarray(vector, np.float32)),
            )
        )


def found(index: Index, query: str, limit: int = 3) -> list[str]:
    return [hit.iri for hit in index.search(query, limit=limit)]


def two_sessions(data: Path) -> tuple[str, str]:
    cooking = Recording(data, "s1", title="Cook dinner")
    cooking.say("Let us plan the dinner for Friday.")
    pasta = cooking.say("The recipe wants saffron and two lemons.")
    cooking.say("Fine, I go shopping.")
    server = Recording(data, "s2", title="Move the\n server")
    server.say("The server moves on Monday.")
    port = server.say("PostgreSQL listens on port 5433 of the test machine.")
    server.say("Understood.")
    return pasta, port


def being_taken(folder: Path, session: str, index: Index) -> threading.Thread:
    """A refresh that has begun with a long recording and is not through with it."""
    talk = Recording(folder, session)
    for number in range(3000):
        talk.say(f"turn {number} about the harbour")
    worker = threading.Thread(target=index.refresh)
    worker.start()
    while not found(index, "harbour"):
        pass
    return worker
