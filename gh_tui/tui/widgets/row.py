"""One line of the timeline as styled pieces: (style name, text)."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from gh_tui.events.entries import TurnState
from gh_tui.events.state import SessionState
from gh_tui.events.values import Fidelity
from gh_tui.text import one_line
from gh_tui.tui.cells import bar, fit, shorten
from gh_tui.tui.widgets import reasons
from gh_tui.tui.widgets.ledger import Ledger

Piece = tuple[str, str]

FIDELITY_MARKS: dict[Fidelity, str] = {
    "full": "F●",
    "masked": "M◐",
    "summary": "S◔",
    "archived": "A○",
}
_ROLES = {"user": "you", "assistant": "agent", "tool": "tool"}
_LEAST_SUMMARY = 14
"""Cells of a changed turn's summary that its reason leaves it."""
ALPHA = 0.6
"""Weight of the similarity to the task in a score."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; 0 leaves a column out."""

    number: int
    bar: int
    marks: int
    role: int
    text: int
    why: int
    tokens: int
    age: int


def columns_for(width: int) -> Columns:
    """The columns that fit a pane of `width` cells; the text takes what is left.

    From 60 cells on age and tokens are there; from 110 the turn's number and the tool's name;
    from 130 the reason of a change has a column of its own.
    """
    if width < 60:
        number, chart, marks, role, tokens, age = 0, 3, 2, 4, 0, 0
    elif width < 110:
        number, chart, marks, role, tokens, age = 0, 5, 3, 5, 5, 6
    else:
        number, chart, marks, role, tokens, age = 4, 8, 3, 12, 9, 6
    fixed = 1 + 2 + 4  # cursor, fidelity, score
    sizes = [number, chart, marks, role, tokens, age]
    gaps = 3 + sum(size > 0 for size in sizes)
    text = max(0, width - fixed - gaps - sum(sizes))
    why = min(60, text // 2) if width >= 130 else 0
    if why:
        text -= why + 1
    return Columns(number, chart, marks, role, text, why, tokens, age)


def heading(columns: Columns) -> list[Piece]:
    """The names of the columns."""
    text = " " * 4
    if columns.number:
        text += f" {fit('#', columns.number, right=True)}"
    text += f" {fit('score', 5 + columns.bar)} {' ' * columns.marks} {fit('role', columns.role)}"
    text += f" {fit('summary' if columns.why else 'summary or reason', columns.text)}"
    if columns.why:
        text += f" {fit('reason', columns.why)}"
    if columns.tokens:
        text += f" {fit('tok' if columns.tokens < 6 else 'tokens', columns.tokens, right=True)}"
    if columns.age:
        text += f" {fit('age', columns.age, right=True)}"
    return [("dim", text)]


def turn_row(
    turn: TurnState, ledger: Ledger, columns: Columns, age: str, *, selected: bool
) -> list[Piece]:
    """The line of a turn."""
    fresh = turn.iri in ledger.fresh
    body = "text" if turn.fidelity == "full" else "dim"
    pieces: list[Piece] = [
        ("cursor", "▌" if selected else "▎" if fresh else " "),
        _fidelity(turn, ledger),
    ]
    if columns.number:
        pieces.append(("dim", " " + fit(turn_number(turn.iri), columns.number, right=True)))
    pieces += score(turn.relevance_score, threshold(ledger.state), columns.bar)
    pieces += [
        ("mark", " " + fit(marks(turn, ledger), columns.marks)),
        (turn.role, " " + fit(role_name(turn, columns.role), columns.role)),
    ]
    pieces += _words(turn, ledger, columns, body, full=fresh or selected)
    if columns.tokens:
        pieces.append((body, " " + fit(_tokens(turn, ledger, columns), columns.tokens, right=True)))
    if columns.age:
        pieces.append(("dim", " " + fit(age, columns.age, right=True)))
    return pieces


def _fidelity(turn: TurnState, ledger: Ledger) -> Piece:
    """The sign of what the model sees, or of what becomes of it if a pass runs."""
    change = ledger.would.get(turn.iri)
    if change is None:
        return turn.fidelity, " " + FIDELITY_MARKS[turn.fidelity]
    return "preview", f"{FIDELITY_MARKS[turn.fidelity][0]}→{FIDELITY_MARKS[change.after][0]}"


def score(value: float | None, limit: float, width: int) -> list[Piece]:
    """A score as number and bar; unknown is a dash, never a zero."""
    if value is None:
        return [("dim", " " + fit("  –", 4)), ("track", " " + fit("·", width))]
    name = "low" if value < limit else "high"
    filled, empty = bar(value, width)
    return [(name, f" {value:4.2f} {filled}"), ("track", empty)]


def marks(turn: TurnState, ledger: Ledger) -> str:
    """Signs for task, pin, supplement, standing instruction and newest, in this order."""
    signs = [
        ("★", turn.iri == ledger.state.task_iri),
        ("◆", turn.pinned),
        ("+", turn.is_supplement),
        ("§", turn.standing and not turn.demoted),
        ("◂", turn.iri == ledger.newest),
    ]
    return "".join(sign for sign, holds in signs if holds)


def mark_words(turn: TurnState, ledger: Ledger) -> list[str]:
    """The same signs in words."""
    words = [
        ("★ task", turn.iri == ledger.state.task_iri),
        ("◆ pinned", turn.pinned),
        ("+ supplement", turn.is_supplement),
        ("§ standing", turn.standing and not turn.demoted),
        ("made ordinary", turn.demoted),
        ("taken back", turn.withdrawn),
        ("attachment", turn.attached),
        ("◂ newest", turn.iri == ledger.newest),
    ]
    return [word for word, holds in words if holds]


def role_name(turn: TurnState, width: int) -> str:
    """Who speaks; the tool's own name where there is room."""
    if width < 5:
        return {"user": "you", "assistant": "ai", "tool": "tool"}[turn.role]
    if turn.role == "tool" and turn.name and width > 5:
        return one_line(turn.name, 40)
    return _ROLES[turn.role]


def turn_number(iri: str) -> str:
    """The last part of an IRI."""
    return one_line(iri.rsplit("/", 1)[-1], 12)


def threshold(state: SessionState) -> float:
    """The relevance below which a pass may archive."""
    return reasons.setting(state, "eviction.relevance_threshold", 0.3)


def separator_row(number: int, ledger: Ledger, width: int) -> list[Piece]:
    """The line of a pass."""
    done, room = ledger.state.passes[number], max(0, width - 7)
    words = reasons.separator(done)
    if cell_len(words) > room:
        words = shorten(reasons.separator(done, brief=True), room)
    line = f" ── {words} "
    style = "pass" if number == ledger.newest_pass else "oldpass"
    return [(style, line), ("track", "─" * max(0, width - cell_len(line) - 1))]


def header_row(ledger: Ledger, width: int) -> list[Piece]:
    """Counts by fidelity, tokens, threshold and filter, in the longest form that fits."""
    forms = [_header(ledger, *form) for form in _HEADER_FORMS]
    return next((form for form in forms if _cells(form) <= width), forms[-1])


_HEADER_FORMS = (
    (True, True, "threshold "),
    (True, True, ""),
    (False, True, "< "),
    (False, True, ""),
    (False, False, "< "),
)


def _header(ledger: Ledger, words: bool, basis: bool, limit: str) -> list[Piece]:
    pieces: list[Piece] = [("header", " ")]
    for kind, sign in FIDELITY_MARKS.items():
        word = f" {kind}" if words else ""
        pieces.append((kind, f"{sign}{word} {ledger.counts.get(kind, 0)}  "))
    if ledger.would:
        pieces.append(("preview", f"→ {len(ledger.would)} would go  "))
    if ledger.filter != "all":
        pieces.append(("filter", f"only {ledger.filter}  "))
    of, unit = (" of ", "tok in view") if words else ("/", "tok")
    known = f" {ledger.basis}" if basis else ""
    pieces.append(("header", f"{ledger.tokens_seen:,}{of}{ledger.tokens_total:,} {unit}{known}"))
    if limit:
        pieces.append(("dim", f"  {limit}{threshold(ledger.state):.2f}"))
    return pieces


def _cells(pieces: list[Piece]) -> int:
    return sum(cell_len(text) for _, text in pieces)


def detail_rows(turn: TurnState, ledger: Ledger, width: int) -> tuple[list[Piece], list[Piece]]:
    """Two lines about the selected turn: its change or summary, and its score in terms."""
    words = " · ".join(mark_words(turn, ledger))
    change, would = turn.last_change, ledger.would.get(turn.iri)
    first: list[Piece] = [("header", f" #{turn_number(turn.iri)} ")]
    if would is not None:
        first.append(("preview", f"would be {reasons.sentence(would, ledger.state)}  "))
    elif change is not None:
        first.append((_reason_style(turn), reasons.sentence(change, ledger.state) + "  "))
    if words:
        first.append(("mark", words + "  "))
    first.append(("text", one_line(_said(turn), width * 2)))
    seen, full = ledger.seen.get(turn.iri, 0), ledger.tokens_full(turn)
    tokens = f"{seen:,}" if turn.fidelity == "full" else f"{full:,}→{seen:,}"
    return first, [("dim", f" {score_words(turn)} · {tokens} tok")]


def score_words(turn: TurnState) -> str:
    """The score with its terms, such as `score 0.42 = 0.6·g 0.50 + 0.4·l 0.30 (task+previous)`."""
    basis = f" ({one_line(turn.basis, 60)})" if turn.basis else ""
    if turn.relevance_score is None:
        return f"score unknown{basis}"
    total, g, l = turn.relevance_score, turn.global_sim, turn.local_sim  # noqa: E741
    if g is not None and l is not None:
        return f"score {total:.2f} = {ALPHA:.1f}·g {g:.2f} + {1 - ALPHA:.1f}·l {l:.2f}{basis}"
    known = [f"{name} {value:.2f}" for name, value in (("g", g), ("l", l)) if value is not None]
    terms = f" = {known[0]}, the other term unknown" if known else ""
    return f"score {total:.2f}{terms}{basis}"


def _said(turn: TurnState) -> str:
    """What a turn says in short, or which tools it calls."""
    return turn.summary or turn.text or ", ".join(f"→ {call.name}" for call in turn.calls)


def _words(
    turn: TurnState, ledger: Ledger, columns: Columns, body: str, *, full: bool
) -> list[Piece]:
    summary = one_line(_said(turn), columns.text * 2 + 8)
    would = ledger.would.get(turn.iri)
    change = turn.last_change if would is None else would
    style = _reason_style(turn) if would is None else "preview"
    if columns.why:
        why = "" if change is None else reasons.sentence(change, ledger.state)
        why = f"would be {why}" if would is not None else why
        return [(body, " " + fit(summary, columns.text)), (style, " " + fit(why, columns.why))]
    if change is None or (turn.fidelity == "full" and would is None and not full):
        return [(body, " " + fit(summary, columns.text))]
    least = min(_LEAST_SUMMARY, columns.text // 2)
    room = columns.text - 2 - least if full else 0
    why = shorten(reasons.fitting(change, ledger.state, room), columns.text)
    room = columns.text - cell_len(why)
    rest = f"  {fit(summary, room - 2)}" if room > 6 else " " * room
    return [(style, " " + why), (body, rest)]


def _reason_style(turn: TurnState) -> str:
    return "back" if turn.fidelity == "full" else "reason"


def _tokens(turn: TurnState, ledger: Ledger, columns: Columns) -> str:
    seen = ledger.seen.get(turn.iri, 0)
    if turn.fidelity == "full":
        return compact(seen)
    if columns.tokens < 8:
        return f"↓{compact(seen)}"
    return f"{compact(ledger.tokens_full(turn))}→{compact(seen)}"


def compact(count: int) -> str:
    """A count in at most four characters: `912`, `1.5k`, `12k`, `3M`."""
    if count < 1000:
        return str(count)
    if count < 9950:
        return f"{count / 1000:.1f}k"
    if count < 999_500:
        return f"{count / 1000:.0f}k"
    return f"{count / 1e6:.0f}M"
