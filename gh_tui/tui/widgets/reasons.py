"""Why a turn is at its fidelity, in words made from the decision's own terms."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.cells import cell_len

from gh_tui.events.entries import PassState, TurnState
from gh_tui.events.state import SessionState
from gh_tui.events.types import TurnFidelityChanged
from gh_tui.events.values import Fidelity

_VERBS: dict[Fidelity, str] = {
    "masked": "masked",
    "summary": "summary",
    "archived": "archived",
    "full": "back",
}


def setting(state: SessionState, name: str, default: float) -> float:
    """A numeric setting of the session by its dotted name, as recorded at its start."""
    values: Any = state.started.settings if state.started is not None else {}
    for part in name.split("."):
        values = values.get(part) if isinstance(values, dict) else None
    return float(values) if isinstance(values, int | float) else default


def sentence(change: TurnFidelityChanged, state: SessionState) -> str:
    """The reason in full, such as `archived: relevance 0.12 < 0.30, idle 6 min · pass 3`."""
    verb = _VERBS[change.after]
    if change.phase == "undo":
        return f"back: pass {change.pass_} undone" if change.pass_ is not None else "back: undone"
    if change.phase == "recall":
        return "recalled by you"
    if change.attached:
        by_user = change.phase == "user"
        return "an attachment now, by you" if by_user else "an attachment now: whole it did not fit"
    if change.after == "full":
        return "back: protected by you" if change.phase == "user" else "back in full"
    text = f"{verb}: {_cause(change, state)}"
    return f"{text} · pass {change.pass_}" if change.pass_ is not None else text


def short(change: TurnFidelityChanged, state: SessionState) -> str:
    """The reason for a narrow column, such as `0.12<0.30 p3`."""
    if change.attached:
        return "attachment"
    number = f" p{change.pass_}" if change.pass_ is not None else ""
    match change.phase:
        case "mask":
            text = "old result"
        case "threshold":
            relevance, limit = _relevance(change, state)
            text = "low score" if relevance is None else f"{relevance:.2f}<{limit:.2f}"
        case "fusion":
            kept = change.terms.get("retention")
            text = "lowest" if kept is None else f"lowest {kept:.2f}"
        case "topic":
            text = "old topic"
        case "user":
            text = "by you" if change.after == "full" else "replaced"
        case "undo":
            return "undone"
        case "recall":
            return "recalled"
    return text + number


def fitting(change: TurnFidelityChanged, state: SessionState, room: int) -> str:
    """The longest form of the reason that has at most `room` cells; else the shortest one."""
    brief = short(change, state)
    forms = [sentence(change, state)]
    if change.after != "full":
        forms.append(f"{_VERBS[change.after]}: {brief}")
    return next((form for form in forms if cell_len(form) <= room), brief)


def separator(done: PassState, *, brief: bool = False) -> str:
    """What a pass did, on one line; `brief` with letters for the fidelities."""
    after = "…" if done.tokens_after is None else f"{done.tokens_after:,}"
    # One turn may change twice; an attachment is still there in full.
    ends = {change.iri: change.after for change in done.changes if not change.attached}
    counts = Counter(ends.values())
    attached = sum(change.attached for change in done.changes)
    if brief:
        letters = [f"{kind[0].upper()}{count}" for kind, count in counts.items()]
        did = " ".join([*letters, f"att{attached}"] if attached else letters) or "no changes"
        return f"pass {done.pass_} · {done.tokens_before:,}→{after} tok · {did}"
    parts = [f"{counts[kind]} {word}" for kind, word in _VERBS.items() if counts[kind]]
    if attached:
        parts.append(f"{attached} attached")
    did = ", ".join(parts) or ("no changes" if done.tokens_after is not None else "running")
    return f"pass {done.pass_} · {done.trigger} · {done.tokens_before:,} → {after} tok · {did}"


def span(seconds: float) -> str:
    """A duration in one unit: `now`, `45 s`, `6 min`, `3 h`, `2 d`."""
    if seconds < 1:
        return "now"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    if seconds < 86400:
        return f"{seconds // 3600:.0f} h"
    return f"{seconds // 86400:.0f} d"


def _cause(change: TurnFidelityChanged, state: SessionState) -> str:
    match change.phase:
        case "mask":
            count = setting(state, "eviction.keep_tool_results", 10)
            return f"tool result older than the newest {count:.0f}"
        case "threshold":
            relevance, limit = _relevance(change, state)
            low = "relevance too low" if relevance is None else f"relevance {relevance:.2f}"
            return _with_idle(low if relevance is None else f"{low} < {limit:.2f}", change)
        case "fusion":
            kept = change.terms.get("retention")
            return "lowest retention" if kept is None else f"lowest retention {kept:.2f}"
        case "topic":
            return _with_idle("topic before the shift", change)
        case "user":
            by = change.terms.get("replaced_by")
            return "you asked for it" if by is None else f"replaced by #{by:.0f}, as you said"
        case _:
            return change.phase


def _with_idle(text: str, change: TurnFidelityChanged) -> str:
    idle = change.terms.get("age")
    return text if idle is None else f"{text}, idle {span(idle)}"


def _relevance(change: TurnFidelityChanged, state: SessionState) -> tuple[float | None, float]:
    relevance, limit = change.terms.get("relevance_score"), change.terms.get("threshold")
    turn: TurnState | None = state.turns.get(change.iri)
    if relevance is None and turn is not None:
        relevance = turn.relevance_score
    if limit is None:
        limit = setting(state, "eviction.relevance_threshold", 0.3)
    return relevance, limit
