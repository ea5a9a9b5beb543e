"""Going on with a recorded session: its parts are filled, and what a crash left open is closed.

Nothing runs by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile

from gh_tui.agent.coherence import CoherenceWatch
from gh_tui.agent.inbox import Inbox, QueuedInput
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.scoring import Scorer
from gh_tui.agent.supplements import SupplementDesk
from gh_tui.agent.toolbox import Toolbox
from gh_tui.agent.turns import TurnWriter
from gh_tui.clock import Clock
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.entries import TurnState
from gh_tui.memory.l0 import L0
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.relevance import RelevanceScore
from gh_tui.memory.restored import Restored
from gh_tui.memory.turn import L1Turn, new_turn
from gh_tui.text import counted

_LONG_AGO = 1e9
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What is filled."""

    bus: EventBus
    clock: Clock
    l1: L1Session
    l0: L0
    scorer: Scorer
    memory: WorkingMemory
    turns: TurnWriter
    desk: SupplementDesk
    inbox: Inbox
    toolbox: Toolbox
    coherence: CoherenceWatch


async def revive(parts: Parts, restored: Restored) -> None:
    """Fill `parts` from a recording and close what was open when the program ended."""
    _fill(parts, restored)
    await parts.bus.publish_all(parts.l1.mend(parts.memory.factor))
    if restored.state.task is not None:
        await parts.scorer.set_task(restored.state.task)
    await parts.coherence.restore(restored.rebased())
    await _close_open_ends(parts, restored)
    _wait_again(parts, restored)


def _fill(parts: Parts, restored: Restored) -> None:
    state = restored.state
    turns = [_turn(parts, restored, turn) for turn in state.turns.values()]
    passes = {number: done.changes for number, done in state.passes.items()}
    parts.l1.restore(turns, exempt=restored.exempt, passes=passes, chosen=restored.chosen)
    for turn in takewhile(lambda turn: turn.role != "assistant", reversed(turns)):
        if turn.role == "user":
            parts.l1.hold(turn.iri)
    for iri, added in restored.added.items():
        parts.l0.add(added)
        if iri in restored.vectors:
            parts.l0.add_vector(iri, restored.vectors[iri])
        if state.turns[iri].withdrawn:
            parts.l0.withdraw(iri)
    parts.turns.latest_agent = next((t for t in reversed(turns) if t.role == "assistant"), None)
    for turn in turns:
        if turn.role == "user":
            parts.scorer.remember(_score(state.turns[turn.iri]), turn.embedding)
    task_iri = state.task_iri
    if state.task is not None and task_iri is not None and task_iri in parts.l1:
        first = parts.l1.turn(task_iri)
        parts.memory.refined = None if state.task.what == first.text else state.task


def _wait_again(parts: Parts, restored: Restored) -> None:
    state = restored.state
    for iri, text in state.queued.items():
        parts.inbox.restore(QueuedInput(iri, text, iri in restored.attached))
    for entry in state.pending:
        parts.desk.restore(entry.id, entry.text, entry.iri, attached=entry.attached)


async def _close_open_ends(parts: Parts, restored: Restored) -> None:
    state = restored.state
    if restored.bad_lines:
        text = (
            f"{counted(restored.bad_lines, 'line')} of the recording left out as damaged; the file "
            "keeps what is there. Something may be missing here: look before you go on."
        )
        await parts.bus.publish(ev.Notice(level="warning", text=text))
    if restored.answering is not None:
        await _close_reply(parts, restored, restored.answering)
    for call in restored.open_calls.values():
        await parts.toolbox.close_unfinished(call, begun=call.id in restored.requested)
    if state.running:
        await parts.bus.publish(
            ev.TaskFinished(outcome="failed", text="the program ended while the agent worked")
        )
    elif state.paused:  # a pause does not outlive the program
        await parts.bus.publish(ev.AgentResumed(by="restart"))
    if state.pending or state.queued:
        count = len(state.pending) + len(state.queued)
        await parts.bus.publish(
            ev.Notice(
                level="info",
                text=f"Not delivered before the program ended: {counted(count, 'input')}. What "
                "waits goes with your next input, or now with /resume; /withdraw takes it back.",
            )
        )


async def _close_reply(parts: Parts, restored: Restored, request: int) -> None:
    partial = restored.partial
    text = "" if partial is None else partial.text
    reasoning = "" if partial is None else partial.reasoning
    await parts.bus.publish(
        ev.ReplyFinished(request=request, outcome="interrupted", text=text, reasoning=reasoning)
    )
    if text:
        await parts.turns.add_partial(text, "interrupted: the program ended")


def _turn(parts: Parts, restored: Restored, state: TurnState) -> L1Turn:
    added = restored.added[state.iri]
    created = _seconds(parts.clock, restored.created.get(state.iri))
    accessed = _seconds(parts.clock, restored.accessed.get(state.iri))
    turn = new_turn(
        state.iri,
        state.role,
        state.text,
        created_at=created,
        summary=added.summary,
        calls=added.calls,
        call_id=added.call_id,
        name=added.name,
        provider_blocks=added.provider_blocks,
        is_task=state.iri == restored.state.task_iri,
        is_supplement=state.is_supplement,
        standing=state.standing,
        attached=state.attached,
    )
    return replace(
        turn,
        last_access=max(created, accessed),
        embedding=restored.vectors.get(state.iri),
        relevance_score=state.relevance_score,
        pinned=state.pinned,
        demoted=state.demoted,
        withdrawn=state.withdrawn,
        replaced_by=restored.replaced_by(state.iri),
        fidelity=state.fidelity,
    )


def _seconds(clock: Clock, moment: datetime | None) -> float:
    """A recorded moment on the session's monotonic clock; long ago if unknown."""
    if moment is None:
        return clock.monotonic() - _LONG_AGO
    return clock.monotonic() - max(0.0, (clock.now() - moment).total_seconds())


def _score(turn: TurnState) -> RelevanceScore:
    return RelevanceScore(turn.relevance_score, turn.global_sim, turn.local_sim, turn.basis)
