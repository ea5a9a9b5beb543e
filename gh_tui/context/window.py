"""The context window: how much may be sent, and the request that fits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gh_tui.context.assembly import Assembled, Frame, assemble
from gh_tui.context.pieces import PieceCache
from gh_tui.errors import MemoryFullError
from gh_tui.text import counted

if TYPE_CHECKING:
    from gh_tui.memory.l1 import L1Session
    from gh_tui.providers.base import Message, WindowSource
    from gh_tui.settings.model import ContextSettings

_NAMED: Final = 3
"""Turns that advice names."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens the messages of a request should take, and why."""

    tokens: int
    """What passes work for."""
    available: int
    """What a request may have when its fixed parts need more: the setting context.budget where
    the user set it, else what the window leaves."""
    window: int
    source: WindowSource
    reserve: int
    """Kept free for the answer."""
    tools: int
    """Taken by tool schemas that are sent beside the messages."""


def budget_for(
    settings: ContextSettings,
    window: int,
    source: WindowSource,
    tool_tokens: int = 0,
    usual: int | None = None,
) -> Budget:
    """The budget of a request.

    A configured window replaces a guess, but never widens what the server says. The reserve is
    a quarter of the window at most, so that a small window leaves room for a question.

    Args:
        settings: what the user set.
        window: tokens, as `source` says.
        source: who says so.
        tool_tokens: what tool schemas take beside the messages.
        usual: the budget of a model that reads slowly, where the user set none.
    """
    if settings.window is not None and (source == "guessed" or settings.window < window):
        window, source = settings.window, "configured"
    reserve = min(settings.reserve, window // 4)
    available = max(0, window - reserve - tool_tokens)
    if settings.budget is not None:
        available = min(settings.budget, available)
    tokens = available if usual is None or settings.budget is not None else min(usual, available)
    return Budget(
        tokens=tokens,
        available=available,
        window=window,
        source=source,
        reserve=reserve,
        tools=tool_tokens,
    )


class ContextWindowManager:
    """Assembles each request of one session, and remembers the last one for its prefix."""

    def __init__(self) -> None:
        self._cache = PieceCache()
        self._previous: tuple[Message, ...] = ()

    def assemble(self, l1: L1Session, frame: Frame) -> Assembled:
        """The next request as it would be sent now; nothing changes."""
        return assemble(l1, frame, self._previous, self._cache)

    def sent(self, request: Assembled) -> None:
        """Note that a request was sent: the next one is measured against it."""
        self._previous = request.messages


def require_fit(l1: L1Session, request: Assembled, budget: Budget, factor: float = 1.0) -> None:
    """Check that a request fits the window, after passes have done what they can.

    Raises:
        MemoryFullError: it does not; the message says what fills it and what to do.
    """
    if request.tokens <= budget.available:
        return
    raise MemoryFullError(
        f"The request needs {request.tokens} tokens and may have {budget.available} (window "
        f"{budget.window}, {budget.source}; {budget.reserve} kept for the answer, {budget.tools} "
        f"for tools). {_filled(l1, request, factor)} {_advice(l1, factor)}, or raise "
        "context.budget or context.window. Then /resume tries again."
    )


def refused(
    l1: L1Session,
    request: Assembled,
    refusal: str,
    factor: float = 1.0,
    *,
    tried: int | None = None,
) -> MemoryFullError:
    """What there is to say of a request that the server refused, when no further pass is made.

    Args:
        l1: the turns.
        request: the request.
        refusal: the server's words.
        factor: the token correction.
        tried: how many passes were not enough; None if no pass can free more.
    """
    if tried is None:
        state, then = "and no pass can free more", "Then /resume tries again"
    else:
        state = f"still too many after {counted(tried, 'pass', 'passes')}"
        then = "Then, or at once, /resume tries again with further passes"
    return MemoryFullError(
        f"{refusal.rstrip('.')}. The request has {request.tokens} tokens, {state}. "
        f"{_filled(l1, request, factor)} {_advice(l1, factor)}, or use a model with a larger "
        f"window. {then}."
    )


def much_protected(l1: L1Session, budget: int, factor: float = 1.0) -> str:
    """What the user is told when what no pass may take has passed its share of the budget."""
    held = l1.protected_tokens(factor)
    ordinary = [
        f"/unpin {turn.number} ({tokens})" for turn, tokens in l1.demotable(factor)[:_NAMED]
    ]
    large = [pair for pair in l1.attachable(factor) if pair[0].guarded]
    inputs = [f"/attach {turn.number} ({tokens})" for turn, tokens in large[:_NAMED]]
    ways = f" Lower that with {', '.join(ordinary + inputs)}." if ordinary or inputs else ""
    return (
        f"The task, pins and your instructions hold {held} tokens, {100 * held // max(1, budget)} "
        f"% of the budget of {budget}. No pass takes them, and new pins are refused.{ways} On a "
        "receipt, o makes it an ordinary turn."
    )


def _filled(l1: L1Session, request: Assembled, factor: float) -> str:
    """What a request consists of, in words."""
    system = sum(entry.tokens for entry in request.manifest if entry.part == "system")
    task = sum(entry.tokens for entry in request.manifest if entry.part == "task")
    guarded = l1.protected_tokens(factor) - task
    rest = request.tokens - system - task - guarded - request.standing_tokens
    return (
        f"Instructions to the model take {system}, the task {task}, pins and your instructions "
        f"{guarded} and {request.standing_tokens} repeated, all other turns {rest}."
    )


def _advice(l1: L1Session, factor: float) -> str:
    """What the user can do about it: nobody else may touch what is protected."""
    inputs = [
        f"/attach {turn.number} frees {tokens}{' (the task)' if turn.is_task else ''}"
        for turn, tokens in l1.attachable(factor)[:_NAMED]
    ]
    attach = f"show a large input by head, tail and IRI ({', '.join(inputs)}), " if inputs else ""
    return (
        f"To make room, {attach}make a pin or an older instruction an ordinary turn (/unpin), "
        "take back what was not sent yet (/withdraw)"
    )
