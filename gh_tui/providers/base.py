"""What a model server is to the rest of the program: messages in, typed deltas out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from gh_tui.events.values import ToolCall

MessageRole = Literal["system", "user", "assistant", "tool"]
ToolProtocol = Literal["native", "schema"]
WindowSource = Literal["server", "configured", "guessed"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, independent of any wire."""

    role: MessageRole
    text: str
    calls: tuple[ToolCall, ...] = ()
    """The tool calls of an assistant message, in the order the model gave them."""
    call_id: str | None = None
    """For a tool message: the id of the call that it answers."""
    name: str | None = None
    """For a tool message: the name of the tool."""
    blocks: tuple[dict[str, Any], ...] = ()
    """What the provider wants back byte-equal (`Completed.blocks` of that reply)."""
    iri: str | None = None
    """Where the text came from; never sent."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; `cached_tokens` is None when it does not say."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The attempt failed before any content; the next one starts after `delay_seconds`."""

    kind: str
    message: str
    delay_seconds: float


@dataclass(frozen=True, slots=True)
class Opened:
    """The server accepted the request: status 2xx, a content type that can be read."""

    messages: tuple[Message, ...] = ()
    """What it accepted, with every change that was made for this server but the joining."""
    joined: bool = False
    """Adjacent user messages went as one."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The terminal marker came: the only delta from which tools may run; always the last."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    usage: Usage | None
    finish_reason: str
    """As the server gave it (`stop`, `tool_calls`, `length`, ...), or empty."""
    blocks: tuple[dict[str, Any], ...] = ()
    """What must go back with this reply in `Message.blocks`."""


Delta = Retrying | Opened | TextDelta | ReasoningDelta | Completed


class ChatProvider(Protocol):
    """A model that answers a list of messages with a stream of deltas."""

    @property
    def name(self) -> str:
        """The provider's name in settings: `openai`, `local`, ..."""
        ...

    @property
    def model(self) -> str:
        """The model's name on the server."""
        ...

    @property
    def tool_protocol(self) -> ToolProtocol:
        """How this model is asked for tools."""
        ...

    async def window(self) -> tuple[int, WindowSource]:
        """The context window in tokens, and who says so. Never raises for a silent server."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        schema: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Send one request and yield its reply.

        The order is `Retrying`* `Opened` (`TextDelta` | `ReasoningDelta`)* `Completed`; more
        `Retrying` and `Opened` may follow an `Opened` while no content has come. Use it under
        `contextlib.aclosing`, so that leaving the loop closes the connection at once; so does
        cancelling the task.

        Args:
            messages: a valid order (`wire.validate_order`); it is checked before sending.
            tools: offered to the model natively; empty for none.
            max_tokens: upper limit of the answer, or the server's default.
            temperature: 0 to 2, or the server's default.
            schema: a JSON schema that the answer must follow.

        Raises:
            StreamInterrupted: the reply ended without its terminal marker; the text so far
                was yielded.
            ProviderError: anything else that the server or the network did wrong.
        """
        ...

    async def aclose(self) -> None:
        """Close connections and child processes; may be called twice."""
        ...
