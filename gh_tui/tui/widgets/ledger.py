"""The lines of the timeline: turns in the order of entry, and passes where they happened.

A line is the IRI of a turn or the number of a pass. Taking in an event costs the same however
long the session is (for `RequestSent`, the length of its manifest). Tokens are counted as in the
requests: what the latest one carries has the tokens of its manifest, the rest is corrected alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from gh_tui.events import types as ev
from gh_tui.events.entries import TurnState
from gh_tui.events.state import SessionState
from gh_tui.events.values import Fidelity, ManifestEntry
from gh_tui.memory.tokens import scale

Line = str | int
Filter = Literal["all", "changed", "protected", "archived"]
FILTERS: tuple[Filter, ...] = ("all", "changed", "protected", "archived")


@dataclass(frozen=True, slots=True)
class Update:
    """What an event changed on the screen."""

    lines: frozenset[Line] = frozenset()
    """Lines that look different."""
    grown: bool = False
    """Lines were added at the end."""
    everything: bool = False
    """Any line may look different."""


@dataclass(slots=True)
class Ledger:
    """The timeline's own bookkeeping, next to the state it shows."""

    state: SessionState = field(default_factory=SessionState)
    filter: Filter = "all"
    lines: list[Line] = field(default_factory=list)
    """All lines in order."""
    shown: list[Line] = field(default_factory=list)
    """Those that pass the filter."""
    stale: bool = False
    """Whether `shown` has to be chosen again, by `refilter`."""
    counts: dict[Fidelity, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    """Tokens of each turn as the model sees it now."""
    tokens_seen: int = 0
    tokens_total: int = 0
    """Tokens that all turns would have in full."""
    newest: str | None = None
    newest_pass: int | None = None
    fresh: set[str] = field(default_factory=set)
    """Turns that changed in the newest pass or since."""
    would: dict[str, ev.TurnFidelityChanged] = field(default_factory=dict)
    """What the next pass would do to each turn, after a preview."""
    _previewed: ev.PassPreviewed | None = None
    _factor: float = 1.0
    """What `tokens_total` was corrected by."""
    _places: dict[int, int] = field(default_factory=dict)
    """For each pass, how many turns there were when it began."""

    @property
    def basis(self) -> str:
        """Whether a server has confirmed the counts, as the gauge says it."""
        return "estimated" if self.state.request is None else self.state.request.tokens_basis

    def tokens_full(self, turn: TurnState) -> int:
        """Tokens of the whole text of a turn."""
        return scale(turn.tokens, self.state.token_factor)

    def rebuild(self, state: SessionState) -> None:
        """Take the whole state in anew, as after a jump in a replay."""
        self.state = state
        self.newest = self.newest_pass = None
        self.lines, self.fresh = [], set()
        self.counts, self.seen = {}, {}
        self.tokens_seen = self.tokens_total = 0
        self._factor = state.token_factor
        places = self._guess_places()
        waiting = sorted(state.passes)
        sent = state.request.manifest if state.request is not None else ()
        carried = {entry.iri: entry for entry in sent if entry.iri}
        for index, turn in enumerate(state.turns.values()):
            while waiting and places[waiting[0]] <= index:
                self.lines.append(waiting.pop(0))
            self._enter(turn)
            self._set_seen(turn, self._tokens_seen(turn, carried.get(turn.iri)))
        self.lines.extend(waiting)
        self._places = places
        if state.passes:
            self.newest_pass = max(state.passes)
            self.fresh = {change.iri for change in state.passes[self.newest_pass].changes}
        # A recall does not tell whether it came after the newest pass; most do.
        self.fresh |= {
            turn.iri
            for turn in state.turns.values()
            if turn.last_change is not None and turn.last_change.pass_ is None
        }
        self._preview()
        self.refilter()

    def refilter(self) -> None:
        """Choose the shown lines again."""
        self.stale = False
        self.shown = [line for line in self.lines if self.passes_filter(line)]

    def passes_filter(self, line: Line) -> bool:
        """Whether a line belongs to the present view."""
        if self.filter == "all":
            return True
        if isinstance(line, int):
            return self.filter == "changed"
        turn = self.state.turns[line]
        match self.filter:
            case "changed":
                return turn.fidelity != "full" or line in self.fresh
            case "protected":
                return self.is_protected(turn)
            case "archived":
                return turn.fidelity == "archived"

    def is_protected(self, turn: TurnState) -> bool:
        """Whether the program may never take this turn away."""
        instructs = (turn.standing or turn.is_supplement) and not turn.demoted
        return turn.pinned or instructs or turn.iri in (self.state.task_iri, self.newest)

    def take(self, event: ev.Event) -> Update:
        """Take in one event that the state already holds."""
        update = self._take(event)
        if self._preview():
            return Update(update.lines, grown=update.grown, everything=True)
        return update

    def _preview(self) -> bool:
        """Follow the preview of the state; whether it is another one."""
        preview = self.state.preview
        if preview is self._previewed:
            return False
        self._previewed = preview
        self.would = {change.iri: change for change in preview.changes} if preview else {}
        return True

    def _take(self, event: ev.Event) -> Update:
        match event:
            case ev.TurnAdded():
                return self._on_added(event)
            case ev.TurnFidelityChanged():
                return self._on_changed(event)
            case ev.PassStarted():
                return self._on_pass(event.pass_)
            case ev.PassFinished():
                return Update(frozenset({event.pass_}))
            case ev.RequestSent():
                return self._on_request(event)
            case ev.TurnScored() | ev.TurnPinned() | ev.TurnUnpinned():
                return self._redraw(event.iri)
            case ev.InputClassified():
                entry = self.state.supplements.get(event.id or "")
                return self._redraw(event.iri or (entry.iri if entry else None) or "")
            case ev.SessionStarted() | ev.TaskStarted():
                self.stale = self.filter != "all"
                return Update(everything=True)
            case _:
                return Update()

    def _redraw(self, iri: str) -> Update:
        if iri not in self.seen:
            return Update()
        return self._unless_filtered(Update(frozenset({iri})))

    def _on_added(self, event: ev.TurnAdded) -> Update:
        turn = self.state.turns[event.iri]
        if event.iri in self.seen:  # a damaged recording may hold it twice
            return Update(frozenset({event.iri}))
        before = self.newest
        self._enter(turn)
        if self.passes_filter(event.iri):
            self.shown.append(event.iri)
        return Update(frozenset({before} if before else ()), grown=True)

    def _enter(self, turn: TurnState) -> None:
        self.lines.append(turn.iri)
        self.newest = turn.iri
        self.counts[turn.fidelity] = self.counts.get(turn.fidelity, 0) + 1
        self.tokens_total += self.tokens_full(turn)
        self._set_seen(turn, self.tokens_full(turn))

    def _on_request(self, event: ev.RequestSent) -> Update:
        for entry in event.manifest:
            turn = self.state.turns.get(entry.iri or "")
            if turn is not None:
                self._set_seen(turn, entry.tokens)
        if self.state.token_factor != self._factor:
            self._factor = self.state.token_factor
            self.tokens_total = sum(map(self.tokens_full, self.state.turns.values()))
        return Update(everything=True)

    def _on_changed(self, event: ev.TurnFidelityChanged) -> Update:
        turn = self.state.turns.get(event.iri)
        if turn is None or event.iri not in self.seen:
            return Update()
        self.counts[event.before] = self.counts.get(event.before, 0) - 1
        self.counts[event.after] = self.counts.get(event.after, 0) + 1
        self._set_seen(turn, _after(event, self.seen[event.iri]))
        self.fresh.add(event.iri)
        lines: set[Line] = {event.iri}
        if event.pass_ is not None:
            lines.add(event.pass_)
        return self._unless_filtered(Update(frozenset(lines)))

    def _on_pass(self, number: int) -> Update:
        if number in self._places:
            return Update(frozenset({number}))
        stale: set[Line] = {*self.fresh}
        if self.newest_pass is not None:
            stale.add(self.newest_pass)
        self.fresh.clear()
        self.newest_pass = number
        self._places[number] = len(self.seen)
        self.lines.append(number)
        if self.filter == "all":
            self.shown.append(number)
        return self._unless_filtered(Update(frozenset(stale), grown=True))

    def _unless_filtered(self, update: Update) -> Update:
        """Behind a filter a change may bring lines or take them away."""
        if self.filter == "all":
            return update
        self.stale = True
        return Update(everything=True)

    def _set_seen(self, turn: TurnState, tokens: int) -> None:
        self.tokens_seen += tokens - self.seen.get(turn.iri, 0)
        self.seen[turn.iri] = tokens

    def _tokens_seen(self, turn: TurnState, sent: ManifestEntry | None) -> int:
        """From what the latest request had of a turn and what has changed since."""
        last = turn.last_change
        if turn.fidelity == "archived":
            return 0
        if sent is not None:
            level, tokens = sent.fidelity, sent.tokens
        elif last is not None and last.before == "archived":
            level, tokens = last.before, 0
        else:
            level, tokens = "full", self.tokens_full(turn)
        if last is None or level == turn.fidelity:
            return tokens
        for change in (last,) if last.before == level else self._changes_of(turn):
            if change.before == level != turn.fidelity:
                level, tokens = change.after, _after(change, tokens)
        return tokens

    def _changes_of(self, turn: TurnState) -> Iterable[ev.TurnFidelityChanged]:
        for done in self.state.passes.values():
            yield from (change for change in done.changes if change.iri == turn.iri)

    def _guess_places(self) -> dict[int, int]:
        """Where each pass goes: where it was seen to happen, else after the turns it changed."""
        order = {iri: index for index, iri in enumerate(self.state.turns)}
        places: dict[int, int] = {}
        least = 0
        for number in sorted(self.state.passes):
            changed = [order.get(change.iri, 0) for change in self.state.passes[number].changes]
            place = self._places.get(number, max(changed, default=least) + 1)
            least = places[number] = max(least, place)
        return places


def _after(change: ev.TurnFidelityChanged, before: int) -> int:
    return 0 if change.after == "archived" else max(0, before - change.tokens_freed)
