"""Every error the program raises on purpose, as one tree.

GhError
├── UsageError               the caller's words are wrong: flags, settings, commands
│   └── SettingsError        a setting that does not exist or has a wrong value
├── ProviderError            a model server: its `kind` says which way it failed
│   ├── StreamInterrupted    a reply that ended without its terminal marker
│   └── ProviderUnavailable  nothing to talk to: not installed, not running, no key
├── EmbeddingError           an embedder that is down or answers nonsense
├── RecordingError           a recording that cannot be read or written
│   └── RecordingLocked      another process writes it
├── ToolError                a tool refused or failed; the agent is told
└── MemoryFullError          the fixed parts of a request do not fit the budget

A message names what failed, where, and what to do.
"""

from __future__ import annotations


class GhError(Exception):
    """The root of the tree; the screen shows its text and nothing else."""


class UsageError(GhError):
    """Wrong flags, arguments or commands."""


class SettingsError(UsageError):
    """A setting that does not exist or has a value that does not fit."""


class ProviderError(GhError):
    """A model server failed.

    Attributes:
        kind: `http`, `network`, `timeout`, `protocol`, `refused`, `overflow`,
            `rate_limited`, `interrupted` or `unavailable`.
        retry_after: seconds the server asked to wait, if it did.
        status: the HTTP status, if one came.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.status = status


class StreamInterrupted(ProviderError):
    """A reply ended without its terminal marker; what came before is kept, no tool runs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="interrupted")


class ProviderUnavailable(ProviderError):
    """No server, package or key to talk to; the message has the command that mends it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="unavailable")


class EmbeddingError(GhError):
    """An embedder is down, too slow, or returned vectors that are not usable."""


class RecordingError(GhError):
    """A recording cannot be read or written."""


class RecordingLocked(RecordingError):
    """Another process writes this recording."""


class ToolError(GhError):
    """A tool refused or failed; its text goes to the agent as the result."""


class MemoryFullError(GhError):
    """The parts that may never leave do not fit the budget."""
