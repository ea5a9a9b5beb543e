"""The store of supplements and its recording, under any order of events and crashes."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gh_tui.chaos.life import WatchedDisk
from gh_tui.clock import ManualClock
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.journal.recorder import Recorder
from gh_tui.memory.restored import read_session
from gh_tui.memory.supplements import SupplementaryInputStore, SupplementEntry
from gh_tui.memory.turn import iri_for

TEXTS = st.sampled_from(["Use metric units", "用公制单位", "Pakai meter", "ok", "ok", " a\n\nb "])


def turn(name: str, text: str, number: int) -> ev.TurnAdded:
    return ev.TurnAdded(
        iri=iri_for("s", number),
        role="user",
        text=text,
        summary="",
        tokens=1,
        is_supplement=True,
        supplement=name,
    )


class Promise(RuleBasedStateMachine):
    """What was accepted is pending, taken or returned, in order, whatever happens.

    Taken and not injected it can still be returned; its turn is hidden then, and stays so.

    The model keeps what was acknowledged; a power cut may undo the rest, and only the rest.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.accepted: dict[str, str] = {}
        self.taken: dict[str, str] = {}
        self.injected: set[str] = set()
        self.returned: set[str] = set()
        self.number = 0
        self.turns = 0
        self.crashes = 0

    @initialize()
    def begin(self) -> None:
        self.store = SupplementaryInputStore()
        self._open(self.folder / "s.jsonl")
        self._publish(ev.UserInputReceived(iri=iri_for("s", 0), text="the task"))

    def teardown(self) -> None:
        self.recorder.close()
        self.runner.close()
        shutil.rmtree(self.folder)

    def _open(self, path: Path) -> None:
        self.path = path
        self.disk = WatchedDisk(path.stat().st_size if path.exists() else 0)
        self.recorder = Recorder(path, self.disk)
        last = read_session(path).state.seq if self.disk.synced else 0
        self.bus = EventBus("s", ManualClock(), self.recorder, next_seq=last + 1)

    def _publish(self, event: ev.Event) -> None:
        self.runner.run(self.bus.publish(event))

    def _fresh_id(self) -> str:
        self.number += 1
        return f"supplement-{self.number}"

    @rule(text=TEXTS)
    def accept(self, text: str) -> None:
        name = self._fresh_id()
        self._publish(ev.SupplementaryInputReceived(id=name, text=text))
        self.store.store(SupplementEntry(name, text))
        self.accepted[name] = text

    @rule(score=st.floats(0, 1))
    def score_the_first(self, score: float) -> None:
        for entry in self.store.snapshot_pending()[:1]:
            self.store.update(SupplementEntry(entry.id, entry.content, None, score))

    @rule()
    def take(self) -> None:
        for entry in self.store.take_pending():
            self.turns += 1
            self._publish(turn(entry.id, entry.content, self.turns))
            self.taken[entry.id] = iri_for("s", self.turns)

    @property
    def undelivered(self) -> set[str]:
        return set(self.taken) - self.injected - self.returned

    @precondition(lambda self: self.undelivered)
    @rule()
    def send(self) -> None:
        """A request goes out with all that is taken, and its headers come back."""
        sent = ev.RequestSent(
            request=1,
            cycle=1,
            purpose="agent",
            manifest=(),
            tokens=1,
            tokens_basis="estimated",
            budget=1,
        )
        self._publish(sent)
        for name in self.undelivered:
            event = ev.SupplementInjected(id=name, iri=self.taken[name], cycle=1, request=1)
            self._publish(event)
            self.injected.add(name)

    @rule(choice=st.integers(0, 9))
    def withdraw(self, choice: int) -> None:
        name = f"supplement-{choice}"
        waits = name in self.accepted and name not in self.taken and name not in self.returned
        entry = self.store.withdraw(name)
        assert (entry is not None) == waits
        if entry is not None or name in self.undelivered:
            text = self.accepted[name]
            self._publish(ev.SupplementReturned(id=name, text=text, reason="withdrawn"))
            self.returned.add(name)

    @rule(share=st.floats(0, 1), text=st.none() | TEXTS)
    def crash(self, share: float, text: str | None) -> None:
        """Everything in memory is gone; the file is cut after what was synced.

        Args:
            share: how much of the rest is kept.
            text: an input whose acknowledgement nobody saw.
        """
        synced = self.disk.synced
        if text is not None:
            self._publish(ev.SupplementaryInputReceived(id=self._fresh_id(), text=text))
        self.recorder.close()
        content = self.path.read_bytes()
        self.crashes += 1
        copy = self.folder / f"{self.crashes}.jsonl"
        copy.write_bytes(content[: synced + round(share * (len(content) - synced))])
        self._restore(copy, text)

    def _restore(self, copy: Path, unheard: str | None) -> None:
        restored = read_session(copy)
        known = restored.state.supplements
        newest = f"supplement-{self.number}"
        if unheard is not None and newest in known:
            self.accepted[newest] = unheard
        assert {name: entry.text for name, entry in known.items()} == self.accepted
        assert list(known) == list(self.accepted)
        assert {n for n, entry in known.items() if entry.status == "returned"} == self.returned
        undone = {name for name, entry in known.items() if entry.status == "pending"}
        assert not undone & self.injected, "what a server has seen is never pending again"
        self.taken = {n: entry.iri for n, entry in known.items() if entry.iri is not None}
        self.injected = {n for n, entry in known.items() if entry.status == "injected"}
        self.number, self.turns = restored.last_supplement, restored.last_turn
        self._open(copy)
        self.store = SupplementaryInputStore()
        for entry in restored.state.pending:
            if entry.iri is None:
                self.store.store(SupplementEntry(entry.id, entry.text))

    @invariant()
    def what_waits_is_what_was_accepted_and_nothing_else(self) -> None:
        waiting = [n for n in self.accepted if n not in self.taken and n not in self.returned]
        entries = self.store.snapshot_pending()
        assert [entry.id for entry in entries] == waiting
        assert [entry.content for entry in entries] == [self.accepted[n] for n in waiting]
        assert self.store.pending_count == len(waiting)

    @invariant()
    def the_recording_says_the_same(self) -> None:
        state = read_session(self.path).state
        pending = [e.id for e in state.pending if e.iri is None]
        assert pending == [entry.id for entry in self.store.snapshot_pending()]
        turns = {t.iri: t for t in state.turns.values() if t.is_supplement}
        assert set(turns) == set(self.taken.values())
        gone = {self.taken[name] for name in self.returned if name in self.taken}
        assert {iri for iri, turn in turns.items() if turn.withdrawn} == gone
        assert {iri for iri, turn in turns.items() if turn.fidelity == "archived"} == gone
        assert {e.id for e in state.pending} == set(self.accepted) - self.injected - self.returned


TestPromise = Promise.TestCase
TestPromise.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_threads_that_store_and_take_lose_and_double_nothing() -> None:
    store = SupplementaryInputStore()
    taken: list[list[str]] = [[] for _ in range(3)]
    done = threading.Event()

    def take(own: list[str]) -> None:
        while not done.is_set() or store.pending_count:
            own += [entry.id for entry in store.take_pending()]

    def put(writer: int) -> None:
        for number in range(500):
            store.store(SupplementEntry(f"{writer}-{number}", "x"))

    takers = [threading.Thread(target=take, args=(own,)) for own in taken]
    writers = [threading.Thread(target=put, args=(writer,)) for writer in range(3)]
    for thread in (*takers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in takers:
        thread.join()
    names = [name for own in taken for name in own]
    assert sorted(names) == sorted(f"{w}-{n}" for w in range(3) for n in range(500))


def test_an_entry_that_is_put_back_stands_in_front_again() -> None:
    store = SupplementaryInputStore()
    for name in ("a", "b"):
        store.store(SupplementEntry(name, name))
    first = store.withdraw("a")
    assert first is not None
    store.put_back(first)
    assert [entry.id for entry in store.take_pending()] == ["a", "b"]


def test_what_was_taken_is_not_brought_back_by_a_late_score() -> None:
    store = SupplementaryInputStore()
    store.store(SupplementEntry("a", "a"))
    store.take_pending()
    store.update(SupplementEntry("a", "a", None, 0.5))
    assert store.pending_count == 0
