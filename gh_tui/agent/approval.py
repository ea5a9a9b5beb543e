"""Approvals: a call that needs one waits here until the user, or the time limit, decides."""

from __future__ import annotations

import asyncio
from typing import Literal

Decision = Literal["allow", "deny"]


class ApprovalDesk:
    """The calls that wait for a decision."""

    def __init__(self, timeout_seconds: float | None) -> None:
        """None waits for ever (a person sits at the screen)."""
        self._timeout = timeout_seconds
        self._waiting: dict[str, asyncio.Future[Decision]] = {}

    async def wait(self, call: str) -> tuple[Decision, str]:
        """The decision and who took it: `user` or `timeout`."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting[call] = future
        try:
            return await asyncio.wait_for(future, self._timeout), "user"
        except TimeoutError:
            return "deny", "timeout"
        finally:
            del self._waiting[call]

    def decide(self, call: str, decision: Decision) -> bool:
        """Answer a waiting call; False if none of that id waits (any more)."""
        future = self._waiting.get(call)
        if future is None or future.done():
            return False
        future.set_result(decision)
        return True
