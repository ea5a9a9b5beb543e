"""One pure function from the memory to the messages of a request and their manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gh_tui.context.pieces import PieceCache
from gh_tui.context.standing import JOINT, Standing, block_tokens, build
from gh_tui.events.values import ManifestEntry
from gh_tui.memory.tokens import count_message, scale
from gh_tui.providers.base import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gh_tui.memory.l1 import L1Session


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

    @property
    def carried(self) -> frozenset[str]:
        """IRIs of the turns that it has messages of."""
        return frozenset(e.iri for e in self.manifest if e.iri and e.part in ("turn", "task"))


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
    system, entry = _system(frame)
    parts = (PieceCache() if cache is None else cache).update(l1, frame.factor)
    messages = [system, *parts.messages]
    manifest = [entry, *parts.manifest]
    costs = [entry.tokens, *parts.costs]
    block = build(l1, frame.standing, frame.budget, frame.factor, after=messages[-1].role)
    standing_tokens = _stand(block, messages, manifest, frame.factor) if block else 0
    return Assembled(
        messages=tuple(messages),
        manifest=tuple(manifest),
        tokens=sum(costs) + standing_tokens,
        prefix_kept=_prefix(messages, costs, previous),
        standing_tokens=standing_tokens,
    )


def _system(frame: Frame) -> tuple[Message, ManifestEntry]:
    tokens = scale(count_message(frame.system), frame.factor)
    return (
        Message(role="system", text=frame.system),
        ManifestEntry(iri=None, part="system", role="system", fidelity="full", tokens=tokens),
    )


def _stand(
    block: str, messages: list[Message], manifest: list[ManifestEntry], factor: float
) -> int:
    """Put the block at the head of the user's message, or after the results; its tokens."""
    last = messages[-1]
    headed = last.role == "user"
    tokens = scale(block_tokens(block, headed=headed), factor)
    entry = ManifestEntry(iri=None, part="standing", role="user", fidelity="full", tokens=tokens)
    if headed:
        messages[-1] = replace(last, text=f"{block}{JOINT}{last.text}")
        manifest.insert(len(manifest) - 1, entry)
    else:
        messages.append(Message(role="user", text=block))
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
