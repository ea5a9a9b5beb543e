"""What a recording holds of a session that is to go on: a pure reading, nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gh_tui.embedding.vectors import Vector, unpack
from gh_tui.errors import EmbeddingError, RecordingError
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.events.values import ToolCall
from gh_tui.journal.reader import read_records
from gh_tui.memory.turn import iri_for, number_of


@dataclass(slots=True)
class Restored:
    """A session as its recording left it."""

    path: Path
    state: SessionState = field(default_factory=SessionState)
    vectors: dict[str, Vector] = field(default_factory=dict)
    """Embeddings by IRI."""
    added: dict[str, ev.TurnAdded] = field(default_factory=dict)
    """Every turn by IRI, in order."""
    created: dict[str, datetime] = field(default_factory=dict)
    accessed: dict[str, datetime] = field(default_factory=dict)
    """When each turn was last called up, by recall, pin or undo."""
    exempt: dict[str, bool] = field(default_factory=dict)
    """What the user brought back and no pass may take yet, with whether a request has shown it."""
    chosen: set[str] = field(default_factory=set)
    """Inputs that the user made attachments after they were in."""
    open_calls: dict[str, ToolCall] = field(default_factory=dict)
    """Calls without a result, by id, in order."""
    requested: set[str] = field(default_factory=set)
    """Of those, the ones that had begun to run."""
    partial: ev.ReplyProgress | None = None
    """What was recorded of a reply that never ended."""
    answering: int | None = None
    """The request of that reply."""
    replaced: dict[str, str] = field(default_factory=dict)
    """Instructions by IRI, with the IRI of the one that replaces each."""
    attached: set[str] = field(default_factory=set)
    """IRIs of inputs of their own that were accepted as attachments."""
    last_turn: int = 0
    last_supplement: int = 0
    last_request: int = 0
    last_time: datetime | None = None
    bad_lines: int = 0
    past: list[Envelope] = field(default_factory=list)
    """Every readable record, in order."""

    @property
    def session(self) -> str:
        """The session's id."""
        return self.state.session

    def replaced_by(self, iri: str) -> str | None:
        """The instruction that replaces another one, as long as it is not taken back."""
        newer = self.replaced.get(iri)
        turn = self.state.turns.get(newer or "")
        return None if turn is not None and turn.withdrawn else newer

    def rebased(self) -> list[tuple[int, str]]:
        """Each time a later input became the task: how many turns there were, and its IRI."""
        seen: set[str] = set()
        found = []
        for envelope in self.past:
            match envelope.event:
                case ev.TurnAdded(iri=iri):
                    seen.add(iri)
                case ev.TaskStarted(iri=str(iri)) if iri in seen:
                    found.append((len(seen), iri))
                case _:
                    pass
        return found

    def take(self, envelope: Envelope) -> None:
        """Take in one record."""
        self.state.apply(envelope)
        self.past.append(envelope)
        time = _moment(envelope.time)
        self.last_time = time or self.last_time
        match envelope.event:
            case ev.TurnAdded() as event:
                self._turn(event, time)
            case ev.TurnScored(iri=iri, embedding=str(packed)):
                self._vector(iri, packed)
            case ev.TurnPinned(iri=iri):
                self._access(iri, time)
            case ev.TurnFidelityChanged(phase="recall" | "undo" | "user", attached=False) as event:
                self._changed(event, time)
            case ev.TurnFidelityChanged(iri=iri, phase="user", attached=True):
                self.chosen.add(iri)
            case ev.UserInputReceived(iri=iri, attached=attached):
                self._number(iri)
                self.attached |= {iri} if attached else set()
            case ev.SupplementaryInputReceived(id=name):
                self.last_supplement = max(self.last_supplement, _trailing_number(name))
            case ev.ToolRequested(call=call):
                self.requested.add(call)
            case ev.RequestSent(request=request):
                self.last_request = max(self.last_request, request)
                self.answering, self.partial = request, None
                self.exempt = dict.fromkeys(self.exempt, True)
            case ev.ReplyProgress() as event:
                self.partial = event
            case ev.ReplyFinished():
                self.answering, self.partial = None, None
            case _:
                pass

    def _turn(self, event: ev.TurnAdded, time: datetime | None) -> None:
        self._number(event.iri)
        self.added[event.iri] = event
        if time is not None:
            self.created[event.iri] = time
        if event.role == "user":  # ends what L1 exempts, once a request has shown it
            self.exempt = {iri: shown for iri, shown in self.exempt.items() if not shown}
        if event.role == "assistant":  # L1 takes no later result for earlier calls
            self.requested.clear()
            self.open_calls = {call.id: call for call in event.calls}
        elif event.call_id is not None:
            self.open_calls.pop(event.call_id, None)

    def _vector(self, iri: str, packed: str) -> None:
        try:
            self.vectors[iri] = unpack(packed)
        except EmbeddingError:  # damaged; the turn stays without a vector
            self.vectors.pop(iri, None)

    def _access(self, iri: str, time: datetime | None) -> None:
        if time is not None:
            self.accessed[iri] = time

    def _changed(self, event: ev.TurnFidelityChanged, time: datetime | None) -> None:
        """Take in what the user changed, but for attachments."""
        iri = event.iri
        self._access(iri, time)
        if (newer := event.terms.get("replaced_by")) is not None:
            self.replaced[iri] = iri_for(self.session, int(newer))
        if event.phase != "user":
            self.exempt[iri] = False
        if event.whole:
            self.chosen.discard(iri)

    def _number(self, iri: str) -> None:
        try:
            self.last_turn = max(self.last_turn, number_of(iri))
        except ValueError:
            return


def read_session(path: Path) -> Restored:
    """Read a recording to go on with it.

    Raises:
        RecordingError: if it cannot be opened, or holds nothing readable.
    """
    restored = Restored(path)
    for record in read_records(path):
        if record.envelope is None:
            restored.bad_lines += 1
        else:
            restored.take(record.envelope)
    if not restored.session:
        raise RecordingError(f"{path} holds no readable record; there is nothing to resume")
    return restored


def _trailing_number(name: str) -> int:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _moment(time: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
