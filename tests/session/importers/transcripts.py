"""Small transcripts, written for the tests in the formats of other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gh_tui.session.importers.detect import detect
from gh_tui.session.importers.turns import ImportedTurn


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def document(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=1), "utf-8")
    return path


def read(path: Path) -> list[ImportedTurn]:
    return list(detect(path).turns())


def outline(turns: list[ImportedTurn]) -> list[tuple[str, str, list[str]]]:
    """Role, text and the calls' names: what most tests compare."""
    return [(turn.role, turn.text, [call.name for call in turn.calls]) for turn in turns]


def claude(kind: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, "id": more.pop("message", uuid)}
    time = f"2026-03-01T10:00:{len(uuid):02}.000Z"
    return {"type": kind, "uuid": uuid, "timestamp": time, "message": message, **more}


def codex(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value}]


def tool_use(call: str, name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call, "name": name, "input": arguments}]


def tool_result(call: str, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, **more}]
