from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gh_tui.session.importers.detect import detect
from tests.benchmarks import coding_data
from tests.benchmarks import coding_sessions as bench
from tests.benchmarks.coding_data import files_in, read_sessions, sessions_folder
from tests.benchmarks.data import NoData
from tests.benchmarks.suite import SUITE


def messages(calls: int, *, back: bool = True) -> list[dict[str, Any]]:
    """Each step reads a file of its own; the last one may go back to a name of the first."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "Tidy the settings."}]
    for step in range(calls):
        returns = back and step == calls - 1
        asked = {"find": "first_name_0"} if returns else {"path": f"src/part_{step}.py"}
        function = {"name": "read_file", "arguments": json.dumps(asked)}
        said += [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{step}", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{step}",
                "content": f"first_name_{step} = 1\n" * 60,
            },
        ]
    return said


def write_session(path: Path, *calls: int) -> None:
    """A file of one conversation, or of several."""
    talks = [messages(count) for count in calls]
    path.parent.mkdir(parents=True, exist_ok=True)
    values = talks[0] if len(talks) == 1 else [{"messages": talk} for talk in talks]
    path.write_text(json.dumps(values), "utf-8")


def test_every_method_is_measured_on_the_same_references(tmp_path: Path) -> None:
    write_session(tmp_path / "sessions" / "a.json", 10)
    write_session(tmp_path / "sessions" / "b.json", 3)
    (tmp_path / "sessions" / "c.json").write_text("{", "utf-8")
    told: list[str] = []
    rows = bench.measure(
        sessions_folder(tmp_path / "data"),
        lambda part, reason: told.append(f"{part}: {reason}"),
    )
    assert [text.partition(":")[0] for text in told] == [
        *("sessions/b.json", "sessions/c.json", "test")
    ]
    assert "3 tool calls" in told[0]
    assert {row.split for row in rows} == {"development", "all"}
    rows = [row for row in rows if row.split == "all"]
    assert {(row.references, row.long_references) for row in rows} == {(1, 1)}
    by_name = {(row.method, row.setting): row for row in rows}
    full = by_name["full history", ""]
    assert (full.tokens, full.cached, full.all, full.long) == (1, 1, 1, 1)
    assert by_name["recency", "50% of history"].all == 0
    assert by_name["masking", "all but 2"].all == 0
    eager = by_name["program", "eager, 1 results, 100%"]
    assert eager.all == 1
    assert eager.tokens < 0.6
    share = bench.saved(eager, rows)
    assert share is not None
    assert share > 0.3


def read(folder: Path) -> tuple[list[str], list[str]]:
    """The names of the sessions, and what was left out."""
    told: list[str] = []
    found = read_sessions(files_in(folder), lambda part, reason: told.append(f"{part}: {reason}"))
    return [session.name for session in asyncio.run(found)], told


def test_every_conversation_of_a_file_is_a_session(tmp_path: Path) -> None:
    write_session(tmp_path / "a.json", 8, 2, 9)
    names, told = read(tmp_path)
    assert names == ["a.json, 1", "a.json, 3"]
    assert ["1 of 3 conversations: 2 tool calls" in text for text in told] == [True]


def test_a_reader_that_fails_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(path: Path) -> Any:
        if path.name == "b.json":
            raise RecursionError("too deep")
        return detect(path)

    monkeypatch.setattr(coding_data, "detect", opened)
    for name in ("a.json", "b.json", "c.json"):
        write_session(tmp_path / name, 8)
    names, told = read(tmp_path)
    assert names == ["a.json", "c.json"]
    assert ["b.json: cannot be read: RecursionError: too deep" in text for text in told] == [True]


def test_what_nobody_refers_to_has_no_recall(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(messages(8, back=False)), "utf-8")
    test = {table.measure: table for table in bench.tables(tmp_path)}["Coding sessions, test"]
    (result,) = [row for row in test.rows if row.kind == "result"]
    assert result.figures[2:5] == (None, None, None)
    assert test.missed() == []
    assert [name.rpartition(": ")[2] for name in test.unmeasured()] == [
        *("all", "long-range", "saved")
    ]


def test_nothing_to_measure_is_said(tmp_path: Path) -> None:
    write_session(tmp_path / "b.json", 3)
    with pytest.raises(NoData, match=r"b\.json: 3 tool calls; sessions: there is none of 8"):
        bench.tables(tmp_path)


def test_sessions_in_the_data_come_before_those_beside_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (needs,) = [own.needs for own in SUITE if own.name == "coding_sessions"]
    assert any((data / need).exists() for need in needs)
    assert sessions_folder(data) == data
    (data / "locomo").mkdir()
    with pytest.raises(NoData):
        sessions_folder(data)
    beside, inside = tmp_path / "sessions", data / "sessions"
    beside.mkdir()
    assert sessions_folder(data) == beside
    inside.mkdir()
    assert sessions_folder(data) == inside
