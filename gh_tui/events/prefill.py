"""How the server reads prompts: what it has cached of them, and how fast it reads the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gh_tui.events.types import ReplyFinished, RequestSent

_LATEST = 8
"""Requests that the speed is measured over."""


@dataclass(slots=True)
class Prefill:
    """The prompt of the latest request in cached and fresh tokens, and the speed of reading.

    What a server says of its cache is *confirmed*, and counts all that it read, tool schemas
    too. Until it has said so, what the request shares with the one before is *estimated* to be
    cached, as far as the server's cache has held before.
    """

    cached: int = 0
    fresh: int = 0
    basis: Literal["estimated", "confirmed"] = "estimated"
    measured: list[tuple[int, int]] = field(default_factory=list)
    """(fresh tokens, milliseconds to the first piece of the reply) of the latest requests."""
    kept: int = 0
    """Tokens that the request has in common with the one before."""
    held: float = 1.0
    """The share of these that the cache had when the server last spoke of it."""

    @property
    def speed(self) -> float | None:
        """Tokens read in a second, as measured in this session."""
        tokens = sum(fresh for fresh, _ in self.measured)
        milliseconds = sum(waited for _, waited in self.measured)
        return 1000 * tokens / milliseconds if tokens and milliseconds else None

    def sent(self, event: RequestSent) -> None:
        """Take in a request."""
        self.kept = min(event.prefix_kept, event.tokens)
        self.cached = round(self.held * self.kept)
        self.fresh, self.basis = event.tokens - self.cached, "estimated"

    def answered(self, event: ReplyFinished) -> None:
        """Take in what came back."""
        usage = event.usage or {}
        if "cached_tokens" in usage:
            self.cached, read = usage["cached_tokens"], usage.get("prompt_tokens", 0)
            # Some servers count the cached tokens among those of the prompt, others beside them.
            self.fresh = read - self.cached if self.cached <= read else read
            self.basis = "confirmed"
            if self.kept:
                self.held = min(1.0, self.cached / self.kept)
        waited = event.first_ms
        if waited is None and event.chunks and not event.reasoning:  # an older recording
            waited = event.chunks[0][0]
        if waited is not None and self.fresh > 0:
            self.measured = [*self.measured, (self.fresh, waited)][-_LATEST:]
