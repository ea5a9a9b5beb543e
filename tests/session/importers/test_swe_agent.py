from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gh_tui.session.importers.detect import detect

from .transcripts import document, outline, read


def mini(tmp_path: Path, *messages: dict[str, Any], **info: Any) -> Path:
    return document(tmp_path / "x.traj.json", {"messages": messages, "info": info})


def test_a_demonstration_is_no_part_of_the_session(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "An example.", "is_demo": True},
        {"role": "assistant", "content": "x", "thought": "x", "action": "ls", "is_demo": True},
        {"role": "user", "content": "a b", "is_demo": "True"},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "So.", "thought": "So.", "action": "pwd"},
        {"role": "user", "content": "/"},
    ]
    turns = read(document(tmp_path / "x.traj", {"history": history}))
    assert [turn.role for turn in turns] == [*["system"] * 3, "user", "assistant", "tool"]


def test_the_first_mini_is_known_by_its_version(tmp_path: Path) -> None:
    path = mini(
        tmp_path,
        {"role": "system", "content": "Answer with one block."},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "So.\n\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>"},
        mini_version="1.3.0",
    )
    turns = read(path)
    assert detect(path).format == "mini-SWE-agent"
    assert outline(turns)[2:] == [
        ("assistant", "So.", ["bash"]),
        ("tool", "<returncode>0</returncode>", []),
    ]


def test_the_second_mini_tells_times_codes_and_how_it_ended(tmp_path: Path) -> None:
    def asked(name: str) -> dict[str, Any]:
        function = {"name": "bash", "arguments": json.dumps({"command": "ls"})}
        calls = [{"id": name, "type": "function", "function": function}]
        extra = {"timestamp": 1767225600.5}
        return {"role": "assistant", "content": "", "tool_calls": calls, "extra": extra}

    path = mini(
        tmp_path,
        {"role": "user", "content": "Fix it."},
        asked("a"),
        {"role": "tool", "tool_call_id": "a", "content": "x", "extra": {"returncode": 2}},
        asked("b"),
        {"role": "exit", "content": "the diff", "extra": {"exit_status": "Submitted"}},
        mini_version="2.0.0",
    )
    turns = read(path)
    assert turns[1].time == 1767225600.5
    assert [(t.call_id, t.text, t.ok) for t in turns if t.role == "tool"] == [
        ("a", "x", False),
        ("b", "the diff", None),
    ]


def test_the_second_mini_with_responses(tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "So."}]},
        {"type": "function_call", "call_id": "a", "name": "bash", "arguments": '{"command": "ls"}'},
        {"type": "function_call", "call_id": "b", "name": "bash", "arguments": "{}"},
    ]
    path = mini(
        tmp_path,
        {"role": "user", "content": "Fix it."},
        {"object": "response", "output": output},
        {"type": "function_call_output", "call_id": "a", "output": "<returncode>1</returncode>"},
        {"type": "function_call_output", "call_id": "b", "output": "ok"},
        {"role": "exit", "content": ""},
        mini_version="2.0.0",
    )
    turns = read(path)
    assert outline(turns) == [
        ("user", "Fix it.", []),
        ("assistant", "So.", ["bash", "bash"]),
        ("tool", "<returncode>1</returncode>", []),
        ("tool", "ok", []),
    ]
    assert [(turn.call_id, turn.ok) for turn in turns[2:]] == [("a", False), ("b", None)]


@pytest.mark.parametrize("answer", ["I forgot.", "```bash\na\n```\nor\n```bash\nb\n```"])
def test_what_mini_says_of_an_answer_that_it_refuses(tmp_path: Path, answer: str) -> None:
    path = mini(
        tmp_path,
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "Please give EXACTLY ONE action."},
        {"role": "assistant", "content": "```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>"},
        {"role": "user", "content": "Again: one.", "extra": {"interrupt_type": "FormatError"}},
        {"role": "user", "content": "Stop.", "extra": {"interrupt_type": "UserInterruption"}},
        mini_version="1.3.0",
    )
    assert outline(read(path)) == [
        ("user", "Fix it.", []),
        ("assistant", answer, []),
        ("system", "Please give EXACTLY ONE action.", []),
        ("assistant", "", ["bash"]),
        ("tool", "<returncode>0</returncode>", []),
        ("system", "Again: one.", []),
        ("user", "Stop.", []),
    ]


def test_a_block_of_another_kind_beside_minis_own_is_part_of_the_thought(tmp_path: Path) -> None:
    own = "```mswea_bash_command\nls\n```"
    path = mini(
        tmp_path,
        {"role": "assistant", "content": f"Like\n```bash\nx\n```\n{own}"},
        {"role": "user", "content": "a.py"},
        mini_version="1.17.0",
    )
    turns = read(path)
    assert turns[0].calls[0].arguments == {"command": "ls"}
    assert [turn.role for turn in turns] == ["assistant", "tool"]
