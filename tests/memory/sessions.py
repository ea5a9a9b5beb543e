"""Small sessions for the tests of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gh_tui.events import types as ev
from gh_tui.events.values import Role, ToolCall, Trigger
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.passes import PassRequest, Query
from gh_tui.memory.turn import L1Turn, iri_for, new_turn

SECONDS = 20.0
"""Between two turns."""


class Talk:
    """A session that is told what happens next; its clock moves with each turn."""

    def __init__(self, config: EvictionConfig | None = None, **options: Any) -> None:
        self.l1 = L1Session(config, **options)
        self.now = 0.0
        self.passes: dict[int, list[ev.TurnFidelityChanged]] = {}
        """What each pass changed, as long as it can be undone."""

    def say(
        self,
        role: Role,
        text: str,
        *,
        score: float | None = 0.6,
        vector: Sequence[float] | None = None,
        **fields: Any,
    ) -> L1Turn:
        self.now += SECONDS
        iri = iri_for("s", len(self.l1) + 1)
        self.l1.add(new_turn(iri, role, text, created_at=self.now, **fields))
        embedding = None if vector is None else np.array(vector, np.float32)
        self.l1.score(iri, score, embedding)
        return self.l1.turn(iri)

    def exchange(self, *results: str, text: str = "I look.", **fields: Any) -> list[L1Turn]:
        """An assistant message with one call per result, and the results."""
        turns = [self.call(len(results), text, **fields)]
        for call, result in zip(turns[0].calls, results, strict=True):
            turns.append(self.say("tool", result, call_id=call.id, name=call.name, **fields))
        return turns

    def call(self, number: int, text: str = "I look.", **fields: Any) -> L1Turn:
        """An assistant message with calls whose results are not in yet."""
        start = len(self.l1)
        calls = tuple(
            ToolCall(f"call-{start}-{i}", "read_file", {"path": f"src/part{start}_{i}.py"})
            for i in range(number)
        )
        return self.say("assistant", text, calls=calls, **fields)

    def request(self, trigger: Trigger = "watermark", **fields: Any) -> PassRequest:
        values: dict[str, Any] = {
            "now": self.now,
            "budget": 1000,
            "tokens_before": self.l1.tokens() + 50,
            "trigger": trigger,
            "query": Query(text="what about the parser?"),
        }
        return PassRequest(**{**values, **fields})

    def shown(self, row: int) -> str:
        """The text of a row as a request shows it."""
        return self.l1.message(row, int(self.l1.table.level[row])).text

    def run(self, trigger: Trigger = "watermark", **fields: Any) -> list[ev.Event]:
        events = self.l1.evict_with_query(self.request(trigger, **fields))
        for event in events:
            if isinstance(event, ev.PassStarted):
                self.passes[event.pass_] = changes(events)
        return events

    def undo(self, now: float) -> list[ev.Event]:
        latest = max((number for number, taken in self.passes.items() if taken), default=0)
        self.passes[latest] = []
        return self.l1.undo_pass(now)


def changes(events: Sequence[ev.Event]) -> list[ev.TurnFidelityChanged]:
    return [event for event in events if isinstance(event, ev.TurnFidelityChanged)]


def finished(events: Sequence[ev.Event]) -> ev.PassFinished:
    (event,) = (event for event in events if isinstance(event, ev.PassFinished))
    return event
