"""SessionState: what a session looks like after its events, as a deterministic fold.

The fold reads nothing but the envelopes, so a replay reaches the same state as the live run.
`apply` works in place and costs constant time per event (for `RequestSent`, the length of its
manifest); copy the state first to keep an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from gh_tui.events import types as ev
from gh_tui.events.codec import plain
from gh_tui.events.entries import PassState, SupplementState, ToolState, ToolStatus, TurnState
from gh_tui.events.envelope import Envelope
from gh_tui.events.prefill import Prefill
from gh_tui.events.values import Outcome, Task

_STEPS = 20
"""A factor is a whole number of steps of 1/20."""


@dataclass(slots=True)
class SessionState:
    """Everything the screen shows, built by `apply` from envelopes alone."""

    session: str = ""
    seq: int = 0
    started: ev.SessionStarted | None = None
    task: Task | None = None
    task_iri: str | None = None
    """The turn of the input that became the task; it may not be in yet."""
    turns: dict[str, TurnState] = field(default_factory=dict)
    """By IRI, in the order in which they entered L1."""
    queued: dict[str, str] = field(default_factory=dict)
    """Accepted inputs that are not yet turns: IRI to text."""
    supplements: dict[str, SupplementState] = field(default_factory=dict)
    tools: dict[str, ToolState] = field(default_factory=dict)
    passes: dict[int, PassState] = field(default_factory=dict)
    preview: ev.PassPreviewed | None = None
    """What a pass would do now; None once something has changed since the user asked."""
    request: ev.RequestSent | None = None
    context_tokens: int = 0
    """As last counted: those of the latest request, or after a pass or its undoing since."""
    token_factor: float = 1.0
    """What the tokens of turns are multiplied by in requests, as the latest one shows it."""
    prefill: Prefill = field(default_factory=Prefill)
    usage: dict[str, int] | None = None
    cycle: int = 0
    running: bool = False
    """A task runs: from the first cycle to `TaskFinished`."""
    held: bool = False
    """After a failure, a stop or a restart what was accepted waits for the user's next word."""
    paused: bool = False
    """The agent waits between cycles."""
    replying: int | None = None
    """The request whose reply is streaming."""
    reply_text: str = ""
    reply_reasoning: str = ""
    partial: str | None = None
    """The text of the latest reply that was not complete."""
    failure: ev.ProviderFailed | None = None
    shifts: list[ev.TopicShiftDetected] = field(default_factory=list)
    provisional: str | None = None
    truncation: ev.TruncationSuspected | None = None
    notices: list[ev.Notice] = field(default_factory=list)
    outcome: Outcome | None = None
    answer: str = ""
    ended: bool = False
    unknown: int = 0
    """How many records were of kinds that this version does not know."""

    @property
    def pending(self) -> list[SupplementState]:
        """Supplements that no request has carried yet, in order."""
        return [s for s in self.supplements.values() if s.status in ("pending", "taken")]

    @property
    def undelivered(self) -> list[str]:
        """The texts of all accepted inputs that no request has carried yet."""
        return [entry.text for entry in self.pending] + list(self.queued.values())

    @property
    def waiting(self) -> dict[str, str]:
        """Queued inputs by IRI but for one that begins at this moment."""
        begun = 0 if self.running or self.held else 1
        return dict(list(self.queued.items())[begun:])

    def apply(self, envelope: Envelope) -> None:
        """Take in one event."""
        self.session = envelope.session
        if envelope.seq is not None:
            self.seq = envelope.seq
        match envelope.event:
            case (
                ev.SupplementaryInputReceived()
                | ev.SupplementScored()
                | ev.SupplementInjected()
                | ev.SupplementDeferred()
                | ev.SupplementReturned()
            ) as event:
                self._on_supplement(event, envelope.time)
            case (
                ev.TurnAdded()
                | ev.TurnScored()
                | ev.TurnPinned()
                | ev.TurnUnpinned()
                | ev.TurnFidelityChanged()
                | ev.PassStarted()
                | ev.PassFinished()
                | ev.PassPreviewed()
            ) as event:
                self._on_memory(event, envelope.time)
            case (
                ev.CycleStarted()
                | ev.RequestSent()
                | ev.ReplyDelta()
                | ev.ReplyProgress()
                | ev.ReplyFinished()
                | ev.ProviderFailed()
                | ev.TruncationSuspected()
            ) as event:
                self._on_request(event)
            case ev.ToolRequested() | ev.ToolApproval() | ev.ToolFinished() as event:
                self._on_tool(event)
            case _ as event:
                self._on_session(event)

    def _on_supplement(self, event: ev.SupplementEvent, time: str) -> None:
        if isinstance(event, ev.SupplementaryInputReceived):
            new = SupplementState(event.id, event.text, time, attached=event.attached)
            self.supplements[event.id] = new
            self.held = False
            return
        self.queued.pop(event.id, None)
        entry = self.supplements.get(event.id)
        if entry is None:  # a queued input, or its line in the recording is damaged
            return
        match event:
            case ev.SupplementScored():
                entry.relevance_score, entry.basis = event.relevance_score, event.basis
            case ev.SupplementInjected():
                entry.status, entry.cycle, entry.request = "injected", event.cycle, event.request
                entry.last_request, entry.deferred, entry.carrier = event.request, None, event
            case ev.SupplementDeferred():
                entry.deferred = event.reason
            case ev.SupplementReturned():
                entry.status, entry.returned = "returned", event.reason
                self._hide(entry.iri)
            case _:
                assert_never(event)

    def _hide(self, iri: str | None) -> None:
        turn = self.turns.get(iri or "")
        if turn is not None:
            turn.withdrawn, turn.fidelity = True, "archived"

    def _on_memory(self, event: ev.MemoryEvent, time: str) -> None:
        if not isinstance(event, ev.TurnScored):  # the memory that it was of is no more
            self.preview = None
        match event:
            case ev.PassPreviewed():
                self.preview = event
            case ev.TurnAdded():
                self._add_turn(event, time)
            case ev.PassStarted():
                self.passes[event.pass_] = PassState(
                    event.pass_, event.trigger, event.policy, event.budget, event.tokens_before
                )
            case ev.PassFinished():
                self._finish_pass(event)
            case _:
                self._change_turn(event)

    def _add_turn(self, event: ev.TurnAdded, time: str) -> None:
        turn = TurnState(
            event.iri,
            event.role,
            event.text,
            event.summary,
            event.tokens,
            time,
            is_supplement=event.is_supplement,
            standing=event.standing,
            attached=event.attached,
            calls=event.calls,
            call_id=event.call_id,
            name=event.name,
        )
        self.turns[event.iri] = turn
        if self.task_iri is None and event.role == "user":
            self.task_iri = event.iri
        self.queued.pop(event.iri, None)
        entry = self.supplements.get(event.supplement or "")
        if entry is not None:
            entry.status, entry.iri = "taken", event.iri
            turn.class_, turn.related = entry.class_, entry.related
            turn.answer, turn.older = entry.answer, entry.older

    def _change_turn(self, event: ev.TurnEvent) -> None:
        turn = self.turns.get(event.iri)
        if turn is None:
            return
        match event:
            case ev.TurnScored():
                turn.relevance_score, turn.basis = event.relevance_score, event.basis
                turn.global_sim, turn.local_sim = event.global_sim, event.local_sim
            case ev.TurnPinned():
                turn.pinned = True
            case ev.TurnUnpinned():
                turn.pinned = False
                turn.demoted = turn.is_supplement or turn.standing
            case ev.TurnFidelityChanged():
                turn.fidelity, turn.last_change = event.after, event
                turn.attached = (turn.attached or event.attached) and not event.whole
                if event.phase == "undo":
                    self.context_tokens -= event.tokens_freed
                if event.pass_ in self.passes:
                    self.passes[event.pass_].changes.append(event)
            case _:
                assert_never(event)

    def _finish_pass(self, event: ev.PassFinished) -> None:
        self.context_tokens = event.tokens_after
        done = self.passes.get(event.pass_)
        if done is not None:
            done.tokens_after, done.prefix_kept = event.tokens_after, event.prefix_kept
        for entry in self.supplements.values():
            turn = self.turns.get(entry.iri or "")
            if turn is not None and turn.fidelity == "full":
                entry.kept_through = event.pass_

    def _on_request(self, event: ev.RequestEvent) -> None:
        match event:
            case ev.CycleStarted():
                self.cycle, self.running, self.held = event.cycle, True, False
            case ev.RequestSent():
                self._send(event)
            case ev.ReplyDelta(kind="text"):
                self.reply_text += event.text
            case ev.ReplyDelta():
                self.reply_reasoning += event.text
            case ev.ReplyProgress():
                self.reply_text, self.reply_reasoning = event.text, event.reasoning
            case ev.ReplyFinished():
                self.replying, self.reply_text, self.reply_reasoning = None, "", ""
                self.usage = event.usage or self.usage
                self.prefill.answered(event)
                self.partial = None if event.outcome == "complete" else event.text
            case ev.ProviderFailed():
                self.failure = event
            case ev.TruncationSuspected():
                self.truncation = None if event.cleared else event
            case _:
                assert_never(event)

    def _send(self, event: ev.RequestSent) -> None:
        self.request, self.replying, self.failure = event, event.request, None
        self.context_tokens = event.tokens
        self.prefill.sent(event)
        self.token_factor = self._factor_of(event) or self.token_factor
        carried = {entry.iri for entry in event.manifest if entry.part == "turn"}
        for supplement in self.supplements.values():
            if supplement.status == "injected" and supplement.iri in carried:
                supplement.last_request = event.request

    def _factor_of(self, event: ev.RequestSent) -> float | None:
        """From the turns that the request has whole; None if it has none such."""
        corrected = estimated = 0
        for entry in event.manifest:
            turn = self.turns.get(entry.iri or "")
            if turn is None or entry.fidelity != "full":
                continue
            # Of a large result or input the model sees a part, though at full fidelity.
            if turn.role != "tool" and not turn.attached:
                corrected += entry.tokens
                estimated += turn.tokens
        return round(corrected / estimated * _STEPS) / _STEPS if estimated else None

    def _on_tool(self, event: ev.ToolEvent) -> None:
        if isinstance(event, ev.ToolRequested):
            status: ToolStatus = "waiting" if event.needs_approval else "running"
            self.tools[event.call] = ToolState(
                event.call, event.name, event.arguments, status, event.preview
            )
            return
        tool = self.tools.get(event.call)
        if tool is None:
            return
        if isinstance(event, ev.ToolApproval):
            tool.status = "running" if event.decision == "allow" else "denied"
            return
        if tool.status != "denied":
            tool.status = "done" if event.ok else "failed"
        tool.iri, tool.error = event.iri, event.error

    def _on_session(self, event: ev.SessionEvent | ev.UnknownEvent) -> None:
        match event:
            case ev.SessionStarted():
                self.started, self.ended, self.held = event, False, True
                # The server may be another one, or have been mended.
                self.truncation, self.prefill = None, Prefill()
            case (
                ev.TaskStarted()
                | ev.TaskRefined()
                | ev.AgentPaused()
                | ev.AgentResumed()
                | ev.TaskFinished()
            ):
                self._on_task(event)
            case ev.UserInputReceived():
                self.queued[event.iri], self.held = event.text, False
            case ev.InputClassified():
                self._classify(event)
            case ev.CoherenceChecked():
                self.provisional = event.provisional
            case ev.TopicShiftDetected():
                self.shifts.append(event)
            case ev.Notice():
                self.notices.append(event)
            case ev.SessionEnded():
                self.running, self.ended = False, True
            case ev.UnknownEvent():
                self.unknown += 1
            case _:
                assert_never(event)

    def _on_task(self, event: ev.TaskEvent) -> None:
        match event:
            case ev.TaskStarted():
                self.task, self.task_iri = event.task, event.iri or self.task_iri
            case ev.TaskRefined():
                self.task = event.task
            case ev.AgentPaused():
                self.paused = True
            case ev.AgentResumed():
                self.paused = False
            case ev.TaskFinished():
                self.running, self.paused, self.replying = False, False, None
                self.outcome, self.answer = event.outcome, event.text
                self.held = event.outcome != "done"
            case _:
                assert_never(event)

    def _classify(self, event: ev.InputClassified) -> None:
        entry = self.supplements.get(event.id or "")
        iri = event.iri
        if entry is not None:
            entry.class_, entry.suggested = event.class_, event.suggested
            iri = iri or entry.iri
        turn = self.turns.get(iri or "")
        if turn is not None:
            turn.class_, turn.standing = event.class_, event.standing
            if event.by == "user" and event.standing and event.answer is None:
                turn.demoted = False  # the later word of the user holds
        for asked in (entry, turn):
            if asked is not None:
                asked.related = event.related
                if event.answer is not None:
                    asked.answer, asked.older = event.answer, event.older


def fold(envelopes: Iterable[Envelope]) -> SessionState:
    """The state after the given envelopes."""
    state = SessionState()
    for envelope in envelopes:
        state.apply(envelope)
    return state


def state_to_wire(state: SessionState) -> dict[str, Any]:
    """The state as one JSON object."""
    wire: dict[str, Any] = plain(state)
    return wire
