"""Hooks: ordered callables at five points of a task that may change or veto what comes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

HookPoint = Literal["TaskStart", "CycleStart", "ToolStart", "ToolEnd", "TaskEnd"]


@dataclass(frozen=True, slots=True)
class Veto:
    """What a hook returns to stop the thing; the reason is shown and, for a tool, told."""

    reason: str


Hook = Callable[[Any], Awaitable[Any]]


class Hooks:
    """The hooks of one session.

    `TaskStart` gets a Task, `CycleStart` the cycle's number, `ToolStart` a ToolCall, `ToolEnd`
    a ToolResult, `TaskEnd` the outcome. Each hook returns the value to go on with, or a Veto.
    """

    def __init__(self) -> None:
        self._hooks: dict[HookPoint, list[Hook]] = {}

    def add(self, point: HookPoint, hook: Hook) -> None:
        """Run `hook` at `point`, after those that were added before."""
        self._hooks.setdefault(point, []).append(hook)

    async def run(self, point: HookPoint, value: Any) -> Any:
        """Pass `value` through the hooks in order; the first Veto ends it and is returned."""
        for hook in self._hooks.get(point, ()):
            value = await hook(value)
            if isinstance(value, Veto):
                return value
        return value
