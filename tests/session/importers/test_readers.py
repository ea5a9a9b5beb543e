from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.errors import RecordingError, UsageError
from gh_tui.session.importers.detect import detect

from .transcripts import (
    claude,
    codex,
    document,
    lines,
    outline,
    read,
    text,
    tool_result,
    tool_use,
)


def test_claude_code_blocks_of_one_message_become_one_turn(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        {"type": "file-history-snapshot", "snapshot": {}},
        claude("user", "Fix the clock.", "u1"),
        claude("assistant", text("I look."), "a1", message="m1"),
        claude("assistant", tool_use("c1", "Read", file_path="clock.py"), "a2", message="m1"),
        claude("assistant", tool_use("c2", "Read", file_path="../face.py"), "a3", message="m1"),
        claude("user", tool_result("c1", "tick = 1"), "r1"),
        claude("user", tool_result("c2", text("no such file"), is_error=True), "r2"),
        claude("assistant", text("Done."), "a4", message="m2"),
    )
    turns = read(path)
    assert detect(path).format == "Claude Code"
    assert outline(turns) == [
        ("user", "Fix the clock.", []),
        ("assistant", "I look.", ["Read", "Read"]),
        ("tool", "tick = 1", []),
        ("tool", "no such file", []),
        ("assistant", "Done.", []),
    ]
    assert [turn.call_id for turn in turns] == [None, None, "c1", "c2", None]
    assert [turn.ok for turn in turns[2:4]] == [None, False]
    assert turns[1].calls[1].arguments == {"file_path": "../face.py"}


def test_claude_code_keeps_only_what_the_main_conversation_said_once(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        claude("user", "Fix the clock.", "u1"),
        claude("user", "Fix the clock.", "u1"),
        claude("assistant", text("A sub-agent speaks."), "x1", isSidechain=True),
        claude("assistant", text("Done."), "a1"),
        {"type": "summary", "summary": "Clock", "leafUuid": "a1"},
    )
    assert outline(read(path)) == [("user", "Fix the clock.", []), ("assistant", "Done.", [])]


@pytest.mark.parametrize(
    ("content", "role", "said"),
    [
        ("<command-name>/clear</command-name>", "system", None),
        (
            "<command-name>/fix</command-name> <command-args>the clock</command-args>",
            "user",
            "/fix the clock",
        ),
        ("[Request interrupted by user]", "system", None),
        ("[Request interrupted by user] is what I see", "user", None),
        ("<system-reminder> tags are in my page", "user", None),
        ("<task-notification>\n<status>completed</status>\n</task-notification>", "system", None),
        ("<bash-stdout></bash-stdout><bash-stderr>bad</bash-stderr>", "system", None),
        (
            "<command-message>init</command-message>\n<command-name>/init</command-name>",
            "user",
            "/init",
        ),
        ("See <b>this</b> [link](x)", "user", None),
    ],
)
def test_claude_code_tells_the_user_from_the_program(
    tmp_path: Path, content: str, role: str, said: str | None
) -> None:
    (turn,) = read(lines(tmp_path / "s.jsonl", claude("user", content, "u1")))
    assert (turn.role, turn.text) == (role, said or content)


def codex_items() -> list[dict[str, Any]]:
    return [
        {"type": "message", "role": "user", "content": "<environment_context>x"},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Fix the clock."}, {"type": "input_image"}],
        },
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {
            "type": "function_call",
            "name": "shell",
            "call_id": "c1",
            "arguments": '{"command":["ls"]}',
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"clock.py","metadata":{"exit_code":0}}',
        },
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "failed, [not json"},
    ]


@pytest.mark.parametrize("old", [True, False])
def test_codex_in_envelopes_and_without(tmp_path: Path, old: bool) -> None:
    items = codex_items()
    records = items if old else [codex({}, "session_meta"), *map(codex, items)]
    path = lines(tmp_path / "rollout.jsonl", *records, codex({"type": "x"}, "event_msg"))
    turns = read(path)
    assert detect(path).format == "Codex"
    assert outline(turns) == [
        ("system", "<environment_context>x", []),
        ("user", "Fix the clock.\n[image]", []),
        ("assistant", "I look.", ["shell"]),
        ("tool", "clock.py", []),
        ("assistant", "", ["apply_patch"]),
        ("tool", "failed, [not json", []),
    ]
    assert turns[2].calls[0].arguments == {"command": ["ls"]}
    assert turns[4].calls[0].arguments == {"input": "*** Begin"}
    assert [turn.ok for turn in turns if turn.role == "tool"] == [True, None]


def test_swe_agent_actions_are_calls_and_the_next_message_their_result(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "A demonstration.", "is_demo": True},
        {"role": "user", "content": "Fix the clock."},
        {
            "role": "assistant",
            "content": "I look.\n```\nls\n```",
            "thought": "I look.",
            "action": "ls\n",
        },
        {"role": "user", "content": "clock.py"},
        {"role": "assistant", "content": "Done.", "thought": "Done.", "action": ""},
        {"role": "user", "content": "Thanks."},
    ]
    path = document(tmp_path / "x.traj", {"trajectory": [], "history": history, "info": {}})
    turns = read(path)
    assert detect(path).format == "SWE-agent"
    assert [(turn.role, turn.text) for turn in turns] == [
        ("system", "You are an agent."),
        ("system", "A demonstration."),
        ("user", "Fix the clock."),
        ("assistant", "I look."),
        ("tool", "clock.py"),
        ("assistant", "Done."),
        ("user", "Thanks."),
    ]
    assert turns[3].calls[0].arguments == {"command": "ls"}
    assert turns[4].call_id == turns[3].calls[0].id


@pytest.mark.parametrize("wrapped", [True, False])
def test_mini_swe_agent_blocks_are_calls(tmp_path: Path, wrapped: bool) -> None:
    messages = [
        {"role": "system", "content": "Use a ```mswea_bash_command block."},
        {"role": "user", "content": "Fix the clock."},
        {"role": "assistant", "content": "I look.\n\n```mswea_bash_command\nls -a\n```\nSo."},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>none</output>"},
    ]
    value = {"messages": messages, "trajectory_format": "mini-swe-agent-1"} if wrapped else messages
    path = document(tmp_path / "x.traj.json", value)
    turns = read(path)
    assert detect(path).format == "mini-SWE-agent"
    assert (turns[2].text, turns[2].calls[0].arguments) == ("I look.\nSo.", {"command": "ls -a"})
    assert (turns[3].role, turns[3].ok) == ("tool", False)


def test_openhands_actions_and_what_they_caused(tmp_path: Path) -> None:
    made = {"id": "c1", "function": {"name": "execute_bash", "arguments": '{"command": "ls"}'}}
    about = {
        "tool_call_id": "c1",
        "function_name": "execute_bash",
        "model_response": {"choices": [{"message": {"tool_calls": [made]}}]},
    }
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix the clock."}},
        {"id": 1, "source": "environment", "observation": "agent_state_changed", "content": ""},
        {
            "id": 2,
            "source": "agent",
            "action": "run",
            "args": {"command": "ls", "thought": "I look."},
            "tool_call_metadata": about,
        },
        {
            "id": 3,
            "source": "agent",
            "observation": "run",
            "content": "clock.py",
            "cause": 2,
            "extras": {"metadata": {"exit_code": 0}},
        },
        {"id": 4, "source": "agent", "action": "edit", "args": {"path": "a", "thought": ""}},
        {"id": 5, "source": "agent", "observation": "error", "content": "refused", "cause": 4},
        {"id": 6, "source": "agent", "action": "finish", "args": {"final_thought": "Done."}},
    ]
    path = document(tmp_path / "x.json", events)
    turns = read(path)
    assert detect(path).format == "OpenHands"
    assert outline(turns) == [
        ("user", "Fix the clock.", []),
        ("assistant", "I look.", ["execute_bash"]),
        ("tool", "clock.py", []),
        ("assistant", "", ["edit"]),
        ("tool", "refused", []),
        ("assistant", "Done.", []),
    ]
    assert turns[3].calls[0].arguments == {"path": "a"}
    assert [turn.ok for turn in turns if turn.role == "tool"] == [True, False]


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Which time is it?"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "now", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "10:00"},
    {"role": "assistant", "content": "Ten."},
]
CHAT_OUTLINE = [
    ("system", "Be brief.", []),
    ("user", "Which time is it?", []),
    ("assistant", "", ["now"]),
    ("tool", "10:00", []),
    ("assistant", "Ten.", []),
]


@pytest.mark.parametrize("form", ["list", "object", "lines", "objects in lines"])
def test_openai_chat_in_all_its_wrappings(tmp_path: Path, form: str) -> None:
    path = tmp_path / "chat.json"
    match form:
        case "list":
            document(path, CHAT)
        case "object":
            document(path, {"messages": CHAT})
        case "lines":
            lines(path, *CHAT)
        case _:
            lines(path, {"messages": CHAT}, {"messages": []})
    assert detect(path).format == "OpenAI chat JSON"
    assert outline(read(path)) == CHAT_OUTLINE


def test_a_tree_of_messages_is_read_along_its_current_branch(tmp_path: Path) -> None:
    def node(parent: str | None, role: str, said: str) -> dict[str, Any]:
        message = {"author": {"role": role}, "content": {"parts": [said]}, "create_time": 1.7e9}
        return {"parent": parent, "message": message}

    nodes = {
        "root": {"parent": None, "message": None},
        "a": node("root", "user", "Which time is it?"),
        "b": node("a", "assistant", "No idea."),
        "c": node("a", "assistant", "Ten."),
    }
    path = document(tmp_path / "x.json", [{"mapping": nodes, "current_node": "c"}])
    assert [t.text for t in read(path)] == ["Which time is it?", "Ten."]


def test_sharegpt_has_several_conversations(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}, {"from": "?"}]
    path = document(
        tmp_path / "x.json", [{"id": "1", "conversations": said}, {"conversations": []}]
    )
    transcript = detect(path)
    assert (transcript.format, transcript.conversations) == ("ShareGPT", 2)
    assert outline(list(transcript.turns())) == [("user", "Hi", []), ("assistant", "Ho", [])]
    assert list(transcript.turns(2)) == []
    with pytest.raises(UsageError, match="no number 3"):
        transcript.turns(3)


def test_a_recording_of_the_program_itself_is_named_as_such(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", {"v": 1, "seq": 1, "session": "s", "type": "Notice"}, {})
    with pytest.raises(RecordingError, match="replay"):
        detect(path)
