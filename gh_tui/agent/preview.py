"""The next pass in words: what would go, what stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gh_tui.events.types import PassPreviewed, TurnFidelityChanged
from gh_tui.events.values import Role
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import number_of
from gh_tui.text import counted, one_line

_LISTED = 20
"""Turns that are named one by one."""
_QUOTED = 60
_WHO: dict[Role, str] = {"user": "you", "assistant": "agent", "tool": "tool"}


def preview_words(preview: PassPreviewed, l1: L1Session) -> str:
    """A pass that was computed and not run, as lines of text."""
    ends = list(_ends(preview.changes))
    gone = {change.iri for change in ends if change.after == "archived"}
    shown = [t.iri for t in l1.turns if t.fidelity != "archived" and t.iri not in gone]
    spared = [iri for iri in shown if l1.protected(iri)]
    head = f"{_when(preview, l1)} Run now, it would "
    if ends:
        left = f"{preview.tokens_after:,} tokens"
        head += f"change {counted(len(ends), 'turn')} and leave {left}:"
    else:
        head += "take nothing."
    lines = [head]
    lines += [_line(change, l1) for change in ends[:_LISTED]]
    if len(ends) > _LISTED:
        freed = sum(change.tokens_freed for change in ends[_LISTED:])
        lines.append(f"… and {len(ends) - _LISTED:,} more, which free {freed:,} tokens")
    lines.append(f"Stay in view: {_ranges(map(number_of, shown))}")
    lines.append(f"Of these no pass may take: {_ranges(map(number_of, spared))}")
    return "\n".join(lines)


def _when(preview: PassPreviewed, l1: L1Session) -> str:
    """What will start the next pass, and how far that is."""
    trigger, mark = l1.next_pass(preview.tokens_before, preview.budget)
    has = f"{preview.tokens_before:,} tokens of {preview.budget:,}"
    match trigger:
        case "eager":
            return f"A pass runs before each request; the next one has {has} so far."
        case "messages":
            return (
                f"The next pass runs above {mark:,} messages; there are {l1.message_count():,} "
                f"so far, and the next request has {has}."
            )
        case _:
            return f"The next pass runs above {mark:,} tokens; the next request has {has} so far."


def _ends(changes: Iterable[TurnFidelityChanged]) -> Iterator[TurnFidelityChanged]:
    """One change for each turn, from where it is to where it would end."""
    merged: dict[str, TurnFidelityChanged] = {}
    for change in changes:
        first = merged.get(change.iri)
        freed = change.tokens_freed + (first.tokens_freed if first else 0)
        before = first.before if first else change.before
        merged[change.iri] = replace(change, before=before, tokens_freed=freed)
    yield from merged.values()


def _line(change: TurnFidelityChanged, l1: L1Session) -> str:
    turn = l1.turn(change.iri)
    who = turn.name or _WHO[turn.role]
    after = "attachment" if change.attached else change.after
    freed = f"frees {change.tokens_freed:,}"
    words = one_line(turn.summary or turn.text, _QUOTED)
    return f"#{turn.number} {who} · {change.before} → {after} · {freed} · {words}"


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, as in `#1–3, #7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    found = (f"#{a}" if a == b else f"#{a}–{b}" for a, b in runs)
    return ", ".join(found) or "none"
