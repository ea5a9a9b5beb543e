"""The conversation as rows, folded from events: what there is to show, not how.

Rows are kept for the whole session; the pane mounts widgets for the newest of them only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from gh_tui.events import types as ev
from gh_tui.events.entries import ToolStatus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.memory.tokens import scale

ReplyStatus = Literal["waiting", "streaming", "complete", "interrupted", "cancelled"]
Level = Literal["info", "memory", "shift", "warning", "error", "end"]


@dataclass(slots=True)
class InputRow:
    """Something the user said."""

    text: str
    time: str
    iri: str | None = None
    supplement: str | None = None
    waits: bool = False
    """Accepted, but not yet a turn."""
    returned: bool = False
    """Handed back before the model saw it."""


@dataclass(slots=True)
class ReplyRow:
    """One reply of the model."""

    request: int
    text: str = ""
    reasoning: str = ""
    status: ReplyStatus = "waiting"


@dataclass(slots=True)
class ToolRow:
    """One call of a tool and its result."""

    call: str
    name: str
    arguments: dict[str, Any]
    status: ToolStatus
    preview: str = ""
    result: str = ""
    error: str = ""
    tokens: int | None = None


@dataclass(slots=True)
class NoteRow:
    """A line that the program itself says."""

    level: Level
    text: str


Row = InputRow | ReplyRow | ToolRow | NoteRow


@dataclass(slots=True)
class Transcript:
    """All rows, and which of them have changed since `drain` was last called."""

    rows: list[Row] = field(default_factory=list)
    _changed: dict[int, Row] = field(default_factory=dict)
    _inputs: dict[str, InputRow] = field(default_factory=dict)
    _replies: dict[int, ReplyRow] = field(default_factory=dict)
    _tools: dict[str, ToolRow] = field(default_factory=dict)
    _hidden: set[int] = field(default_factory=set)
    """Requests that are not the agent's own."""

    def drain(self) -> list[Row]:
        """The rows that changed or were added since the last call, in order of change."""
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    def note(self, level: Level, text: str) -> None:
        """Add a line of the program's own."""
        self._add(NoteRow(level, text))

    def apply(self, envelope: Envelope, state: SessionState) -> None:
        """Take in one event; `state` is the state right after it."""
        match envelope.event:
            case ev.UserInputReceived() as event:
                if not state.running and len(state.queued) == 1:
                    self._add_input(InputRow(event.text, envelope.time, event.iri, waits=True))
            case ev.SupplementReturned(id=iri) if iri in self._inputs:
                row = self._inputs[iri]
                row.waits, row.returned = False, True
                self._touch(row)
            case ev.TurnAdded() as event:
                self._on_turn(event, envelope.time, scale(event.tokens, state.token_factor))
            case (
                ev.RequestSent() | ev.ReplyDelta() | ev.ReplyProgress() | ev.ReplyFinished()
            ) as event:
                self._on_reply(event, state)
            case ev.ToolRequested() | ev.ToolApproval() | ev.ToolFinished() as event:
                self._on_tool(event, state)
            case event:
                text = _note(event, state)
                if text is not None:
                    self.note(*text)

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        self._changed[id(row)] = row

    def _touch(self, row: Row) -> None:
        self._changed[id(row)] = row

    def _add_input(self, row: InputRow) -> None:
        if row.iri is not None:
            self._inputs[row.iri] = row
        self._add(row)

    def _on_turn(self, event: ev.TurnAdded, time: str, tokens: int) -> None:
        if event.role == "user":
            row = self._inputs.get(event.iri)
            if row is None:
                self._add_input(InputRow(event.text, time, event.iri, event.supplement))
            else:
                row.waits = False
                self._touch(row)
        elif event.role == "tool" and event.call_id in self._tools:
            tool = self._tools[event.call_id]
            tool.result, tool.tokens = event.text, tokens
            self._touch(tool)

    def _on_reply(
        self,
        event: ev.RequestSent | ev.ReplyDelta | ev.ReplyProgress | ev.ReplyFinished,
        state: SessionState,
    ) -> None:
        if isinstance(event, ev.RequestSent) and event.purpose != "agent":
            self._hidden.add(event.request)
        if event.request in self._hidden:
            return
        row = self._replies.get(event.request)
        if row is None:
            row = self._replies[event.request] = ReplyRow(event.request)
            self.rows.append(row)
        match event:
            case ev.ReplyDelta(kind="text"):
                row.text, row.status = row.text + event.text, "streaming"
            case ev.ReplyDelta():
                row.reasoning, row.status = row.reasoning + event.text, "streaming"
            case ev.ReplyProgress():
                row.text, row.reasoning, row.status = event.text, event.reasoning, "streaming"
            case ev.ReplyFinished():
                row.text, row.reasoning, row.status = event.text, event.reasoning, event.outcome
            case ev.RequestSent():
                row.status = "waiting"
        self._touch(row)

    def _on_tool(
        self, event: ev.ToolRequested | ev.ToolApproval | ev.ToolFinished, state: SessionState
    ) -> None:
        if isinstance(event, ev.ToolRequested):
            row = ToolRow(event.call, event.name, event.arguments, "running", event.preview)
            self._tools[event.call] = row
            self._add(row)
        found, tool = self._tools.get(event.call), state.tools.get(event.call)
        if found is None or tool is None:
            return
        found.status = tool.status
        found.error = tool.error or ""
        self._touch(found)


def _note(event: ev.Event, state: SessionState) -> tuple[Level, str] | None:
    match event:
        case ev.Notice():
            return event.level, event.text
        case ev.ProviderFailed():
            again = f" · tried again at {clock(event.retry_at)}" if event.retry_at else ""
            return "error", f"the model server failed ({event.kind}): {event.message}{again}"
        case ev.TruncationSuspected():
            if event.cleared:
                return "info", "the server reads prompts whole: its counts follow them"
            return "warning", (
                f"the server says it read {event.reported:,} of {event.sent:,} tokens: "
                "raise its context length, or lower context.budget"
            )
        case ev.AgentPaused():
            return "info", "paused before the next cycle: F8 or /resume goes on"
        case ev.TaskFinished(outcome="failed"):
            return _failure_note(event, state)
        case ev.TaskFinished(outcome="cancelled"):
            return "end", "the task was stopped"
        case ev.TopicShiftDetected():
            return "shift", "topic shift · /undo brings back what goes · /rebase makes it the task"
        case ev.InputClassified(related=str(related)):
            return "info", _question(event, related, state)
        case ev.PassFinished():
            return _pass_note(event, state)
        case ev.SessionEnded():
            return "end", "the session has ended"
        case _:
            return None


def _failure_note(event: ev.TaskFinished, state: SessionState) -> tuple[Level, str] | None:
    if state.failure is not None and state.failure.message == event.text:
        return None  # the failed request has said it
    return "error", f"the task failed: {event.text}"


def _question(event: ev.InputClassified, related: str, state: SessionState) -> str:
    name = event.id or (event.iri or "").rpartition("/")[2]
    older = state.turns.get(related)
    quote = " ".join(older.text.split())[:60] if older is not None else ""
    number = related.rpartition("/")[2]
    answers = f"/replaces {name}, /adds {name} or /unrelated {name}?"
    return f"close to the older #{number} “{quote}”: {answers}"


def _pass_note(event: ev.PassFinished, state: SessionState) -> tuple[Level, str] | None:
    done = state.passes.get(event.pass_)
    if done is None:
        return None
    counts: dict[str, int] = {}
    for change in done.changes:
        name = "attached" if change.attached else change.after
        counts[name] = counts.get(name, 0) + 1
    did = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing to do"
    return "memory", (
        f"pass {event.pass_} ({done.trigger}) · {did} · "
        f"{done.tokens_before:,} → {event.tokens_after:,} tokens"
    )


def clock(time: str) -> str:
    """Hours and minutes, local, of an RFC 3339 time; the text itself if it is none."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%H:%M")
    except ValueError:
        return time
