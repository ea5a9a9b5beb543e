"""What runs of both kinds share: the moments of a plan, the server's lines, and the verdict."""

from __future__ import annotations

import random
from collections import Counter

from gh_tui.chaos.oracle import Promises, Sent, Verdict, judge
from gh_tui.chaos.plan import Action, Plan, answer
from gh_tui.events.codec import event_name
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.providers.scripted import Reply


class Stage:
    """The course of one run, over all lives of its session."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.chance = random.Random(plan.seed)  # noqa: S311
        self.promises = Promises()
        self.log: list[Sent] = []
        """What the servers saw of the lives that are over."""
        self.faults: list[str] = []
        self.crashes = 0
        self.healthy = False
        """No more faults: whatever waits must go now."""
        self._actions = list(plan.actions)
        self._replies = iter(plan.replies)
        self._answers = 0
        self._counts: Counter[str] = Counter()

    def reply(self) -> Reply:
        """What the server says next."""
        self._answers += 1
        reply = None if self.healthy else next(self._replies, None)
        return Reply(text=answer(self._answers)) if reply is None else reply

    def hear(self, envelope: Envelope) -> list[Action]:
        """Take in a line of the program; what is to happen now."""
        self.promises.take(envelope.event)
        due = []
        for name in (event_name(envelope.event), "*"):
            self._counts[name] += 1
            moment = (name, self._counts[name])
            due += [action for action in self._actions if (action.event, action.count) == moment]
        for action in due:
            self._actions.remove(action)
        return due

    def next_missed(self) -> Action | None:
        """An action whose moment did not come; it happens when the agent rests."""
        return self._actions.pop(0) if self._actions else None

    def calm(self) -> None:
        """End of the disturbances."""
        self.healthy = True
        self._actions.clear()

    def judge(self, state: SessionState) -> Verdict:
        """The verdict, given the state in which the recording was left."""
        pending = {entry.id: entry.text for entry in state.pending} | state.queued
        if self.plan.ending != "drain":  # an input that is shown is in the next request
            shown = [turn for turn in state.turns.values() if turn.fidelity == "full"]
            pending |= {turn.iri: turn.text for turn in shown}
        verdict = judge(self.log, self.promises, pending)
        verdict.faults[:0] = self.faults
        return verdict
