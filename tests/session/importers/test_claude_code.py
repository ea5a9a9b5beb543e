from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from .transcripts import claude, lines, outline, read, text, tool_result, tool_use


def chained(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Each line after the one before it, unless it says otherwise."""
    before = [None, *(record["uuid"] for record in records)]
    return [{"parentUuid": p, **r} for p, r in zip(before, records, strict=False)]


def queued(prompt: Any, **more: Any) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": prompt, **more}
    return {"type": "attachment", "uuid": "q1", "attachment": attachment}


def removed(content: Any) -> dict[str, Any]:
    return {"type": "queue-operation", "operation": "remove", "content": content}


@pytest.mark.parametrize(
    "record",
    [
        queued("not the old table", commandMode="prompt", origin={"kind": "human"}),
        queued("not the old table"),
        queued(text("not the old table")),
        removed("not the old table"),
    ],
    ids=range(4),
)
def test_what_is_typed_while_the_agent_works_is_said(tmp_path: Path, record: Any) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        claude("user", "Begin.", "u1"),
        claude("assistant", tool_use("c1", "Bash", command="ls"), "a1"),
        claude("user", tool_result("c1", "a"), "r1"),
        record,
        claude("assistant", text("Done."), "a2"),
    )
    assert outline(read(path))[3:] == [
        ("user", "not the old table", []),
        ("assistant", "Done.", []),
    ]


def test_what_is_typed_while_the_agent_works_is_said_once(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        {"type": "queue-operation", "operation": "enqueue", "content": "attached"},
        queued("attached"),
        {**queued("attached"), "uuid": "q2"},
        claude("user", "attached", "u1"),
        removed("sent"),
        claude("assistant", text("I see."), "a1"),
        removed("attached"),
        claude("user", "sent", "u2"),
        removed("only here"),
        removed("only here"),
        claude("assistant", text("Done."), "a2"),
        claude("user", "attached", "u3"),
    )
    assert [turn.text for turn in read(path)] == [
        *("attached", "I see.", "sent", "only here", "Done.", "attached")
    ]


def test_the_same_words_after_an_interruption_are_said_again(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        claude("assistant", tool_use("c1", "Bash"), "a1"),
        queued("continue"),
        claude("user", tool_result("c1", "stopped"), "r1"),
        claude("user", text("[Request interrupted by user for tool use]"), "u1"),
        claude("user", "continue", "u2"),
        claude("assistant", text("On."), "a2"),
    )
    assert [turn.text for turn in read(path) if turn.role == "user"] == ["continue"] * 2


@pytest.mark.parametrize(
    "record",
    [
        queued("Another session says so.", origin={"kind": "peer"}),
        queued("A task has ended.", commandMode="task-notification"),
        queued("<task-notification>x</task-notification>"),
        removed("<task-notification>x</task-notification>"),
        {"type": "queue-operation", "operation": "popAll", "content": "taken back"},
        {"type": "attachment", "attachment": {"type": "file", "prompt": "x"}},
    ],
    ids=range(6),
)
def test_what_the_program_queues_is_not_said_by_the_user(tmp_path: Path, record: Any) -> None:
    path = lines(tmp_path / "s.jsonl", record, claude("user", "Begin.", "u1"))
    assert [turn.text for turn in read(path)] == ["Begin."]


def test_each_block_of_a_message_is_judged_on_its_own(tmp_path: Path) -> None:
    reminder, opened = (
        "<system-reminder>\nx\n</system-reminder>",
        "<ide_opened_file>a</ide_opened_file>",
    )
    path = lines(
        tmp_path / "s.jsonl",
        claude("user", [*text(reminder), *text("Rename the class.")], "u1"),
        claude("user", f"{reminder}\n{opened}\nRename it.", "u2"),
        claude("user", [*text("[Request interrupted by user]"), *text("Do this.")], "u3"),
        claude("user", [*text(reminder), *text("Told, not said.")], "u4", isMeta=True),
    )
    assert outline(read(path)) == [
        ("system", reminder, []),
        ("user", "Rename the class.", []),
        ("system", f"{reminder}\n{opened}", []),
        ("user", "Rename it.", []),
        ("system", "[Request interrupted by user]", []),
        ("user", "Do this.", []),
        ("system", f"{reminder}\nTold, not said.", []),
    ]


@pytest.mark.parametrize("filler", ["<command-name>", " ", "\n<command-args>", "<command-name>a"])
def test_a_hostile_message_is_judged_in_linear_time(tmp_path: Path, filler: str) -> None:
    path = lines(tmp_path / "s.jsonl", claude("user", "<command-name>" + filler * 50_000, "u1"))
    began = perf_counter()
    assert [turn.role for turn in read(path)] == ["user"]
    assert perf_counter() - began < 1


@pytest.mark.parametrize("parent", ["a1", "s1"])
def test_what_was_gone_back_behind_is_left_out(tmp_path: Path, parent: str) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            claude("user", "Start.", "u1"),
            claude("assistant", text("Ready."), "a1"),
            {"type": "system", "uuid": "s1"},
            claude("user", "The wrong way.", "u2"),
            {"type": "system", "uuid": "s2"},
            claude("assistant", text("Went wrong."), "a2"),
            queued("Still wrong."),
            claude("user", "The right way.", "u3", parentUuid=parent),
            claude("assistant", text("Went right."), "a3"),
        ),
    )
    assert [turn.text for turn in read(path)] == [
        "Start.",
        "Ready.",
        "The right way.",
        "Went right.",
    ]


@pytest.mark.parametrize("hooks", [0, 2])
def test_the_first_prompt_may_be_gone_back_behind(tmp_path: Path, hooks: int) -> None:
    before: list[dict[str, Any]] = [{"type": "progress", "uuid": f"h{n}"} for n in range(hooks)]
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            *before,
            claude("user", "Delete the database.", "u1"),
            claude("assistant", text("Sure."), "a1"),
            claude("user", "List the files.", "u2", parentUuid="h1" if hooks else None),
            claude("assistant", text("a.py"), "a2"),
        ),
        claude("user", "Look.", "s1", parentUuid=None, isSidechain=True),
    )
    assert [turn.text for turn in read(path)] == ["List the files.", "a.py"]


@pytest.mark.parametrize(
    "beginning",
    [
        {"type": "system", "uuid": "b1", "subtype": "compact_boundary", "sessionId": "a"},
        {"type": "progress", "uuid": "b1", "sessionId": "b"},
    ],
    ids=["a compaction", "another session"],
)
def test_another_beginning_is_no_way_back(tmp_path: Path, beginning: dict[str, Any]) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            claude("user", "One.", "u1", sessionId="a"),
            {**beginning, "parentUuid": None},
            claude("user", "Two.", "u2", sessionId=beginning["sessionId"]),
        ),
    )
    assert [turn.text for turn in read(path)] == ["One.", "Two."]


def test_a_queued_input_may_be_gone_back_behind(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            claude("user", "Start.", "u1"),
            claude("assistant", tool_use("c1", "Bash"), "a1"),
            claude("user", tool_result("c1", "one"), "r1"),
            queued("The wrong way."),
            claude("assistant", text("Went wrong."), "a2"),
            claude("user", "The right way.", "u2", parentUuid="r1"),
            {**queued("And quickly."), "uuid": "q2"},
            {**queued("And quietly."), "uuid": "q3"},
            claude("assistant", text("Went right."), "a3"),
        ),
    )
    assert [turn.text for turn in read(path)] == [
        *("Start.", "", "one", "The right way.", "And quickly.", "And quietly.", "Went right.")
    ]


def test_results_side_by_side_and_a_compaction_are_no_way_back(tmp_path: Path) -> None:
    boundary = {"type": "system", "uuid": "b1", "parentUuid": None, "logicalParentUuid": "a3"}
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            claude("user", "Start.", "u1"),
            claude("assistant", tool_use("c1", "Bash"), "a1", message="m"),
            claude("assistant", tool_use("c2", "Bash"), "a2", message="m"),
            claude("user", tool_result("c1", "one"), "r1", parentUuid="a1"),
            claude("user", "Wait.", "u2", parentUuid="a2"),
            claude("user", [*tool_result("c2", "two"), *text("Go.")], "r2", parentUuid="a2"),
            claude("assistant", text("Ready."), "a3"),
            boundary,
            claude("user", "In short.", "u3", isCompactSummary=True),
            claude("user", "On.", "u4"),
        ),
    )
    assert [turn.text for turn in read(path)] == [
        *("Start.", "", "one", "Wait.", "two", "Go.", "Ready.", "In short.", "On.")
    ]


def test_where_links_are_missing_the_order_is_the_files(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        claude("user", "One.", "u1", parentUuid=None),
        claude("user", "Two.", "u2", parentUuid=None),
        claude("user", "Three.", "u3", parentUuid="missing"),
        claude("user", "Four.", "u4", parentUuid="missing"),
    )
    assert [turn.text for turn in read(path)] == ["One.", "Two.", "Three.", "Four."]


def test_a_way_back_behind_a_compaction_is_followed(tmp_path: Path) -> None:
    boundary = {"type": "system", "uuid": "b1", "parentUuid": None, "logicalParentUuid": "a2"}
    path = lines(
        tmp_path / "s.jsonl",
        *chained(
            claude("user", "Start.", "u1"),
            claude("assistant", text("Ready."), "a1"),
            claude("user", "The wrong way.", "u2"),
            claude("assistant", text("Went wrong."), "a2"),
            boundary,
            claude("user", "In short.", "u3", isCompactSummary=True),
            claude("user", "The right way.", "u4", parentUuid="a1"),
        ),
    )
    assert [turn.text for turn in read(path)] == ["Start.", "Ready.", "The right way."]


def test_one_message_in_growing_copies_is_one_turn(tmp_path: Path) -> None:
    call = tool_use("c1", "Bash", command="ls")
    path = lines(
        tmp_path / "s.jsonl",
        claude("assistant", text("Let me"), "a1", message="m"),
        claude("assistant", [*text("Let me look"), *tool_use("c1", "Bash")], "a2", message="m"),
        claude("assistant", [*text("Let me look"), *call], "a3", message="m"),
        claude("user", tool_result("c1", "a"), "r1"),
    )
    turns = read(path)
    assert outline(turns) == [("assistant", "Let me look", ["Bash"]), ("tool", "a", [])]
    assert turns[0].calls[0].arguments == {"command": "ls"}


def test_thousands_of_blocks_of_one_message_take_linear_time(tmp_path: Path) -> None:
    said = [claude("assistant", text(f"{n} word"), f"a{n}", message="m") for n in range(5000)]
    path = lines(tmp_path / "s.jsonl", *said)
    began = perf_counter()
    (turn,) = read(path)
    assert turn.text.count("word") == 5000
    assert perf_counter() - began < 2


def test_an_output_stream_is_read_without_its_sub_agents(tmp_path: Path) -> None:
    def said(kind: str, content: Any, parent: str | None = None) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {"type": kind, "session_id": "s", "parent_tool_use_id": parent, "message": message}

    path = lines(
        tmp_path / "out.jsonl",
        {"type": "system", "subtype": "init", "session_id": "s"},
        said("assistant", tool_use("t1", "Task", prompt="look")),
        said("user", text("look"), "t1"),
        said("assistant", text("I look."), "t1"),
        said("user", tool_result("t1", "found")),
        said("assistant", text("Done.")),
        {"type": "result", "session_id": "s", "result": "Done."},
    )
    assert outline(read(path)) == [
        ("assistant", "", ["Task"]),
        ("tool", "found", []),
        ("assistant", "Done.", []),
    ]


def test_the_file_of_a_sub_agent_is_its_own_conversation(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "agent.jsonl",
        claude("user", "Look.", "u1", isSidechain=True),
        claude("assistant", text("Found."), "a1", isSidechain=True),
    )
    assert outline(read(path)) == [("user", "Look.", []), ("assistant", "Found.", [])]


def test_documents_and_tools_on_the_server(tmp_path: Path) -> None:
    asked = {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "q"}}
    hit = {"type": "web_search_result", "title": "Clocks", "url": "https://example.org"}
    found = {"type": "web_search_tool_result", "tool_use_id": "w1", "content": [hit]}
    inline = {"type": "document", "source": {"type": "text", "data": "The body."}}
    file = {"type": "document", "title": "a.pdf", "source": {"type": "base64", "data": "x"}}
    path = lines(
        tmp_path / "s.jsonl",
        claude("user", [inline, file, *text("Read it.")], "u1"),
        claude("assistant", [asked, found, *text("So.")], "a1"),
    )
    turns = read(path)
    assert outline(turns) == [
        ("user", "The body.\n[document a.pdf]\nRead it.", []),
        ("assistant", "", ["web_search"]),
        ("tool", "Clocks https://example.org", []),
        ("assistant", "So.", []),
    ]
    assert turns[2].call_id == "w1"
