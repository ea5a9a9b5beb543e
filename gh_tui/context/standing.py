"""The standing block: what still holds, said again near the end of a long request."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.context.prompts import ANSWER, GO_ON, STANDING_HEADER
from gh_tui.embedding.vectors import cosine as vector_cosine
from gh_tui.memory.table import FULL
from gh_tui.memory.tokens import count, count_message, scale

if TYPE_CHECKING:
    from gh_tui.embedding.vectors import Vector
    from gh_tui.events.values import Task
    from gh_tui.memory.l1 import L1Session
    from gh_tui.memory.turn import L1Turn
    from gh_tui.providers.base import MessageRole

SHARE: Final = 0.10
"""Most of the budget that the block may take."""
NEAR: Final = 0.20
"""Instructions within this last share of the budget need not be repeated.

A small model loses an instruction after a few turns already: for it everything but the latest
input is far.
"""
SAME_SUBJECT: Final = 0.72
"""Similarity from which a small model is told only the newer of two instructions."""

JOINT: Final = "\n\n"
"""Between the parts of the block, and between it and the user's text."""

_TRAILING_HEADER: Final = (
    "[The user's standing instructions. They still hold; "
    "the newest overrides what was said before.]"
)
_TASK_HEADER: Final = "[The task, as the user refined it]"


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """What the block is made from, besides the turns."""

    refined: Task | None = None
    """The task, if it says more than the task's turn."""
    vector: Vector | None = None
    """The current input; the instructions most similar to it come last."""
    most: int | None = None
    """Instructions at most; set for small models, which lose the thread among many."""
    last: str | None = None
    """IRI of the input that is to stand last in this cycle."""
    searchable: bool = True
    """The agent can search the archive, so it is told what is there."""


def build(
    l1: L1Session, standing: Standing, budget: int, factor: float, *, after: MessageRole
) -> str:
    """Make the block for the next request.

    Args:
        l1: the turns.
        standing: what else there is to say.
        budget: tokens of the whole request.
        factor: the token correction.
        after: the role of the last message. Above a user's it heads that message; after another
            it is a message of its own, for which archive counts alone are no reason.

    Returns:
        Its text, at most a tenth of the budget, in which instructions come before all else;
        empty if nothing has to be said. What stands after an assistant's message asks to go on,
        however small the budget: no server answers its own words.
    """
    headed = after == "user"
    room = int(SHARE * budget)
    asks = [GO_ON] if after == "assistant" else []
    closing = [ANSWER] if headed else asks
    header = STANDING_HEADER if headed else _TRAILING_HEADER
    used = block_tokens(JOINT.join([header, *closing]), headed=headed)
    far = _candidates(l1, budget, factor, few=standing.most is not None)
    items = _choose(l1, standing, far, _Room(room, used, factor))
    parts = ["\n".join([header, *(_line(turn) for turn in items)])] if items else []

    def fits(part: str) -> bool:
        text = JOINT.join([part, *parts, *closing])
        return bool(part) and scale(block_tokens(text, headed=headed), factor) <= room

    if fits(refined := _task_lines(standing.refined)):
        parts.insert(0, refined)
    if parts and standing.searchable and fits(counts := _counts(l1)):
        parts.insert(0, counts)
    return JOINT.join([*parts, *(closing if items else asks)])


def block_tokens(block: str, *, headed: bool) -> int:
    """What a block adds to a request, uncorrected: at the head of a message, or as one."""
    return count(block + JOINT) if headed else count_message(block)


@dataclass(slots=True)
class _Room:
    """What the block may still take."""

    most: int
    """Corrected tokens."""
    used: int
    """Uncorrected: corrected parts do not add up to the corrected whole."""
    factor: float

    def take(self, tokens: int) -> bool:
        """Take some, if they fit."""
        fits = scale(self.used + tokens, self.factor) <= self.most
        if fits:
            self.used += tokens
        return fits


def _candidates(l1: L1Session, budget: int, factor: float, *, few: bool) -> list[L1Turn]:
    """Protected turns that are far from the end of the request, in order."""
    table = l1.table
    behind = np.cumsum(table.costs(table.level, factor)[::-1])[::-1]
    far = behind > NEAR * budget
    if few:
        latest = l1.latest_input
        far |= np.arange(len(l1)) != (-1 if latest is None else l1.row(latest.iri))
    far[-1:] = False  # the last message says it itself
    rows = np.flatnonzero(table.guarded & far).tolist()
    # The block repeats verbatim: not the attachments that are shown in part.
    turns = [l1.turns[row] for row in rows if l1.message(row, FULL).text == l1.turns[row].text]
    return [turn for turn in turns if not turn.is_task]


def _choose(l1: L1Session, standing: Standing, turns: list[L1Turn], room: _Room) -> list[L1Turn]:
    """The newest, then the most similar, as many as fit; the most similar last for few."""
    near = _nearness(standing, turns)
    ranked = sorted(range(len(turns)), key=lambda i: (-near[i], -i))
    if turns and standing.most is not None:
        ranked.remove(len(turns) - 1)
        ranked.insert(0, len(turns) - 1)
    elif standing.most is None:
        ranked = list(range(len(turns) - 1, -1, -1))
    ranked.sort(key=lambda i: turns[i].iri != standing.last)
    chosen: list[int] = []
    for index in ranked:
        if standing.most is not None and (
            len(chosen) >= standing.most or _said_by_newer(l1, turns, index)
        ):
            continue
        if room.take(count(_line(turns[index])) + 1):
            chosen.append(index)
    few = standing.most is not None
    chosen.sort(key=lambda i: (turns[i].iri == standing.last, near[i] if few else 0.0, i))
    return [turns[index] for index in chosen]


def _nearness(standing: Standing, turns: list[L1Turn]) -> list[float]:
    """Cosine with the current input; below all others where it is unknown."""
    near: list[float] = []
    for turn in turns:
        cosine = vector_cosine(turn.embedding, standing.vector)
        near.append(-1.0 if cosine is None else cosine)
    return near


def _said_by_newer(l1: L1Session, turns: list[L1Turn], index: int) -> bool:
    """Whether a newer instruction of the list is about the same thing."""
    return any(
        l1.similarity(turns[index].iri, newer.iri) >= SAME_SUBJECT for newer in turns[index + 1 :]
    )


def _line(turn: L1Turn) -> str:
    return f"- {turn.text}" if turn.role == "user" else f"- [{turn.role}] {turn.text}"


def _task_lines(task: Task | None) -> str:
    if task is None:
        return ""
    named = [(field.name, getattr(task, field.name)) for field in fields(task)]
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in named if value]
    return "\n".join([_TASK_HEADER, *lines])


def _counts(l1: L1Session) -> str:
    counts = l1.fidelity_counts()
    if not counts["archived"]:
        return ""
    return (
        f"[Not shown: {counts['archived']} earlier turns. "
        "search_memory(query) finds them, recall(iri) reads one.]"
    )
