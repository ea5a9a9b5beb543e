"""One pure function from the memory to the messages of a request and their manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.context.standing import Block, Standing, build
from gh_tui.events.values import ManifestEntry
from gh_tui.memory.table import FULL, LEVELS, SUMMARY
from gh_tui.memory.tokens import count, count_message, scale
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gh_tui.events.values import Part
    from gh_tui.memory.l1 import L1Session
    from gh_tui.memory.turn import L1Turn

NO_RESULT: Final = "[no result: the call was cut short]"
_JOINT: Final = "\n\n"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What a request is assembled from, besides the turns."""

    system: str
    """The system prompt: the same bytes for the whole session."""
    budget: int
    """Tokens that the messages may take."""
    factor: float = 1.0
    """`TokenEstimator.factor`."""
    standing: Standing = field(default_factory=Standing)


@dataclass(frozen=True, slots=True)
class Assembled:
    """One request, and where each part of it came from."""

    messages: tuple[Message, ...]
    manifest: tuple[ManifestEntry, ...]
    """In the order of the messages; a standing block inside a message is an entry before it."""
    tokens: int
    """The sum over the manifest, corrected."""
    prefix_kept: int
    """Tokens of the messages at the front that are the same as in the request before."""
    standing_tokens: int
    repeated: tuple[str, ...]
    """IRIs of the turns that the standing block repeats."""


Piece = tuple[Message, ManifestEntry]


class PieceCache:
    """Messages and manifest entries of turns whose text has not changed."""

    def __init__(self) -> None:
        self._pieces: dict[int, tuple[str, float, Part, Piece]] = {}

    def get(self, row: int, text: str, factor: float, part: Part) -> Piece | None:
        """What was kept for a row, if it still says this."""
        kept = self._pieces.get(row)
        if kept is None or kept[0] is not text or kept[1] != factor or kept[2] != part:
            return None
        return kept[3]

    def put(self, row: int, text: str, factor: float, part: Part, piece: Piece) -> None:
        """Keep a piece."""
        self._pieces[row] = (text, factor, part, piece)


def assemble(
    l1: L1Session,
    frame: Frame,
    previous: Sequence[Message] = (),
    cache: PieceCache | None = None,
) -> Assembled:
    """Assemble the next request: system, task, turns in order, standing block.

    Args:
        l1: the turns with their fidelity.
        frame: everything else.
        previous: the messages of the request before, for `prefix_kept`.
        cache: a memory of earlier calls for the same session; the result does not depend on it.
    """
    pieces = [_system(frame)]
    pieces.extend(_turns(l1, frame.factor, PieceCache() if cache is None else cache))
    messages = [piece[0] for piece in pieces]
    manifest = [piece[1] for piece in pieces]
    costs = [entry.tokens for entry in manifest]
    headed = messages[-1].role == "user"
    block = build(l1, frame.standing, frame.budget, frame.factor, trailing=not headed)
    standing_tokens = 0
    if block.text:
        standing_tokens = _stand(block, messages, manifest, frame.factor, headed=headed)
    return Assembled(
        messages=tuple(messages),
        manifest=tuple(manifest),
        tokens=sum(costs) + standing_tokens,
        prefix_kept=_prefix(messages, costs, previous),
        standing_tokens=standing_tokens,
        repeated=block.iris,
    )


def _system(frame: Frame) -> Piece:
    tokens = scale(count_message(frame.system), frame.factor)
    return (
        Message(role="system", text=frame.system),
        ManifestEntry(iri=None, part="system", role="system", fidelity="full", tokens=tokens),
    )


def _turns(l1: L1Session, factor: float, cache: PieceCache) -> list[Piece]:
    table = l1.table
    level = table.level
    heads = np.flatnonzero(table.is_head & (table.messages(level) > 0)).tolist()
    task = -1 if l1.task is None else l1.row(l1.task.iri)
    pieces: list[Piece] = []
    if task >= 0:
        pieces.append(_piece(l1, task, factor, "task", cache))
    for row in heads:
        if row == task:
            continue
        piece = _piece(l1, row, factor, "turn", cache)
        pieces.append(piece)
        if piece[0].calls:
            pieces.extend(_results(l1, row, piece[0], factor, cache))
    return pieces


def _results(
    l1: L1Session, row: int, asked: Message, factor: float, cache: PieceCache
) -> list[Piece]:
    """The results of a message's calls, in any case one for each call."""
    pieces = [_piece(l1, member, factor, "turn", cache) for member in l1.members(row)]
    answered = {message.call_id for message, _ in pieces}
    for call in asked.calls:
        if call.id not in answered:
            tokens = scale(count_message(NO_RESULT), factor)
            pieces.append(
                (
                    Message(role="tool", text=NO_RESULT, call_id=call.id, name=call.name),
                    ManifestEntry(
                        iri=None, part="turn", role="tool", fidelity="full", tokens=tokens
                    ),
                )
            )
    return pieces


def _piece(l1: L1Session, row: int, factor: float, part: Part, cache: PieceCache) -> Piece:
    text = l1.shown(row)
    kept = cache.get(row, text, factor, part)
    if kept is not None:
        return kept
    turn, table = l1.turns[row], l1.table
    level = int(table.level[row])
    piece = (
        _message(turn, text, level),
        ManifestEntry(
            iri=turn.iri,
            part=part,
            role=turn.role,
            fidelity=LEVELS[level],
            tokens=table.cost(row, level, factor),
        ),
    )
    cache.put(row, text, factor, part, piece)
    return piece


def _message(turn: L1Turn, text: str, level: int) -> Message:
    if level == SUMMARY:
        return Message(role=turn.role, text=text, iri=turn.iri)
    return Message(
        role=turn.role,
        text=text,
        calls=turn.calls,
        call_id=turn.call_id,
        name=turn.name,
        blocks=turn.provider_blocks if level == FULL else (),
        iri=turn.iri,
    )


def _stand(
    block: Block,
    messages: list[Message],
    manifest: list[ManifestEntry],
    factor: float,
    *,
    headed: bool,
) -> int:
    """Put the block at the head of the user's message, or after the results; its tokens."""
    raw = count(block.text + _JOINT) if headed else count_message(block.text)
    tokens = scale(raw, factor)
    entry = ManifestEntry(iri=None, part="standing", role="user", fidelity="full", tokens=tokens)
    if headed:
        last = messages[-1]
        messages[-1] = replace(last, text=f"{block.text}{_JOINT}{last.text}")
        manifest.insert(len(manifest) - 1, entry)
    else:
        messages.append(Message(role="user", text=block.text))
        manifest.append(entry)
    return tokens


def _prefix(messages: Sequence[Message], costs: Sequence[int], previous: Sequence[Message]) -> int:
    """A message that carried a standing block differs as soon as the block does."""
    kept = 0
    for now, before, tokens in zip(messages, previous, costs, strict=False):
        if now is not before and now != before:
            break
        kept += tokens
    return kept
