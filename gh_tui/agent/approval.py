"""Approvals: a call that needs one waits here until the user, or the time limit, decides."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Literal

Decision = Literal["allow", "deny"]


class ApprovalDesk:
    """The calls that wait for a decision."""

    def __init__(self, timeout_seconds: float | None) -> None:
        """None waits for ever (a person sits at the screen)."""
        self._timeout = timeout_seconds
        self._waiting: dict[str, asyncio.Future[Decision]] = {}

    @contextlib.contextmanager
    def expecting(self, call: str) -> Iterator[None]:
        """Accept a decision on `call`, from before anyone is told of it until this block ends."""
        self._waiting[call] = asyncio.get_running_loop().create_future()
        try:
            yield
        finally:
            del self._waiting[call]

    async def wait(self, call: str) -> tuple[Decision, str]:
        """The decision on an expected call and who took it: `user` or `timeout`."""
        future = self._waiting[call]
        try:
            # Not wait_for: that drops a cancellation which comes in the instant of the decision.
            async with asyncio.timeout(self._timeout):
                return await future, "user"
        except TimeoutError:
            return "deny", "timeout"

    def decide(self, call: str, decision: Decision) -> bool:
        """Answer a waiting call; False if none of that id waits (any more)."""
        future = self._waiting.get(call)
        if future is None or future.done():
            return False
        future.set_result(decision)
        return True
