"""The turns of a session and their columns: what comes in, what is known of each turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.events import types as ev
from gh_tui.memory import forms
from gh_tui.memory.lexicon import Lexicon
from gh_tui.memory.names import NameBook
from gh_tui.memory.passes import Evidence
from gh_tui.memory.table import ARCHIVED, FULL, LEVELS, SUMMARY, TurnTable
from gh_tui.memory.tokens import count_message
from gh_tui.memory.turn import L1Turn, iris_in
from gh_tui.memory.vectors import VECTOR_BYTES, VectorStore
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gh_tui.embedding.vectors import Vector
    from gh_tui.events.values import Fidelity, Phase

RESULT_LIMIT: Final = 2000
"""Tokens from which a tool result is shown as head, tail and IRI."""
ATTACHED_LIMIT: Final = 500
"""Tokens that are shown of an attachment."""


class TurnStore:
    """All turns, in order, with their numbers in columns and their words and vectors."""

    def __init__(
        self,
        *,
        result_limit: int = RESULT_LIMIT,
        attached_limit: int = ATTACHED_LIMIT,
        calibrate: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None,
        vector_bytes: int = VECTOR_BYTES,
    ) -> None:
        self.result_limit = result_limit
        self.attached_limit = attached_limit
        self._turns: list[L1Turn] = []
        self._full: list[Message] = []
        self._lines: list[str] = []
        self._names = NameBook()
        self._row: dict[str, int] = {}
        self._table = TurnTable()
        self._lexicon = Lexicon()
        self._vectors = VectorStore(vector_bytes)
        self._evidence = Evidence(self._lexicon, self._vectors, calibrate)
        self._members: dict[int, list[int]] = {}
        self._open: dict[str, int] = {}
        self._unanswered: set[int] = set()
        self._task: int | None = None
        self._latest_input: int | None = None
        self._held: set[int] = set()
        self._unshown: set[int] = set()
        self._withdrawn: set[int] = set()
        self._chosen: set[int] = set()
        """Attachments by the user's choice, which is no part of any pass."""

    # What is there.

    @property
    def turns(self) -> Sequence[L1Turn]:
        """All turns in order; do not change the list."""
        return self._turns

    @property
    def table(self) -> TurnTable:
        """The columns over `turns`, for reading."""
        return self._table

    @property
    def task(self) -> L1Turn | None:
        """The turn that states the task."""
        return None if self._task is None else self._turns[self._task]

    @property
    def latest_input(self) -> L1Turn | None:
        """The user's latest turn, supplements included."""
        return None if self._latest_input is None else self._turns[self._latest_input]

    def __len__(self) -> int:
        return len(self._turns)

    def __contains__(self, iri: str) -> bool:
        return iri in self._row

    def turn(self, iri: str) -> L1Turn:
        """The turn of an IRI.

        Raises:
            KeyError: this session has no such turn.
        """
        return self._turns[self._row[iri]]

    def row(self, iri: str) -> int:
        """The place of a turn in `turns` and `table`.

        Raises:
            KeyError: this session has no such turn.
        """
        return self._row[iri]

    def exchange(self, iri: str) -> list[L1Turn]:
        """The turns of the unit that an IRI belongs to, its head first."""
        return [self._turns[row] for row in self._unit(self._row[iri])]

    def message(self, row: int, level: int) -> Message:
        """A row as a request shows it at a level of `LEVELS` above archived.

        The line of an exchange is that of its head.
        """
        full = self._full[row]
        if level == FULL:
            return full
        if level == SUMMARY:
            return Message(full.role, self._lines[row], iri=full.iri)
        return Message(
            full.role, self._lines[row], full.calls, full.call_id, full.name, iri=full.iri
        )

    def members(self, row: int) -> Sequence[int]:
        """Rows of the results that belong to the assistant message in a row."""
        return self._members.get(row, ())

    @property
    def has_attachments(self) -> bool:
        """Whether some input is shown as head, tail and IRI."""
        return any(turn.attached for turn in self._turns)

    @property
    def unanswered(self) -> Collection[int]:
        """Rows of the messages with a call that has no result, or none yet."""
        return self._unanswered

    def tokens(self, factor: float = 1.0) -> int:
        """Corrected tokens of all turns at their fidelity."""
        return int(self._table.costs(self._table.level, factor).sum())

    def message_count(self) -> int:
        """Messages that the turns take at their fidelity."""
        return int(self._table.messages(self._table.level).sum())

    def fidelity_counts(self) -> Mapping[Fidelity, int]:
        """How many turns are at each fidelity; what the user took back is at none."""
        counts = np.bincount(self._table.level, minlength=len(LEVELS))
        counts[ARCHIVED] -= len(self._withdrawn)
        return {name: int(counts[level]) for level, name in enumerate(LEVELS)}

    def similarities(self, query: Vector | None) -> NDArray[np.float32]:
        """Raw cosine of each turn with a vector: float32[turns], not-a-number if unknown."""
        return self._vectors.cosines(query, len(self._turns))

    def similarity(self, iri: str, other: str) -> float:
        """Calibrated similarity of two turns in [0, 1]; 0 where it is unknown."""
        a, b = self.turn(iri).embedding, self.turn(other).embedding
        if a is None or b is None:
            return 0.0
        cosine = np.array([float(a @ b)], np.float32)
        calibrate = self._evidence.calibrate
        return float(np.clip(cosine if calibrate is None else calibrate(cosine), 0.0, 1.0)[0])

    # What comes in.

    def add(self, turn: L1Turn) -> None:
        """Take in the next turn.

        A user's turn ends the exemptions that recall and undo gave, once a request has shown
        what was brought back. IRIs that a call names count as an access of those turns.

        Raises:
            ValueError: the IRI is there already, or a result answers no open call.
        """
        if turn.iri in self._row:
            raise ValueError(f"{turn.iri} is in L1 already")
        row = len(self._turns)
        head = row
        if turn.role == "tool":
            opened = self._open.pop(turn.call_id or "", None)
            if opened is None:
                raise ValueError(f"{turn.iri} answers no open call ({turn.call_id})")
            head = opened
            self._members[head].append(row)
            if head not in self._open.values():
                self._unanswered.discard(head)
        elif turn.role == "user":
            self._end_exemptions()
            self._latest_input = row
        if turn.is_task:
            self._release_task()
            self._task = row
        if turn.withdrawn:
            self._withdrawn.add(row)
        self._row[turn.iri] = row
        view = self._keep_vector(row, turn.embedding)
        self._turns.append(replace(turn, embedding=view))
        shown, full = self._shown(turn)
        self._names.add(turn)
        line = self._line(row, turn)
        self._full.append(full_message(turn, shown))
        self._lines.append(line)
        self._table.append(turn, head=head, full=full, line=count_message(line))
        self._lexicon.add(turn.text)
        if turn.role == "assistant":
            # Calls that were cut short get no results any more.
            self._open.clear()
        if turn.calls:
            self._open_calls(row, turn)
        elif turn.role == "tool":
            self._refresh_line(head)

    def score(
        self, iri: str, relevance_score: float | None, embedding: Vector | None = None
    ) -> None:
        """Set the relevance of a turn, and its vector if given; None is unknown."""
        row = self._row[iri]
        self._set(row, relevance_score=relevance_score)
        self._table.relevance[row] = np.nan if relevance_score is None else relevance_score
        if embedding is not None:
            self._set(row, embedding=self._keep_vector(row, embedding))

    def add_summary(self, iri: str, summary: str) -> None:
        """Replace the one line of a turn; used from the next time that it is shown."""
        row = self._row[iri]
        self._set(row, summary=summary)
        self._set_line(row, self._line(row, self._turns[row]))
        self._refresh_line(int(self._table.head[row]))

    def note_request(self) -> None:
        """Note that a request was sent: it shows what the user brought back before."""
        self._unshown.clear()

    def hold(self, iri: str) -> None:
        """Spare a turn in every pass until a request has carried it."""
        self._held.add(self._row[iri])

    def note_delivery(self) -> None:
        """Note that a server accepted a request with all turns at their fidelity."""
        self._held.clear()

    def touch(self, iri: str, now: float) -> None:
        """Note an access: the entry was opened, or named in a call."""
        row = self._row[iri]
        self._set(row, last_access=now)
        self._table.last_access[row] = now

    def set_task(self, iri: str, factor: float = 1.0) -> list[ev.Event]:
        """Make a turn the task, in full; the old task's turn becomes an ordinary one."""
        self._release_task()
        self._task = row = self._row[iri]
        self._mark(row, is_task=True)
        return list(self._raise([row], "user", factor))

    def set_standing(self, iri: str, standing: bool, factor: float = 1.0) -> list[ev.Event]:
        """Follow the class that the user gives an input: what is to stand now stands in full.

        Also if the user had made it an ordinary turn before.
        """
        row = self._row[iri]
        demoted = self._turns[row].demoted and not standing
        self._mark(row, standing=standing, demoted=demoted)
        return list(self._raise([row] if self._table.guarded[row] else [], "user", factor))

    # Small steps.

    def _shown(self, turn: L1Turn) -> tuple[str, int]:
        """The text of a turn's full form, and its tokens."""
        shown = forms.full_text(turn, self.result_limit, self.attached_limit)
        return shown, turn.tokens if shown is turn.text else count_message(shown)

    def _exempt(self, row: int, *, shown: bool = False) -> None:
        self._table.exempt[row] = True
        if not shown:
            self._unshown.add(row)

    def _end_exemptions(self) -> None:
        self._table.exempt[:] = False
        self._table.exempt[list(self._unshown)] = True

    def _unit(self, row: int) -> list[int]:
        head = int(self._table.head[row])
        return [head, *self._members.get(head, ())]

    def _raise(
        self, rows: Iterable[int], phase: Phase, factor: float
    ) -> list[ev.TurnFidelityChanged]:
        """Bring rows to full; a unit that was one line or archived comes back whole.

        What the user took back stays away. Recall and undo exempt what they bring back.
        """
        wanted: dict[int, None] = {}
        for row in rows:
            collapsed = self._table.level[row] <= SUMMARY
            wanted.update(dict.fromkeys(self._unit(row) if collapsed else [row]))
        back = [
            row
            for row in sorted(wanted)
            if self._table.level[row] != FULL and row not in self._withdrawn
        ]
        if phase != "user":
            for row in back:
                self._exempt(row)
        return [self._change(row, FULL, phase, {}, factor) for row in back]

    def _change(
        self, row: int, after: int, phase: Phase, terms: dict[str, float | None], factor: float
    ) -> ev.TurnFidelityChanged:
        before = int(self._table.level[row])
        freed = self._table.cost(row, before, factor) - self._table.cost(row, after, factor)
        self._set_level(row, after)
        return ev.TurnFidelityChanged(
            iri=self._turns[row].iri,
            before=LEVELS[before],
            after=LEVELS[after],
            phase=phase,
            terms=terms,
            tokens_freed=freed,
        )

    def _set_level(self, row: int, level: int) -> None:
        self._table.level[row] = level
        self._set(row, fidelity=LEVELS[level])

    def _set(self, row: int, **values: object) -> None:
        self._turns[row] = replace(self._turns[row], **values)  # type: ignore[arg-type]

    def _mark(self, row: int, **values: object) -> None:
        self._set(row, **values)
        self._table.guarded[row] = self._turns[row].guarded

    def _release_task(self) -> None:
        if self._task is not None:
            self._mark(self._task, is_task=False)

    def _keep_vector(self, row: int, vector: Vector | None) -> Vector | None:
        view = self._vectors.put(row, vector)
        for dropped in self._vectors.take_dropped():
            for old in dropped:
                self._set(old, embedding=None)
        return view

    def _open_calls(self, row: int, turn: L1Turn) -> None:
        self._members[row] = []
        self._unanswered.add(row)
        for call in turn.calls:
            self._open[call.id] = row
            for iri in iris_in(" ".join(map(str, call.arguments.values()))):
                if iri in self._row:
                    self.touch(iri, turn.created_at)
        self._refresh_line(row)

    def _line(self, row: int, turn: L1Turn) -> str:
        form = forms.masked_line if turn.role == "tool" else forms.summary_line
        return form(turn, self._names[row])

    def _set_line(self, row: int, line: str) -> None:
        self._lines[row] = line
        self._table.line[row] = count_message(line)
        self._table.revision[row] += 1

    def _refresh_line(self, head: int) -> None:
        """Count the exchange's line anew, once its results are in."""
        if head not in self._members or head in self._open.values():
            return
        rows = self._members[head]
        results = [self._turns[row] for row in rows]
        names = [name for row in (head, *rows) for name in self._names[row]]
        self._set_line(head, forms.exchange_line(self._turns[head], results, names))


def full_message(turn: L1Turn, text: str) -> Message:
    """The message of a turn in full, with the text that it shows."""
    blocks = turn.provider_blocks
    return Message(turn.role, text, turn.calls, turn.call_id, turn.name, blocks, turn.iri)
