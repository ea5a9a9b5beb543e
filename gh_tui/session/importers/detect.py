"""Which program wrote a transcript, told from its contents alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gh_tui.errors import RecordingError, UsageError
from gh_tui.session.importers import (
    chat,
    chatgpt,
    claude_code,
    codex,
    openhands,
    openhands_v1,
    sharegpt,
    swe_agent,
)
from gh_tui.session.importers.parts import items, mapping, string
from gh_tui.session.importers.source import Source, open_source, require_small
from gh_tui.session.importers.turns import ImportedTurn, Reader, Turns

MAX_TURNS: Final = 200_000
MAX_HEAD: Final = 10_000
"""Records among which one has to tell the format."""
FORMATS: Final = (
    "Claude Code, Codex, SWE-agent, mini-SWE-agent, OpenHands, OpenAI chat JSON, ShareGPT"
)
_CHAT: Final = "OpenAI chat JSON"
_HOLDERS: Final = ("messages", "conversations", "history", "trajectory", "items", "events")
"""Fields of an object in which a conversation may be, the surest first."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Records that belong together, and what can read them."""

    format: str
    reader: Reader
    records: Iterable[Any]


@dataclass(slots=True)
class Transcript:
    """A foreign session that can be read, any number of times."""

    path: Path
    _source: Source
    _conversations: list[Conversation]

    @property
    def format(self) -> str:
        """The program or the format, as it is shown."""
        return self._conversations[0].format

    @property
    def conversations(self) -> int:
        """How many conversations the file holds."""
        return len(self._conversations)

    @property
    def skipped(self) -> int:
        """Lines of the latest reading that could not be read."""
        return self._source.skipped

    def turns(self, conversation: int = 1) -> Turns:
        """The turns of one conversation (from 1), lazily; one of several may be empty.

        Raises:
            UsageError: the file has no such conversation.
            RecordingError: the file cannot be read any more, has too many turns, or records of
                which none is a turn.
        """
        if not 1 <= conversation <= self.conversations:
            raise UsageError(
                f"{self.path} holds {self.conversations} conversations; there is no "
                f"number {conversation}"
            )
        return self._bounded(self._conversations[conversation - 1])

    def _bounded(self, conversation: Conversation) -> Turns:
        number = 0
        for turn in filter(_has_content, conversation.reader(conversation.records)):
            if number == MAX_TURNS:
                raise RecordingError(f"{self.path} has more than {MAX_TURNS} turns")
            number += 1
            yield turn
        if number == 0 and (conversation.records or self.conversations == 1):
            raise RecordingError(
                f"{self.path} is of the format {conversation.format}, but none of its records is "
                "a message that can be imported"
            )


def _has_content(turn: ImportedTurn) -> bool:
    return bool(turn.role == "tool" or turn.calls or turn.text)


def detect(path: Path) -> Transcript:
    """Open a foreign transcript.

    Raises:
        RecordingError: it cannot be read, is damaged or too large, or its format is not known.
    """
    source = open_source(path)
    if source.in_lines:
        found = _in_records(source, source)
    else:
        value = source.head[0]
        found = _in_records(value if isinstance(value, list) else [value], source)
    if not found:
        raise RecordingError(f"{path} is of no format that can be imported; there are {FORMATS}")
    return Transcript(path, source, found)


def _in_records(records: Iterable[Any], source: Source) -> list[Conversation]:
    """The conversations in lines, or in the items of a list."""
    for record in map(mapping, islice(records, MAX_HEAD)):
        if {"v", "seq", "session", "type"} <= record.keys():
            raise RecordingError(
                f"{source.path} is a recording of gh-tui itself: `gh-tui replay` shows it"
            )
        if (kind := _kind(record, in_lines=source.in_lines)) is not None:
            if kind[0] == _CHAT and swe_agent.speaks_mini(list(islice(records, 3))):
                kind = ("mini-SWE-agent", swe_agent.read_mini)
            return [Conversation(*kind, records)]
        if _held(record) is not None:
            require_small(source)
            held = (_held(mapping(other)) for other in records)
            return [conversation for conversation in held if conversation is not None]
    return []


def _kind(record: dict[str, Any], *, in_lines: bool = False) -> tuple[str, Reader] | None:
    """The format of one line or item, and its reader."""
    if codex.matches(record) and (in_lines or not chat.matches(record)):
        return "Codex", codex.read
    if claude_code.matches(record):
        return "Claude Code", claude_code.read
    if openhands_v1.matches(record):
        return "OpenHands", openhands_v1.read
    if openhands.matches(record):
        return "OpenHands", openhands.read
    if chat.matches(record):
        return _CHAT, chat.read
    return ("ShareGPT", sharegpt.read) if sharegpt.matches(record) else None


def _held(record: dict[str, Any]) -> Conversation | None:
    """The conversation that an object holds."""
    if isinstance(nodes := record.get("mapping"), dict):
        last = string(record.get("current_node")) or next(reversed(nodes), "")
        return Conversation(_CHAT, chat.read, chatgpt.main_line(nodes, last))
    for key in _HOLDERS:
        inner = record.get(key)
        if isinstance(inner, list) and (kind := _kind_within(inner, key, record)) is not None:
            return Conversation(*kind, inner)
    return None


def _kind_within(inner: list[Any], key: str, record: dict[str, Any]) -> tuple[str, Reader] | None:
    if key == "messages":
        if swe_agent.is_mini(record) or swe_agent.speaks_mini(inner):
            return "mini-SWE-agent", swe_agent.read_mini
        return _CHAT, chat.read
    if key == "conversations":
        return "ShareGPT", sharegpt.read
    pairs = (item for item in inner if isinstance(item, list))
    first = next(items(inner), None) or next(items(next(pairs, None)), {})
    kind = _kind(first)
    if key == "history" and (kind is None or kind[0] != "OpenHands"):
        return "SWE-agent", swe_agent.read
    return kind
