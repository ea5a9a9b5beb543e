"""Claude Code: one JSON object per line, an assistant message in a line for each of its blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from gh_tui.session.importers.claude_line import is_message, of_program, survey, typed_text
from gh_tui.session.importers.claude_said import is_interruption, sort_out
from gh_tui.session.importers.parts import call_of, items, mapping, moment, string, text_of
from gh_tui.session.importers.turns import ImportedTurn, Reply, Turns

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def matches(record: dict[str, Any]) -> bool:
    """Whether a line is of this format: of a session's file, or of the agent's output stream."""
    return is_message(record) and ("uuid" in record or "session_id" in record)


def read(records: Iterable[Any]) -> Turns:
    """The main conversation as it ended, in file order.

    Left out are what sub-agents said among themselves (in a file of theirs it is the
    conversation) and what the user went back behind.
    """
    line = survey(records)
    reply, message = Reply(), ""
    seen: set[str] = set()
    meanwhile: set[str] = set()
    """What was typed since the agent last spoke or was stopped: it may be written down again."""
    for record in map(mapping, records):
        kind, name, time = _kind(record), string(record.get("uuid")), _time(record)
        if line.leaves_out(record) or not kind or name in seen:  # a resumed session repeats lines
            continue
        seen.update((name,) if name else ())
        if kind == "assistant":
            body, before = mapping(record.get("message")), message
            message = string(body.get("id"))
            meanwhile.clear()
            if not message or message != before:
                yield from reply.finish()
            reply.begin(time)
            yield from _said_by_agent(body.get("content"), reply, time)
            continue
        if kind == "user":
            yield from reply.finish()
            if is_interruption(mapping(record.get("message")).get("content")):
                meanwhile.clear()
            said = _said_by_user(record)
            yield from (turn for turn in said if turn.role != "user" or turn.text not in meanwhile)
        elif (text := _typed_meanwhile(record, line.spoken)) and text not in meanwhile:
            meanwhile.add(text)
            yield from reply.finish()
            yield ImportedTurn(role="user", text=text, time=time)
    yield from reply.finish()


def _kind(record: dict[str, Any]) -> str:
    kind = string(record.get("type"))
    if kind in ("attachment", "queue-operation"):
        return kind
    return kind if is_message(record) else ""


def _time(record: dict[str, Any]) -> str | float | None:
    return moment(record.get("timestamp"))


def _said_by_agent(content: Any, reply: Reply, time: str | float | None) -> Turns:
    """Take up the blocks of a line; the result of a tool on the server ends the turn."""
    for block in content if isinstance(content, list) else [content]:
        kind = string(mapping(block).get("type"))
        if kind in _CALLS:
            reply.ask(call_of(block.get("id"), block.get("name"), block.get("input")))
        elif kind.endswith("tool_result"):
            yield from reply.finish()
            yield _result(block, time)
            reply.begin(time)
        else:
            reply.say(text_of([block]))


def _said_by_user(record: dict[str, Any]) -> Turns:
    content, time = mapping(record.get("message")).get("content"), _time(record)
    for block in items(content):
        if block.get("type") == "tool_result":
            yield _result(block, time)
    told, said = sort_out(content)
    if of_program(record):
        told, said = "\n".join(filter(None, (told, said))), ""
    if told:
        yield ImportedTurn(role="system", text=told, time=time)
    if said:
        yield ImportedTurn(role="user", text=said, time=time)


def _result(block: dict[str, Any], time: str | float | None) -> ImportedTurn:
    failed, content = block.get("is_error"), block.get("content")
    text = text_of(content)
    if not text and isinstance(content, dict):
        text = json.dumps(content, ensure_ascii=False)
    return ImportedTurn(
        role="tool",
        text=text,
        call_id=string(block.get("tool_use_id")),
        time=time,
        ok=not failed if isinstance(failed, bool) else None,
    )


def _typed_meanwhile(record: dict[str, Any], spoken: set[str]) -> str:
    """What the user typed while the agent worked; a removal from the queue tells it at worst."""
    if record["type"] == "attachment":
        return typed_text(record)
    if record.get("operation") != "remove":
        return ""
    text = sort_out(record.get("content"))[1]
    if text in spoken:
        return ""
    spoken.add(text)
    return text
