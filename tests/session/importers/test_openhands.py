from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.session.importers.detect import detect

from .transcripts import document, lines, outline, read, text

ASKED = {"id": "c1", "name": "terminal", "arguments": '{"command": "ls"}'}
SDK: list[dict[str, Any]] = [
    {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": text("You are.")[0]},
    {
        "kind": "MessageEvent",
        "source": "user",
        "llm_message": {"role": "user", "content": text("Fix the clock.")},
    },
    {
        "kind": "ActionEvent",
        "id": "e2",
        "source": "agent",
        "thought": text("I look."),
        "action": {"kind": "TerminalAction", "command": "ls"},
        "tool_call_id": "c1",
        "tool_call": ASKED,
    },
    {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "x"},
    {
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_call_id": "c1",
        "action_id": "e2",
        "observation": {"content": text("clock.py"), "is_error": False, "exit_code": 1},
    },
    {"kind": "ActionEvent", "id": "e4", "source": "agent", "tool_name": "edit", "action": {"p": 1}},
    {"kind": "AgentErrorEvent", "source": "agent", "action_id": "e4", "error": "refused"},
    {
        "kind": "ActionEvent",
        "source": "agent",
        "tool_call_id": "c3",
        "action": {"kind": "FinishAction", "message": "Done."},
    },
    {
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_call_id": "c3",
        "observation": {"content": text("Done.")},
    },
]


@pytest.mark.parametrize("form", ["list", "page", "lines"])
def test_events_of_the_sdk(tmp_path: Path, form: str) -> None:
    path = tmp_path / "x.json"
    match form:
        case "list":
            document(path, SDK)
        case "page":
            document(path, {"items": SDK, "next_page_id": None})
        case _:
            lines(path, *SDK)
    turns = read(path)
    assert detect(path).format == "OpenHands"
    assert outline(turns) == [
        ("system", "You are.", []),
        ("user", "Fix the clock.", []),
        ("assistant", "I look.", ["terminal"]),
        ("tool", "clock.py", []),
        ("assistant", "", ["edit"]),
        ("tool", "refused", []),
        ("assistant", "Done.", []),
    ]
    assert turns[2].calls[0].arguments == {"command": "ls"}
    assert turns[4].calls[0].arguments == {"p": 1}
    results = [turn for turn in turns if turn.role == "tool"]
    assert [(turn.call_id, turn.ok) for turn in results] == [("c1", False), ("e4", False)]


@pytest.mark.parametrize("number", [1, 2])
def test_one_event_in_a_file_of_its_own(tmp_path: Path, number: int) -> None:
    path = document(tmp_path / "event-00002.json", SDK[number])
    assert [turn.text for turn in read(path)] == [["Fix the clock."], ["I look."]][number - 1]


ACTION = {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "So."}}
SEEN = {"id": 2, "source": "agent", "observation": "run", "content": "clock.py", "cause": 1}


def test_lines_that_hold_a_history_each(tmp_path: Path) -> None:
    evaluated = {"instance_id": "a", "history": [ACTION, SEEN]}
    path = lines(tmp_path / "output.jsonl", evaluated, {**evaluated, "instance_id": "b"})
    transcript = detect(path)
    assert (transcript.format, transcript.conversations) == ("OpenHands", 2)
    assert outline(list(transcript.turns(2))) == [
        ("assistant", "So.", ["run"]),
        ("tool", "clock.py", []),
    ]


def test_a_history_of_pairs(tmp_path: Path) -> None:
    action, seen = dict(ACTION), dict(SEEN)
    del action["id"], seen["cause"]
    path = lines(tmp_path / "output.jsonl", {"history": [[action, seen], [action, seen]]})
    turns = read(path)
    assert [turn.role for turn in turns] == ["assistant", "tool", "assistant", "tool"]
    assert turns[1].call_id == turns[0].calls[0].id != turns[2].calls[0].id == turns[3].call_id


def test_a_condensation_is_no_call(tmp_path: Path) -> None:
    events = [
        ACTION,
        SEEN,
        {"id": 3, "source": "agent", "action": "condensation", "args": {"summary": "old"}},
        {"id": 4, "source": "agent", "action": "condensation_request", "args": {}},
    ]
    assert len(read(document(tmp_path / "x.json", events))) == 2
