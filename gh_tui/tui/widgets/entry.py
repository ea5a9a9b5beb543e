"""One entry of the timeline in full: its text, its score, and all that happened to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from gh_tui.events.entries import SupplementState, TurnState
from gh_tui.events.state import SessionState
from gh_tui.events.types import TurnFidelityChanged
from gh_tui.events.values import Fidelity
from gh_tui.text import counted, one_line, visible
from gh_tui.tui.widgets import row
from gh_tui.tui.widgets.ledger import Ledger

PAGE = 20_000
"""Characters shown at first, and added with each `m`: wrapping a megabyte takes seconds."""

_SEES: dict[Fidelity, str] = {
    "full": "the model sees all of it",
    "masked": "the model sees one line of it",
    "summary": "the model sees its summary",
    "archived": "the model does not see it; it can be recalled",
}
_SEES_ATTACHED = "the model sees its head, its tail and its IRI"
_PHASES = {
    "mask": "masking of old tool results",
    "threshold": "relevance below the threshold",
    "fusion": "lowest retention",
    "topic": "topic shift",
    "user": "asked for by you",
    "undo": "pass undone",
    "recall": "recalled by you",
}

Field = tuple[str, str]


class EntryScreen(ModalScreen[str | None]):
    """A look at one turn; closes with the action the user chose, or None.

    The actions are those of `Timeline.Act`: `pin`, `unpin`, `recall`, `undo`, and `sent`, the
    message that carried a supplement.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close"),
        Binding("p", "pin", "Pin"),
        Binding("r", "dismiss('recall')", "Recall"),
        Binding("u", "dismiss('undo')", "Undo pass"),
        Binding("s", "dismiss('sent')", "As sent"),
        Binding("m", "more", "More text"),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-15)", show=False),
        Binding("pagedown,space", "scroll(15)", show=False),
    ]

    def __init__(self, state: SessionState, iri: str) -> None:
        super().__init__()
        self._turn = state.turns[iri]
        self._fields = list(fields_of(self._turn, state))
        self._text = visible(self._turn.text)
        self._offset = 0

    def compose(self) -> ComposeResult:
        """Fields above, the text below, one scroll for both."""
        with Vertical(id="entry"):
            yield Static(self._title(), id="entry-title")
            with VerticalScroll(id="entry-scroll"):
                for name, words in self._fields:
                    with Horizontal(classes="entry-field"):
                        yield Static(Content(name), classes="entry-name")
                        yield Static(Content(words), classes="entry-value")
                yield Static(self._next_page(), classes="entry-text")
            yield Footer()

    async def action_more(self) -> None:
        """Add the next page of a long text."""
        if self._offset < len(self._text):
            page = Static(self._next_page(), classes="entry-text")
            await self.query_one("#entry-scroll").mount(page)

    def action_pin(self) -> None:
        """Close with a wish to pin, or to lift the pin."""
        self.dismiss("unpin" if self._turn.pinned else "pin")

    def action_scroll(self, lines: int) -> None:
        """Scroll the text."""
        self.query_one("#entry-scroll").scroll_relative(y=lines, animate=False)

    def _title(self) -> Content:
        turn = self._turn
        mark = f"{row.FIDELITY_MARKS[turn.fidelity]} {turn.fidelity}"
        name = row.role_name(turn, 40)
        attached = turn.attached and turn.fidelity == "full"
        sees = _SEES_ATTACHED if attached else _SEES[turn.fidelity]
        return Content(f"#{row.turn_number(turn.iri)}  {name}  {mark} · {sees}")

    def _next_page(self) -> Content:
        page = self._text[self._offset : self._offset + PAGE]
        self._offset += len(page)
        left = len(self._text) - self._offset
        note = f"\n… {counted(left, 'more character')}: m shows more" if left else ""
        return Content.assemble(page, (note, "bold"))


def fields_of(turn: TurnState, state: SessionState) -> Iterator[Field]:
    """What is known of a turn, as pairs of a short name and sanitised words."""
    ledger = Ledger()
    ledger.rebuild(state)
    yield "iri", one_line(turn.iri)
    yield "time", one_line(turn.time, 40)
    yield "score", row.score_words(turn).removeprefix("score ")
    if words := row.mark_words(turn, ledger):
        yield "marks", " · ".join(words)
    if turn.class_:
        demoted = ", made ordinary by you" if turn.demoted else ""
        yield "class", one_line(turn.class_, 60) + demoted
    seen, full = ledger.seen[turn.iri], ledger.tokens_full(turn)
    in_view = "" if seen == full else f", {seen:,} in view"
    yield "tokens", f"{full:,}{in_view}, {ledger.basis}"
    if turn.summary != turn.text:
        yield "summary", one_line(turn.summary)
    for call in turn.calls:
        yield "calls", one_line(f"{call.name} {call.arguments}", 300)
    for change in _changes(turn, state):
        yield "change", change_words(change, state)
    for entry in state.supplements.values():
        if entry.iri == turn.iri:
            yield "receipt", supplement_words(entry)


def change_words(change: TurnFidelityChanged, state: SessionState) -> str:
    """One change with its rule and every term that decided it."""
    terms = ", ".join(
        f"{one_line(name, 40)} {'unknown' if value is None else f'{value:.3g}'}"
        for name, value in change.terms.items()
    )
    where = f"pass {change.pass_}" if change.pass_ is not None else "outside a pass"
    freed = f"{counted(change.tokens_freed, 'token')} freed"
    text = f"{change.before} → {change.after} · {_PHASES[change.phase]} · {where} · {freed}"
    return f"{text} · {terms}" if terms else text


def supplement_words(entry: SupplementState) -> str:
    """The way of a supplement: when it was taken, sent, and through which pass it came."""
    parts = [one_line(entry.id, 40), entry.status]
    if entry.request is not None:
        last = f"…{entry.last_request}" if entry.last_request != entry.request else ""
        parts.append(f"in cycle {entry.cycle}, seen in requests {entry.request}{last}")
    if entry.kept_through is not None:
        parts.append(f"kept through pass {entry.kept_through}")
    if entry.deferred:
        parts.append(f"deferred: {one_line(entry.deferred, 120)}")
    if entry.returned:
        parts.append(f"returned: {entry.returned}")
    return " · ".join(parts)


def _changes(turn: TurnState, state: SessionState) -> list[TurnFidelityChanged]:
    changes = [
        change
        for done in state.passes.values()
        for change in done.changes
        if change.iri == turn.iri
    ]
    if turn.last_change is not None and turn.last_change not in changes:
        changes.append(turn.last_change)
    return changes
