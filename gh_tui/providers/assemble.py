"""One reply put together from the chunks of an OpenAI-compatible stream, in all their variety."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gh_tui.errors import ProviderError
from gh_tui.providers.base import Completed, ReasoningDelta, TextDelta, Usage
from gh_tui.providers.calls import CallAssembler, without_surrogates
from gh_tui.providers.failures import from_error_object
from gh_tui.providers.wire import FIELDS_BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


class ReplyAssembler:
    """Takes parsed chunks in order; `complete` is true once a terminal marker came.

    What a chunk lacks or has too much of is ignored: no choices, a null delta, unknown fields.
    """

    def __init__(self, *, keep_reasoning: bool = False) -> None:
        self._keep_reasoning = keep_reasoning
        self._text = _Pieces()
        self._reasoning = _Pieces()
        self._reasoning_key = _REASONING_KEYS[0]
        self._calls = CallAssembler()
        self._usage: dict[str, int] = {}
        self._finish = ""
        self._done = False
        self.pieces = 0
        """How many pieces of content came: of text, reasoning or a call."""

    @property
    def complete(self) -> bool:
        """A finish reason or `[DONE]` came."""
        return self._done or bool(self._finish)

    @property
    def closed(self) -> bool:
        """`[DONE]` came: nothing follows."""
        return self._done

    def done(self) -> None:
        """The stream's own end marker came."""
        self._done = True

    def take(self, chunk: Any) -> Iterator[TextDelta | ReasoningDelta]:
        """Add one chunk, or one whole `chat.completion`, and yield what it adds.

        Raises:
            ProviderError: the chunk is an error object, or the answer was filtered.
        """
        if not isinstance(chunk, dict):
            return
        if chunk.get("error"):
            raise from_error_object(chunk["error"])
        self._count(chunk)
        for choice in _dicts(chunk.get("choices")):
            if choice.get("index") in (None, 0):
                yield from self._choice(choice)

    def result(self) -> Completed:
        """The whole reply; call it only when `complete`."""
        reasoning = self._reasoning.joined
        keep = self._keep_reasoning and reasoning
        return Completed(
            text=self._text.joined,
            reasoning=reasoning,
            calls=self._calls.result(cut=self._finish == "length"),
            usage=_usage(self._usage),
            finish_reason=self._finish,
            blocks=({"type": FIELDS_BLOCK, self._reasoning_key: reasoning},) if keep else (),
        )

    def _choice(self, choice: dict[str, Any]) -> Iterator[TextDelta | ReasoningDelta]:
        if choice.get("error"):
            raise from_error_object(choice["error"])
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if reason == "content_filter":
            raise ProviderError(
                "the provider stopped the answer with its content filter", kind="refused"
            )
        if isinstance(reason, str) and reason:
            self._finish = reason

    def _delta(self, delta: dict[str, Any]) -> Iterator[TextDelta | ReasoningDelta]:
        text, thought = _content(delta.get("content"))
        for key in _REASONING_KEYS:
            value = delta.get(key)
            if isinstance(value, str) and value:
                # Some servers send the same text under two names.
                thought, self._reasoning_key = value, key
                break
        if isinstance(delta.get("refusal"), str):
            text += delta["refusal"]
        if thought := self._reasoning.add(thought):
            self.pieces += 1
            yield ReasoningDelta(thought)
        if text := self._text.add(text):
            self.pieces += 1
            yield TextDelta(text)
        for fragment in _dicts(delta.get("tool_calls")):
            self.pieces += 1
            self._calls.add(fragment)

    def _count(self, chunk: dict[str, Any]) -> None:
        """Note usage wherever it stands; counts are running totals, so the largest is right."""
        places = [chunk, *_dicts(chunk.get("choices")), *_dicts([chunk.get("x_groq")])]
        for place in places:
            usage = place.get("usage")
            if isinstance(usage, dict):
                self._note("prompt", usage.get("prompt_tokens"))
                self._note("completion", usage.get("completion_tokens"))
                self._note("cached", usage.get("cached_tokens"))
                self._note("cached", usage.get("prompt_cache_hit_tokens"))
                for details in _dicts([usage.get("prompt_tokens_details")]):
                    self._note("cached", details.get("cached_tokens"))
        for timings in _dicts([chunk.get("timings")]):
            self._note("cached", timings.get("cache_n"))

    def _note(self, name: str, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            self._usage[name] = max(int(value), self._usage.get(name, 0))


class _Pieces:
    """Text that comes in pieces, which may split a surrogate pair."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    @property
    def joined(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> str:
        """What can be shown now: valid Unicode, perhaps empty."""
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = without_surrogates(text)
        if text:
            self._pieces.append(text)
        return text


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _content(value: Any) -> tuple[str, str]:
    """Text and reasoning of a `content`, which may also be a list of typed parts."""
    if isinstance(value, str):
        return value, ""
    text = thought = ""
    for part in _dicts(value):
        if isinstance(part.get("text"), str):
            text += part["text"]
        elif "thinking" in part:
            inner = part["thinking"]
            thought += inner if isinstance(inner, str) else _content(inner)[0]
    return text, thought


def _usage(counts: dict[str, int]) -> Usage | None:
    if "prompt" not in counts:
        return None
    return Usage(counts["prompt"], counts.get("completion", 0), counts.get("cached"))
