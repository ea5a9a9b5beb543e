"""What a receipt says: the way of an entry, its class, and what the user may decide about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from gh_tui.events.entries import SupplementState, TurnState
from gh_tui.events.state import SessionState
from gh_tui.text import one_line, visible
from gh_tui.tui.cells import shorten

CLASS_WORDS = {
    "AddContext": "context",
    "RefineObjective": "refine",
    "ProvideConstraint": "constraint",
    "GuideDirection": "guide",
    "PrioritizeStep": "prioritise",
    "SuggestApproach": "suggest",
    "Pause": "pause",
    "Resume": "resume",
    "SkipCurrentStep": "skip",
    "ConfirmDirection": "confirm",
    "CorrectApproach": "correct",
    "AbortCurrentStep": "abort",
}
"""The twelve classes, short."""
ORDINARY = "ordinary"
"""Instead of its class: an instruction that the user made an ordinary entry."""

_CHOICES = "r replaces · d adds · u unrelated"
_LEAST_QUOTE = 8
"""Cells of the older instruction below which its number must do."""


@dataclass(frozen=True, slots=True)
class QueuedInput:
    """An input that runs after what is there now."""

    id: str
    """Its IRI."""
    text: str
    state: Literal["after this task", "waits for you"]


Receipt = SupplementState | QueuedInput


def receipts_of(state: SessionState) -> list[Receipt]:
    """All receipts: supplements in the order of their coming, then queued inputs."""
    word: Literal["after this task", "waits for you"] = (
        "waits for you" if state.held else "after this task"
    )
    queued = [QueuedInput(iri, text, word) for iri, text in state.waiting.items()]
    return [*state.supplements.values(), *queued]


def receipt_words(entry: Receipt) -> str:
    """The state of an entry in words, sanitised."""
    if isinstance(entry, QueuedInput):
        return "queued"
    if entry.status == "returned":
        return f"returned ({visible(entry.returned or '')})"
    if entry.deferred:
        return f"{entry.status}, deferred: {one_line(entry.deferred, 80)}"
    if entry.status != "injected":
        return entry.status
    if entry.last_request is None or entry.last_request == entry.request:
        words = f"injected c{entry.cycle}·r{entry.request}"
    else:
        words = f"seen r{entry.request}–r{entry.last_request}"
    if entry.kept_through is not None:
        words += f", kept p{entry.kept_through}"
    return words


def short_id(name: str) -> str:
    """`supplement-12` as `s12`; an IRI by the number of its turn, as `#12`."""
    front, slash, number = name.rpartition("/")
    if slash:
        return f"#{one_line(number, 6)}"
    front, dash, number = name.rpartition("-")
    return one_line(f"{front[:1]}{number}" if dash else name, 6)


def class_words(entry: SupplementState, turn: TurnState | None) -> str:
    """The class in one word behind the marks of pin and standing instruction."""
    name = one_line(entry.class_ or "", 20)
    word = CLASS_WORDS.get(name, name)
    if turn is None:
        return word
    marks = [("◆", turn.pinned), ("§", turn.standing and not turn.demoted)]
    signs = "".join(sign for sign, holds in marks if holds)
    return f"{signs} {ORDINARY if turn.demoted else word}".strip()


def notes(
    entry: Receipt, state: SessionState, width: int, keys: Literal["after F5", "now", "none"]
) -> list[str]:
    """What the user may decide about an entry, one line each, of at most `width` cells.

    Args:
        entry: the receipt.
        state: where the older instruction is looked up.
        width: cells.
        keys: whether the keys work now, after F5 has been pressed, or for another line.
    """
    if isinstance(entry, QueuedInput):
        return []
    first = "F5, then " if keys == "after F5" else ""
    lines = []
    if entry.suggested:
        suggested = one_line(entry.suggested, 20)
        word = CLASS_WORDS.get(suggested, suggested)
        accept = "" if keys == "none" else f" {first}a accepts"
        lines.append(f"perhaps {word}?{accept}")
    if entry.related is not None:
        choices = "replaces, adds or unrelated?" if keys == "none" else f"{first}{_CHOICES}"
        lines.append(_question(entry.related, state, width, choices))
    return [shorten(line, width) for line in lines]


def command_for(action: str, entry: Receipt) -> str | None:
    """The command that does what a key on a receipt means; None if there is nothing to do."""
    if isinstance(entry, QueuedInput):
        return None
    match action:
        case "accept" if entry.suggested:
            return f"/class {entry.id} {entry.suggested}"
        case "pin" | "unpin" if entry.iri is not None:
            return f"/{action} {entry.iri}"
        case "replaces" | "adds" | "unrelated" if entry.related is not None:
            return f"/{action} {entry.id}"
        case _:
            return None


def as_sent(entry: Receipt) -> tuple[str, str]:
    """The message that carried an entry, under a line that says where it stood."""
    if isinstance(entry, QueuedInput):
        return f"{short_id(entry.id)} · queued: {entry.state}", entry.text
    carrier = entry.carrier
    if carrier is None:
        return f"{entry.id} · {entry.status}: no request has carried it yet", entry.text
    head = f"{entry.id} · request {carrier.request}, cycle {carrier.cycle}"
    if carrier.place is None:
        return f"{head} · the recording does not say what else its message held", entry.text
    head += f" · message {carrier.place} of {carrier.messages}, as sent"
    return head, entry.text if carrier.content is None else carrier.content


def _question(older: str, state: SessionState, width: int, choices: str) -> str:
    number = f"like {short_id(older)}"
    turn = state.turns.get(older)
    room = width - cell_len(f"{number} «»: {choices}")
    if turn is None or room < _LEAST_QUOTE:
        return f"{number}: {choices}"
    return f"{number} «{shorten(one_line(turn.text, room * 2), room)}»: {choices}"
