"""The context window: how much may be sent, and the request that fits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gh_tui.context.assembly import Assembled, Frame, assemble
from gh_tui.context.pieces import PieceCache
from gh_tui.errors import MemoryFullError

if TYPE_CHECKING:
    from gh_tui.memory.l1 import L1Session
    from gh_tui.providers.base import Message, WindowSource
    from gh_tui.settings.model import ContextSettings


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
    system = sum(entry.tokens for entry in request.manifest if entry.part == "system")
    task = sum(entry.tokens for entry in request.manifest if entry.part == "task")
    guarded = l1.protected_tokens(factor) - task
    rest = request.tokens - system - task - guarded - request.standing_tokens
    raise MemoryFullError(
        f"The request needs {request.tokens} tokens and may have {budget.available} (window "
        f"{budget.window}, {budget.source}; {budget.reserve} kept for the answer, {budget.tools} "
        f"for tools). Instructions to the model take {system}, the task {task}, pins and your "
        f"instructions {guarded} and {request.standing_tokens} repeated, the newest turns {rest}. "
        "Make a pin or an older instruction an ordinary turn (/unpin), take back what was not "
        "sent yet (/withdraw), or raise context.budget or context.window."
    )
