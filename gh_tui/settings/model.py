"""Every setting with its default; a setting is named `section.field`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

PolicyName = Literal["fusion", "classic", "published", "recency"]


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Which model answers."""

    name: str | None = None
    """`openai`, `local` or `scripted`; None lets the program find one."""
    base_url: str | None = None
    model: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    """The environment variable that holds the key; the key itself is never a setting."""
    tool_protocol: Literal["native", "schema"] | None = None
    """None takes the provider's own default."""
    alternating_roles: bool = False
    """Join adjacent user messages for servers that refuse them."""
    send_reasoning: bool = False
    """Give the model's reasoning back to servers that want it with each earlier answer."""
    model_path: Path | None = None
    """A GGUF file for the provider `local` instead of the one it ships."""
    script: Path | None = None
    """The script of the provider `scripted`."""
    first_byte_seconds: float = 300.0
    idle_seconds: float = 120.0
    """Longest wait between two data events of a stream; keep-alives do not count."""
    max_tokens: int | None = None
    """Longest answer, in tokens."""
    temperature: float | None = None
    retries: int = 3
    """Tries after the first, before any content came."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How much the model may be sent."""

    budget: int | None = None
    """Tokens of an assembled request; None takes what the window allows."""
    window: int | None = None
    """The model's window in tokens, where the server cannot say it."""
    reserve: int = 1024
    """Tokens kept free for the answer."""
    max_result_tokens: int = 2000
    """A larger tool result is shown as head, tail and IRI."""


@dataclass(frozen=True, slots=True)
class EvictionSettings:
    """When and how turns lose fidelity."""

    policy: PolicyName = "fusion"
    relevance_threshold: float = 0.3
    safe_window_seconds: float = 300.0
    beta: float = 0.7
    """Share of the current query in the relevance term; the rest is relevance_score."""
    topic_shift_threshold: float = 0.4
    """After a shift of topic: turns that are at least so similar to the new topic stay."""
    preserve_recent: int = 4
    keep_tool_results: int = 10
    max_messages: int = 200
    high_watermark: float = 0.85
    low_watermark: float = 0.60
    eager: bool = False


@dataclass(frozen=True, slots=True)
class CoherenceSettings:
    """The background topic watch."""

    rule: Literal["contrast", "adjacent", "learned"] = "contrast"
    """`learned` knows the native embedder only; with another one `contrast` takes its place."""
    conversation: Literal["session", "dialogue"] = "session"
    """A session in which most inputs serve one task, or a dialogue that wanders."""
    interval_seconds: float = 120.0
    each_input: bool = True
    """Also look after each input, not only on the schedule."""


@dataclass(frozen=True, slots=True)
class StandingSettings:
    """The block of standing instructions."""

    max: int | None = None
    """How many at most; None is 3 for `local` and as many as fit elsewhere."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What the agent's tools may do."""

    approval_seconds: float = 120.0
    """Without a terminal: how long to wait for an approval before it counts as denied."""
    max_cycles: int = 50
    """Cycles of one task before the agent has to stop."""


@dataclass(frozen=True, slots=True)
class SupplementSettings:
    """The queue of supplementary inputs."""

    limit: int = 100


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """How the app looks."""

    theme: str = "gliding-horse-dark"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one session."""

    provider: ProviderSettings = field(default_factory=ProviderSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    eviction: EvictionSettings = field(default_factory=EvictionSettings)
    coherence: CoherenceSettings = field(default_factory=CoherenceSettings)
    standing: StandingSettings = field(default_factory=StandingSettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
    supplements: SupplementSettings = field(default_factory=SupplementSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
