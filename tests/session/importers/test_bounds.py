from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import RecordingError
from gh_tui.session.importers import (
    chat,
    claude_code,
    codex,
    detect,
    openhands,
    openhands_v1,
    sharegpt,
    source,
    swe_agent,
)

from .transcripts import claude, document, lines, read, text

KEYS = [
    *("type", "role", "content", "message", "payload", "uuid", "tool_calls", "function", "id"),
    *("name", "from", "value", "action", "observation", "args", "cause", "source", "text"),
    *("input", "output", "timestamp", "messages", "history", "conversations", "mapping"),
    *("kind", "parentUuid", "attachment", "prompt", "num_turns", "object", "extra", "items"),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["user", "assistant", "tool", "message", "response_item", "text", "event_msg"]
    )
    | st.sampled_from(["attachment", "queue-operation", "response", "ActionEvent", "human"])
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=30,
)
READERS = [
    claude_code.read,
    codex.read,
    openhands.read,
    openhands_v1.read,
    chat.read,
    sharegpt.read,
    swe_agent.read,
    swe_agent.read_mini,
]


@given(st.lists(JSON, max_size=6))
def test_no_reader_stumbles_over_any_json(records: list[Any]) -> None:
    for reader in READERS:
        for turn in reader(records):
            assert isinstance(turn.text, str)
            assert all(isinstance(call.arguments, dict) for call in turn.calls)


@given(JSON, st.booleans())
def test_any_file_is_either_read_or_refused(value: Any, in_lines: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        records = value if in_lines and isinstance(value, list) else [value]
        path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
        with contextlib.suppress(RecordingError):
            transcript = detect.detect(path)
            for number in range(transcript.conversations):
                list(transcript.turns(number + 1))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n\n",
        b"hello\nworld\n",
        b"[1, 2",
        b"\xff\xfe\x00",
        b'{"messages": NaN}',
        b'{"messages": 1e999}',
        b"[]",
        b'{"a": 1}\n{"b": 2}\n',
        b"[" * 100_000,
        b'{"a":' * 1000 + b"1" + b"}" * 1000,
        json.dumps([{"role": "user", "content": "x" * 200_000}])[:-1].encode(),
    ],
    ids=range(12),
)
def test_what_is_no_transcript_is_refused_with_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"x\.json"):
        read(path)


def test_folders_pipes_and_missing_files_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ".", "missing"):
        with pytest.raises(RecordingError, match="not a file"):
            detect.detect(tmp_path / name)


def test_messages_that_answer_each_other_in_a_circle(tmp_path: Path) -> None:
    nodes = {"a": {"parent": "b"}, "b": {"parent": "a"}}
    path = document(tmp_path / "x.json", [{"mapping": nodes, "current_node": "a"}])
    with pytest.raises(RecordingError, match="circle"):
        read(path)


def test_links_in_a_circle_do_not_matter_where_the_order_is_the_files(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x.jsonl",
        claude("user", "Hi", "u1", parentUuid="a1"),
        claude("assistant", text("Ho"), "a1", parentUuid="u1"),
    )
    assert [turn.text for turn in read(path)] == ["Hi", "Ho"]


def test_bad_lines_are_skipped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LINE", 2000)
    path = lines(tmp_path / "x.jsonl", claude("user", "Hi", "u1"))
    deep = "[" * 500 + "]" * 500
    with path.open("a") as stream:
        stream.write(f'{"x" * 5000}\n"text"\n{{"torn\n{deep}\n')
        stream.write(json.dumps(claude("user", "y" * 3000, "u2")) + "\n")
        stream.write(json.dumps(claude("assistant", text("Ho"), "a1")))
    transcript = detect.detect(path)
    assert [turn.text for turn in transcript.turns()] == ["Hi", "Ho"]
    assert transcript.skipped == 4


def test_a_damaged_first_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", claude("user", "Hi", "u1"), claude("user", "Ho", "u2"))
    path.write_bytes(b'{"torn": \n' + path.read_bytes())
    assert [turn.text for turn in read(path)] == ["Hi", "Ho"]


def test_a_number_beyond_all_bounds_is_no_time(tmp_path: Path) -> None:
    absurd = {**claude("user", "Hi", "u1"), "timestamp": 10**400}
    turns = read(lines(tmp_path / "x.jsonl", absurd, claude("assistant", text("Ho"), "a1")))
    assert [(turn.text, turn.time is None) for turn in turns] == [("Hi", True), ("Ho", False)]


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "session_meta", "payload": {"id": "x"}}, {"type": "event_msg", "payload": {}}],
        [claude("user", [], "u1"), claude("assistant", [{"type": "thinking"}], "a1")],
        [{"source": "agent", "observation": "agent_state_changed", "content": ""}],
        [{"role": "narrator", "content": "Once"}],
        [{"conversations": [{"from": "?", "value": "Hi"}]}],
        [{"messages": []}],
    ],
    ids=range(6),
)
def test_records_without_any_turn_are_an_error_that_says_so(tmp_path: Path, value: Any) -> None:
    path = lines(tmp_path / "x.jsonl", *value)
    with pytest.raises(RecordingError, match=r"x\.jsonl .* none of its records"):
        read(path)


@pytest.mark.parametrize("count", [100, 3000])
def test_a_format_is_told_beyond_much_that_is_no_message(tmp_path: Path, count: int) -> None:
    notes = [{"type": "file-history-snapshot", "snapshot": {}}] * count
    path = lines(tmp_path / "x.jsonl", *notes, claude("user", "Hi", "u1"))
    assert [turn.text for turn in read(path)] == ["Hi"]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_is_none_costs_neither_its_file_nor_its_line(
    tmp_path: Path, number: str
) -> None:
    path = tmp_path / "x.json"
    message = f'{{"role": "user", "content": "Hi", "extra": {{"cost": {number}}}}}'
    for content in (f'{{"messages": [{message}]}}', f"{message}\n{message}\n"):
        path.write_text(content)
        assert {turn.text for turn in read(path)} == {"Hi"}
        transcript = detect.detect(path)
        assert len(list(transcript.turns())) == content.count("Hi")
        assert transcript.skipped == 0


def test_a_large_document_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_DOCUMENT", 1000)
    for name, value in (("a", [{"role": "user", "content": "x" * 2000}]), ("b", {"messages": []})):
        path = document(tmp_path / f"{name}.json", value)
        if name == "b":
            lines(path, *[{"messages": [], "n": n} for n in range(100)])
        with pytest.raises(RecordingError, match="1000 bytes"):
            detect.detect(path)


def test_a_transcript_has_a_last_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "MAX_TURNS", 3)
    path = document(tmp_path / "x.json", [{"role": "user", "content": "x"}] * 4)
    with pytest.raises(RecordingError, match="more than 3 turns"):
        read(path)


def test_reading_is_lazy_and_writes_nothing(tmp_path: Path) -> None:
    inner = tmp_path / "in"
    inner.mkdir()
    said = claude("user", "Hi", "../../u1", sessionId="../../etc/evil", cwd="/../x")
    path = lines(
        inner / "x.jsonl", said, *[claude("assistant", text("Ho"), f"a{n}") for n in range(9)]
    )
    turns = detect.detect(path).turns()
    assert next(turns).text == "Hi"
    path.write_bytes(b"")
    assert sorted(tmp_path.rglob("*")) == [inner, path]
