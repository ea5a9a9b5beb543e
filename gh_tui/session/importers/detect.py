"""Which program wrote a transcript, told from its contents alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gh_tui.errors import RecordingError, UsageError
from gh_tui.session.importers import chat, claude_code, codex, openhands
from gh_tui.session.importers.parts import items, mapping, string, text_of
from gh_tui.session.importers.source import Source, open_source, require_small
from gh_tui.session.importers.turns import Reader, Turns

MAX_TURNS: Final = 200_000
FORMATS: Final = (
    "Claude Code, Codex, SWE-agent, mini-SWE-agent, OpenHands, OpenAI chat JSON, ShareGPT"
)


@dataclass(slots=True)
class Transcript:
    """A foreign session that can be read, any number of times."""

    path: Path
    format: str
    """The program or the format, as it is shown."""
    _reader: Reader
    _source: Source
    _conversations: list[list[Any]] | None = None
    """Of a document; None for a file whose lines are one conversation."""

    @property
    def conversations(self) -> int:
        """How many conversations the file holds."""
        return 1 if self._conversations is None else len(self._conversations)

    @property
    def skipped(self) -> int:
        """Lines of the latest reading that could not be read."""
        return self._source.skipped

    def turns(self, conversation: int = 1) -> Turns:
        """The turns of one conversation (from 1), lazily.

        Raises:
            UsageError: the file has no such conversation.
            RecordingError: the file cannot be read any more, or has too many turns.
        """
        if not 1 <= conversation <= self.conversations:
            raise UsageError(
                f"{self.path} holds {self.conversations} conversations; there is no "
                f"number {conversation}"
            )
        if self._conversations is None:
            records = self._source.records()
        else:
            records = iter(self._conversations[conversation - 1])
        return self._bounded(self._reader(records))

    def _bounded(self, turns: Turns) -> Turns:
        for number, turn in enumerate(turns):
            if number == MAX_TURNS:
                raise RecordingError(f"{self.path} has more than {MAX_TURNS} turns")
            yield turn


def detect(path: Path) -> Transcript:
    """Open a foreign transcript.

    Raises:
        RecordingError: it cannot be read, is damaged or too large, or its format is not known.
    """
    source = open_source(path)
    found = _lines(source) if source.in_lines or _single_line(source) else _document(source)
    if found is None:
        raise RecordingError(f"{path} is of no format that can be imported; there are {FORMATS}")
    return found


def _single_line(source: Source) -> bool:
    first = source.head[0]
    return isinstance(first, dict) and (claude_code.matches(first) or codex.matches(first))


def _lines(source: Source) -> Transcript | None:
    for record in source.head:
        if {"v", "seq", "session", "type"} <= record.keys():
            raise RecordingError(
                f"{source.path} is a recording of gh-tui itself: `gh-tui replay` shows it"
            )
        if codex.matches(record):
            return Transcript(source.path, "Codex", codex.read, source)
        if claude_code.matches(record):
            return Transcript(source.path, "Claude Code", claude_code.read, source)
        if "role" in record:
            return Transcript(source.path, *_chat_reader(source.head), source)
        if "messages" in record or "conversations" in record:
            require_small(source)
            return _several(source, source.records())
    return None


def _document(source: Source) -> Transcript | None:
    value = source.head[0]
    if isinstance(value, dict):
        if isinstance(value.get("history"), list):
            history = [value["history"]]
            first = next(items(value["history"]), {})
            if openhands.matches(first):
                return Transcript(source.path, "OpenHands", openhands.read, source, history)
            return Transcript(source.path, "SWE-agent", chat.read_swe_agent, source, history)
        return _several(source, iter([value]))
    first = next(items(value), {})
    if openhands.matches(first):
        return Transcript(source.path, "OpenHands", openhands.read, source, [value])
    if "role" in first:
        return _messages(source, [value], "OpenAI chat JSON")
    return _several(source, iter(value)) if isinstance(value, list) else None


def _several(source: Source, records: Iterator[Any]) -> Transcript | None:
    """Objects that hold a conversation each."""
    chats: list[list[Any]] = []
    shared: list[list[Any]] = []
    mini = False
    for record in map(mapping, records):
        if isinstance(messages := record.get("messages"), list):
            chats.append(messages)
            made_by = string(record.get("trajectory_format"))
            mini = mini or made_by.startswith("mini-swe-agent")
        elif isinstance(said := record.get("conversations"), list):
            shared.append(said)
        elif isinstance(nodes := record.get("mapping"), dict):
            last = string(record.get("current_node")) or next(reversed(nodes), "")
            chats.append(chat.main_line(nodes, last))
    if shared:
        return Transcript(source.path, "ShareGPT", chat.read_sharegpt, source, shared)
    if not chats:
        return None
    return _messages(source, chats, "mini-SWE-agent" if mini else "OpenAI chat JSON")


def _messages(source: Source, chats: list[list[Any]], name: str) -> Transcript:
    if name == "mini-SWE-agent":
        return Transcript(source.path, name, chat.read_mini_swe_agent, source, chats)
    return Transcript(source.path, *_chat_reader(chats[0]), source, chats)


def _chat_reader(messages: list[Any]) -> tuple[str, Reader]:
    """mini-SWE-agent writes plain chat messages; its prompt names its own kind of block."""
    if any("mswea_" in text_of(message.get("content")) for message in list(items(messages))[:3]):
        return "mini-SWE-agent", chat.read_mini_swe_agent
    return "OpenAI chat JSON", chat.read_chat
