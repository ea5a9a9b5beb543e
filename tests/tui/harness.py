"""An edge fake of the live session: a real bus, real events, no agent behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from gh_tui.agent.attachments import Oversize
from gh_tui.clock import ManualClock
from gh_tui.errors import GhError, UsageError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.values import ManifestEntry, Role, Task, ToolCall
from gh_tui.tui.app import GlidingHorseApp

BOMB = "[/x][b[int][@click=app.quit]go[/] \x1b]52;c;aGk=\x07\x1b[31m\x9b2J‮evil​\U000e0041 \ud800"
"""Markup, OSC 52, CSI, C1, a bidi override, a zero-width space, a tag and a lone surrogate."""


class ScriptedSession:
    """Publishes what the test tells it to; `submit` and the rest only note and announce."""

    def __init__(self) -> None:
        self.id = "s1"
        self.bus = EventBus("s1", ManualClock())
        self.past: list[Envelope] = []
        self.busy = False
        self.submitted: list[str] = []
        self.queued: list[str] = []
        self.withdrawn: list[str] = []
        self.approvals: list[tuple[str, bool]] = []
        self.pending: dict[str, str] = {}
        self.cancelled = 0
        self.closed = False
        self.refuse: str | None = None
        self.large: Oversize | None = None
        """What `oversize` says of a text that is not a command."""
        self.measuring = asyncio.Event()
        """Closed, `oversize` does not return."""
        self.measuring.set()
        self.attached: list[bool] = []
        """The wish that came with each accepted input."""
        self.answer: str | None = None
        self.gate = asyncio.Event()
        """Closed, `submit` does not return."""
        self.gate.set()
        self.start_gate = asyncio.Event()
        self.start_gate.set()
        self.progress: Callable[[str], None] | None = None
        self.start_error: GhError | None = None
        self._turn = 0
        self._supplement = 0

    async def start(self, progress: Callable[[str], None] | None = None) -> None:
        self.progress = progress
        if progress is not None:
            progress("looking for a model")
            progress("local model: loading 3/22")
        await self.start_gate.wait()
        if self.start_error is not None:
            raise self.start_error
        await self.started()

    async def oversize(self, text: str) -> Oversize | None:
        await self.measuring.wait()
        return None if text.startswith("/") else self.large

    async def submit(self, text: str, *, attach: bool = False) -> str | None:
        await self.gate.wait()
        if self.refuse is not None:
            raise UsageError(self.refuse)
        self.submitted.append(text)
        self.attached.append(attach)
        if text.startswith("/"):
            return self.answer
        if self.busy:
            await self.supplement(text)
        else:
            await self.say(text)
        return self.answer

    async def queue(self, text: str, *, attach: bool = False) -> None:
        self.queued.append(text)
        self.attached.append(attach)
        await self.bus.publish(ev.UserInputReceived(iri=self.iri(), text=text))

    async def cancel(self, *, by_key: bool = False) -> list[str]:
        self.cancelled += 1
        self.busy = False
        texts = list(self.pending.values())
        for name, text in self.pending.items():
            await self.bus.publish(ev.SupplementReturned(id=name, text=text, reason="escape"))
        self.pending.clear()
        await self.bus.publish(ev.TaskFinished(outcome="cancelled", text=""))
        return texts

    async def approve(self, call: str, allow: bool) -> None:
        self.approvals.append((call, allow))
        await self.bus.publish(ev.ToolApproval(call=call, decision="allow" if allow else "deny"))

    async def withdraw(self, name: str) -> str:
        self.withdrawn.append(name)
        text = self.pending.pop(name)
        await self.bus.publish(ev.SupplementReturned(id=name, text=text, reason="withdrawn"))
        return text

    async def full_text(self, iri: str) -> str:
        return f"the whole text of {iri} {BOMB}"

    async def close(self) -> None:
        self.closed = True

    # What tests publish

    def iri(self) -> str:
        self._turn += 1
        return f"iri://session/s1/turn/{self._turn}"

    async def started(self, reason: str = "nothing else answers here") -> None:
        await self.bus.publish(
            ev.SessionStarted(
                provider="local",
                model="qwen2.5-coder-1.5b",
                window=4096,
                window_source="server",
                embedder="native",
                settings={},
                reason=reason,
            )
        )

    async def say(self, text: str) -> str:
        iri = self.iri()
        await self.bus.publish(ev.UserInputReceived(iri=iri, text=text))
        if self._turn == 1:
            await self.bus.publish(ev.TaskStarted(task=Task(what=text), by="rules"))
        await self.turn("user", text, iri=iri)
        return iri

    async def turn(
        self,
        role: Role,
        text: str,
        *,
        iri: str | None = None,
        call_id: str | None = None,
        calls: tuple[ToolCall, ...] = (),
        supplement: str | None = None,
        score: float = 0.7,
    ) -> str:
        iri = iri or self.iri()
        tokens = max(1, len(text) // 4)
        await self.bus.publish(
            ev.TurnAdded(
                iri=iri,
                role=role,
                text=text,
                summary=text[:40],
                tokens=tokens,
                call_id=call_id,
                calls=calls,
                supplement=supplement,
                is_supplement=supplement is not None,
            )
        )
        await self.bus.publish(
            ev.TurnScored(
                iri=iri, relevance_score=score, global_sim=score, local_sim=score, basis="both"
            )
        )
        return iri

    async def supplement(self, text: str) -> str:
        self._supplement += 1
        name = f"s{self._supplement}"
        self.pending[name] = text
        await self.bus.publish(ev.SupplementaryInputReceived(id=name, text=text))
        await self.bus.publish(
            ev.SupplementScored(
                id=name, relevance_score=0.62, global_sim=0.6, local_sim=0.7, basis="both"
            )
        )
        return name

    async def deliver(
        self, name: str, *, cycle: int, request: int, content: str | None = None
    ) -> str:
        """Take, send and inject a pending supplement."""
        iri = await self.turn("user", self.pending.pop(name), supplement=name)
        await self.request(request, cycle=cycle, iris=(iri,))
        await self.bus.publish(
            ev.SupplementInjected(
                id=name,
                iri=iri,
                cycle=cycle,
                request=request,
                content=content,
                place=2,
                messages=2,
            )
        )
        return iri

    async def fail(self, why: str = "the stream broke") -> None:
        """The task ends with an error; what is queued waits."""
        self.busy = False
        await self.bus.publish(ev.TaskFinished(outcome="failed", text=why))

    async def request(self, request: int, *, cycle: int = 1, iris: tuple[str, ...] = ()) -> None:
        self.busy = True
        await self.bus.publish(ev.CycleStarted(cycle=cycle))
        manifest = (
            ManifestEntry(None, "system", "system", "full", 300),
            *(ManifestEntry(iri, "turn", "user", "full", 12) for iri in iris),
        )
        await self.bus.publish(
            ev.RequestSent(
                request=request,
                cycle=cycle,
                purpose="agent",
                manifest=manifest,
                tokens=812,
                tokens_basis="estimated",
                budget=1500,
            )
        )

    async def stream(self, request: int, *pieces: str, kind: str = "text") -> None:
        for piece in pieces:
            await self.bus.publish(
                ev.ReplyDelta(
                    request=request, kind="text" if kind == "text" else "reasoning", text=piece
                )
            )

    async def reply(self, request: int, text: str, *, reasoning: str = "") -> None:
        await self.bus.publish(
            ev.ReplyFinished(request=request, outcome="complete", text=text, reasoning=reasoning)
        )
        await self.turn("assistant", text)

    async def finish(self, text: str = "") -> None:
        self.busy = False
        await self.bus.publish(ev.TaskFinished(outcome="done", text=text))

    async def tool(self, call: str, name: str, result: str, *, approval: bool = False) -> None:
        await self.bus.publish(
            ev.ToolRequested(
                call=call, name=name, arguments={"path": "app/config.toml"}, needs_approval=approval
            )
        )
        if not approval:
            iri = await self.turn("tool", result, call_id=call)
            await self.bus.publish(
                ev.ToolFinished(call=call, name=name, ok=True, iri=iri, tokens=len(result) // 4)
            )


def app_with(
    session: ScriptedSession,
    *,
    task: str = "",
    samples: Callable[[], list[tuple[Path, str]]] | None = None,
) -> GlidingHorseApp:
    async def open_session() -> ScriptedSession:
        return session

    return GlidingHorseApp(open_session, task=task, samples=samples)
