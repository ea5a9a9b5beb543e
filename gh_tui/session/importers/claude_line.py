"""Which lines of a Claude Code file are the conversation as it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gh_tui.session.importers.claude_said import sort_out
from gh_tui.session.importers.parts import items, mapping, string


@dataclass(slots=True)
class Line:
    """What a first look at a file tells about its lines."""

    spoken: set[str] = field(default_factory=set)
    """What the user is known to have said."""
    has_main: bool = False
    """A file without a main conversation is a sub-agent's, whose own it is."""
    gone: set[str] = field(default_factory=set)
    """The ids of lines that were gone back behind."""

    def leaves_out(self, record: dict[str, Any]) -> bool:
        """Whether a line is beside the main line; each has to be given, in file order."""
        if self.has_main and of_subagent(record):
            return True
        name = string(record.get("uuid"))
        if name not in self.gone and _parent(record) not in self.gone:
            return False
        self.gone.update((name,) if name else ())
        return True


def survey(records: Iterable[Any]) -> Line:
    """Look through a file for what the user said and took back.

    Going back to an earlier point, the user says something else there: of several messages typed
    after the same one, or at the beginning, only that which leads to the last line was kept. Where
    links are missing nothing is left out.
    """
    line = Line()
    parents: dict[str, str] = {}
    after: dict[str, str] = {}
    """For each line the latest message at or above it, or the beginning."""
    typed: dict[str, list[str]] = {}
    """What was typed after each message, in file order."""
    last = ""
    for record in map(mapping, records):
        main, name, parent = not of_subagent(record), string(record.get("uuid")), _parent(record)
        message = is_message(record)
        line.has_main |= message and main
        said = typed_text(record) if main else ""
        line.spoken.update((said,) if said else ())
        if not name or name in parents:
            continue
        parents[name] = parent
        before = after.get(parent, "") if parent else _beginning(record)
        after[name] = name if message else before
        last = name if message and main else last
        if said and before:
            typed.setdefault(before, []).append(name)
    kept = _above(last, parents)
    for rivals in typed.values():
        place = next((place for place, name in enumerate(rivals) if name in kept), 0)
        line.gone.update(rivals[:place])
    return line


def _beginning(record: dict[str, Any]) -> str:
    """The beginning of a session, as what its first lines come after; empty for any other line.

    A line says itself that nothing is before it; at a compaction that is not true.
    """
    compacted = string(record.get("subtype")).endswith("compact_boundary")
    if "parentUuid" not in record or record["parentUuid"] is not None or compacted:
        return ""
    return f"beginning of {string(record.get('sessionId'))}"


def _above(name: str, parents: dict[str, str]) -> set[str]:
    found: set[str] = set()
    while name and name not in found:
        found.add(name)
        name = parents.get(name, "")
    return found


def of_subagent(record: dict[str, Any]) -> bool:
    """Whether a line is what a sub-agent said or was told."""
    return bool(record.get("isSidechain") or record.get("parent_tool_use_id"))


def is_message(record: dict[str, Any]) -> bool:
    """Whether a line is a message of the user or the agent."""
    return record.get("type") in ("user", "assistant") and bool(mapping(record.get("message")))


def typed_text(record: dict[str, Any]) -> str:
    """What the user typed, at rest or while the agent worked; empty for any other line."""
    if record.get("type") == "attachment":
        body = mapping(record.get("attachment"))
        wanted = body.get("type") == "queued_command"
        wanted = wanted and body.get("commandMode") in (None, "prompt")
        content = body.get("prompt")
    else:
        body, wanted = record, record.get("type") == "user"
        content = mapping(record.get("message")).get("content")
        wanted = wanted and all(block.get("type") != "tool_result" for block in items(content))
    return sort_out(content)[1] if wanted and not of_program(body) else ""


def of_program(body: dict[str, Any]) -> bool:
    """Whether a message is marked as not from the person at the keyboard."""
    origin = mapping(body.get("origin")).get("kind")
    return bool(body.get("isMeta") or body.get("isCompactSummary") or origin not in (None, "human"))


def _parent(record: dict[str, Any]) -> str:
    """The line before; across a compaction it has another name."""
    return string(record.get("parentUuid")) or string(record.get("logicalParentUuid"))
