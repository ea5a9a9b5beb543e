from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gh_tui.session.importers.detect import detect

from .transcripts import document, outline, read, text, tool_result, tool_use


def test_custom_calls_refusals_and_parts_that_are_no_text(tmp_path: Path) -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "raw"}}
    attached = [{"type": "input_audio"}, {"type": "file", "file": {"filename": "a.pdf"}}]
    messages = [
        {"role": "user", "content": [*text("Look."), *attached]},
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]},
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
    turns = read(document(tmp_path / "x.json", messages))
    assert outline(turns) == [
        ("user", "Look.\n[audio]\n[file a.pdf]", []),
        ("assistant", "", ["patch"]),
        ("tool", "done", []),
        ("assistant", "I cannot.", []),
        ("assistant", "No.", []),
    ]
    assert turns[1].calls[0].arguments == {"input": "raw"}


def test_anthropics_blocks(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [*text("So."), *tool_use("c1", "Bash", command="ls")]},
        {
            "role": "user",
            "content": [*tool_result("c1", text("none"), is_error=True), *text("Again.")],
        },
    ]
    turns = read(document(tmp_path / "x.json", {"system": "s", "messages": messages}))
    assert outline(turns) == [
        ("user", "Go.", []),
        ("assistant", "So.", ["Bash"]),
        ("tool", "none", []),
        ("user", "Again.", []),
    ]
    assert (turns[2].call_id, turns[2].ok) == ("c1", False)


def test_a_tree_with_code_and_its_output(tmp_path: Path) -> None:
    def node(parent: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
        author = {"role": role, "name": more.pop("name", None)}
        return {"parent": parent, "message": {"author": author, "content": content, **more}}

    picture = {"content_type": "image_asset_pointer", "asset_pointer": "x"}
    nodes = {
        "a": node("", "user", {"parts": [picture, "Plot it."]}),
        "b": node(
            "a", "assistant", {"content_type": "code", "text": "print(1)"}, recipient="python"
        ),
        "c": node("b", "tool", {"content_type": "execution_output", "text": "1"}, name="python"),
        "d": node("c", "assistant", {"parts": ["Done."]}, recipient="all"),
    }
    turns = read(document(tmp_path / "x.json", [{"mapping": nodes, "current_node": "d"}]))
    assert outline(turns) == [
        ("user", "[image]\nPlot it.", []),
        ("assistant", "", ["python"]),
        ("tool", "1", []),
        ("assistant", "Done.", []),
    ]
    assert turns[1].calls[0].arguments == {"input": "print(1)"}
    assert turns[2].call_id == turns[1].calls[0].id


def test_a_document_may_mix_messages_and_conversations(tmp_path: Path) -> None:
    path = document(
        tmp_path / "x.json",
        [
            {"messages": [{"role": "user", "content": "a"}]},
            {"conversations": [{"from": "human", "value": "b"}]},
        ],
    )
    transcript = detect(path)
    assert [[t.text for t in transcript.turns(n)] for n in (1, 2)] == [["a"], ["b"]]


def test_sharegpt_speakers_and_tools(tmp_path: Path) -> None:
    asked = json.dumps({"name": "weather", "arguments": {"city": "Pune"}})
    said = [
        {"from": "system", "value": "Be nice."},
        {"from": "Human", "value": "Which weather?"},
        {"from": "function_call", "value": asked},
        {"from": "observation", "value": '{"t": 27}'},
        {"from": "model", "value": "27."},
        {"from": "function_call", "value": "not JSON"},
        {"from": "tool", "value": "?"},
        {"from": "GPT", "text": "So."},
    ]
    turns = read(document(tmp_path / "x.json", [{"conversations": said}]))
    assert outline(turns) == [
        ("system", "Be nice.", []),
        ("user", "Which weather?", []),
        ("assistant", "", ["weather"]),
        ("tool", '{"t": 27}', []),
        ("assistant", "27.", []),
        ("assistant", "", ["tool"]),
        ("tool", "?", []),
        ("assistant", "So.", []),
    ]
    assert turns[2].calls[0].arguments == {"city": "Pune"}


def test_sharegpt_with_roles_and_without_a_wrapping(tmp_path: Path) -> None:
    roles = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    bare = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]
    for value in ([{"conversations": roles}], bare, {"items": bare}):
        path = document(tmp_path / "x.json", value)
        assert detect(path).format == "ShareGPT"
        assert outline(read(path)) == [("user", "Hi", []), ("assistant", "Ho", [])]
