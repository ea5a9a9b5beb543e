"""A live session against the scripted server, for tests: everything inside is the real thing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gh_tui.clock import Clock
from gh_tui.events.entries import TurnState
from gh_tui.events.envelope import Envelope
from gh_tui.events.types import Event
from gh_tui.journal.disk import Disk
from gh_tui.providers.scripted import Script, ScriptedServer
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths


@dataclass
class Live:
    """A running session, its server, and everything that it published."""

    session: Session
    server: ScriptedServer
    seen: list[Envelope] = field(default_factory=list)

    @property
    def outcome(self) -> str | None:
        """How the latest task ended."""
        return self.session.state.outcome

    def paused(self) -> bool:
        """Whether the agent waits between cycles."""
        return self.session.state.paused

    def turn(self, number: int) -> TurnState:
        """The turn that came in as the `number`th, from 1."""
        return list(self.session.state.turns.values())[number - 1]

    def events(self, *kinds: type) -> list[Any]:
        """The events of these kinds, in order."""
        return [e.event for e in self.seen if isinstance(e.event, kinds)]

    async def until(self, wanted: Callable[[Event], bool], seconds: float = 10.0) -> Any:
        """The first event, past or future, that `wanted` accepts."""
        checked = 0
        async with asyncio.timeout(seconds):
            while True:
                while checked < len(self.seen):
                    event = self.seen[checked].event
                    checked += 1
                    if wanted(event):
                        return event
                await asyncio.sleep(0.002)

    def requests(self) -> list[list[dict[str, Any]]]:
        """The messages of each chat request that reached the server."""
        return [
            request.body["messages"]
            for request in self.server.requests
            if request.path.endswith("/chat/completions")
        ]

    def texts(self, request: int = -1) -> list[str]:
        """The contents of a request's user messages."""
        messages = self.requests()[request]
        return [message["content"] for message in messages if message["role"] == "user"]


@asynccontextmanager
async def live(
    script: Script,
    home: Path,
    mind: Mind,
    *,
    settings: Sequence[str] = (),
    clock: Clock | None = None,
    interactive: bool = False,
    key: str = "",
    resume: Path | None = None,
    disk: Disk | None = None,
    **server_options: Any,
) -> AsyncIterator[Live]:
    """Run a session in `home` against `script`; settings are `key=value` words."""
    workspace = home / "workspace"
    workspace.mkdir(exist_ok=True)
    async with ScriptedServer(script, **server_options) as server:
        flags = [
            "provider.name=openai",
            f"provider.base_url={server.base_url}",
            "provider.model=scripted",
            "provider.retries=0",
            *settings,
        ]
        session = Session(
            load_settings(None, {}, flags),
            Paths(home, home),
            workspace,
            interactive=interactive,
            clock=clock,
            mind=mind,
            resume=resume,
            environ={"OPENAI_API_KEY": key},
            disk=disk,
        )
        running = Live(session, server)
        session.bus.subscribe(running.seen.append)
        try:
            await session.start()
            yield running
        finally:
            await session.close()
