from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from .transcripts import codex, lines, outline, read


def said(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return codex({"type": "message", "role": role, "content": content})


def call(name: str) -> dict[str, Any]:
    return codex({"type": "function_call", "name": "shell", "call_id": name, "arguments": "{}"})


def result(output: Any) -> dict[str, Any]:
    return codex({"type": "function_call_output", "call_id": "c1", "output": output})


def event(kind: str, **more: Any) -> dict[str, Any]:
    return codex({"type": kind, **more}, "event_msg")


@pytest.mark.parametrize(
    ("output", "text", "ok"),
    [
        ('{"title": "Spring", "content": "draft"}', None, None),
        ('{"name": "shop", "output": "dist"}', None, None),
        ('{"content": {"rows": [1]}}', None, None),
        ('{"content": ["a", "b"]}', None, None),
        ('{"output": {"path": "x"}}', None, None),
        ("{}", None, None),
        ('{"output": "gone", "metadata": {"exit_code": 2}}', "gone", False),
        ('{"content": "fine", "success": true}', "fine", True),
        ('{"content": [{"type": "input_text", "text": "a"}]}', "a", None),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}], "a\n[image]", None),
        ({"rows": 1}, '{"rows": 1}', None),
        ("Exit code: 2\nWall time: 1.2 seconds\nOutput:\nno such file", None, False),
        ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nExit code: 1", None, True),
        ("Chunk ID: 1\nProcess exited with code 1\nOutput:\nboom", None, False),
        ("Wall time: 1 s\nProcess running with session ID 4\nOutput:\nExit code: 1", None, None),
        ("It said\nExit code: 1", None, None),
    ],
)
def test_results_keep_what_the_tool_said(
    tmp_path: Path, output: Any, text: str | None, ok: bool | None
) -> None:
    _, turn = read(lines(tmp_path / "r.jsonl", call("c1"), result(output)))
    assert (turn.text, turn.ok) == (output if text is None else text, ok)


def test_what_the_thread_went_back_behind_is_left_out(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "r.jsonl",
        said("user", "Start."),
        said("assistant", "Ready."),
        said("user", "Wrong."),
        call("c1"),
        result("x"),
        said("user", "Wrong again."),
        said("assistant", "Went wrong."),
        event("thread_rolled_back", num_turns=2),
        said("user", "Right."),
        event("thread_rolled_back", num_turns="x"),
    )
    assert [turn.text for turn in read(path)] == ["Start.", "Ready.", "Right."]


def test_a_file_of_shown_messages_only_is_read_from_them(tmp_path: Path) -> None:
    shown = [event("user_message", message="Hi"), event("agent_message", message="Ho")]
    path = lines(tmp_path / "r.jsonl", codex({"id": "x"}, "session_meta"), *shown)
    assert outline(read(path)) == [("user", "Hi", []), ("assistant", "Ho", [])]
    path = lines(tmp_path / "r.jsonl", said("user", "Hi"), *shown, said("assistant", "Ho"))
    assert outline(read(path)) == [("user", "Hi", []), ("assistant", "Ho", [])]


def test_each_part_of_a_message_is_judged_on_its_own(tmp_path: Path) -> None:
    shell = "<user_shell_command>\n<command>ls</command>\n</user_shell_command>"
    path = lines(
        tmp_path / "r.jsonl",
        said("user", "<environment_context>x</environment_context>", "Fix it."),
        said("user", shell),
        said("user", "<skill>\n<name>k</name>\n</skill>"),
        said("user", "<skill> is a tag of ours"),
    )
    assert [turn.role for turn in read(path)] == ["system", "user", "system", "system", "user"]


def test_thousands_of_calls_of_one_step_take_linear_time(tmp_path: Path) -> None:
    path = lines(tmp_path / "r.jsonl", *(call(f"c{n}") for n in range(20_000)))
    began = perf_counter()
    (turn,) = read(path)
    assert len(turn.calls) == 20_000
    assert perf_counter() - began < 4
