"""What the screen asks of a live session and of a recording that is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gh_tui.agent.attachments import Oversize
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope


class LiveSession(Protocol):
    """A session that a person works in."""

    @property
    def id(self) -> str:
        """The session's name in its recording."""
        ...

    @property
    def bus(self) -> EventBus:
        """Where its events appear."""
        ...

    @property
    def past(self) -> Sequence[Envelope]:
        """What a session that is gone on with had recorded before."""
        ...

    @property
    def busy(self) -> bool:
        """Whether the agent works: then Enter makes a supplement."""
        ...

    async def start(self, progress: Callable[[str], None] | None = None) -> None:
        """Choose the provider and warm the models.

        Raises:
            ProviderUnavailable: with what is missing and the command that brings it.
        """
        ...

    async def oversize(self, text: str) -> Oversize | None:
        """What there is to say of a text that is too large to be sent whole unasked."""
        ...

    async def submit(self, text: str, *, attach: bool = False) -> str | None:
        """What Enter does; returns when it is durable, perhaps with a line to show.

        Raises:
            GhError: if it was not accepted.
        """
        ...

    async def queue(self, text: str, *, attach: bool = False) -> None:
        """Accept an input that runs after the present task."""
        ...

    async def cancel(self, *, by_key: bool = False) -> list[str]:
        """Stop the agent; returns the texts that it had not taken, in order."""
        ...

    async def approve(self, call: str, allow: bool) -> None:
        """Answer a tool that waits for approval."""
        ...

    async def withdraw(self, name: str) -> str:
        """Take back a supplement, or a queued input by its IRI; returns its text.

        Raises:
            UsageError: if a request has carried it.
        """
        ...

    async def full_text(self, iri: str) -> str:
        """The whole text of a turn, from the archive."""
        ...

    async def close(self) -> None:
        """Stop the agent, close the recording."""
        ...


class Recording(Protocol):
    """A recording that plays itself on a bus."""

    @property
    def bus(self) -> EventBus:
        """Where its events appear again."""
        ...

    @property
    def title(self) -> str:
        """What the recording is about; foreign text."""
        ...

    @property
    def total(self) -> int:
        """How many records can be read."""
        ...

    @property
    def position(self) -> int:
        """How many records have been played."""
        ...

    @property
    def playing(self) -> bool:
        """Whether it plays by itself."""
        ...

    @property
    def speed(self) -> float:
        """1.0 is the recorded pace."""
        ...

    @property
    def bad_lines(self) -> int:
        """Lines of the file that could not be read."""
        ...

    async def run(self) -> None:
        """Play to the end, obeying `play`, `pause` and `set_speed`."""
        ...

    def play(self) -> None:
        """Go on."""
        ...

    def pause(self) -> None:
        """Hold still."""
        ...

    async def step(self) -> None:
        """Play one record."""
        ...

    def set_speed(self, speed: float) -> None:
        """Change the pace."""
        ...

    async def submit(self, text: str) -> str | None:
        """Pin, recall or undo on the replay's own state."""
        ...
