from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.benchmarks import coding_sessions as bench
from tests.benchmarks.coding_data import sessions_folder
from tests.benchmarks.report import render


def write_session(path: Path, calls: int) -> None:
    """Each step reads a file of its own; the last one goes back to a name of the first."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Tidy the settings."}]
    for step in range(calls):
        asked = {"path": f"src/part_{step}.py"} if step < calls - 1 else {"find": "first_name_0"}
        function = {"name": "read_file", "arguments": json.dumps(asked)}
        messages += [
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
    path.write_text(json.dumps(messages), "utf-8")


def test_every_method_is_measured_on_the_same_references(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    write_session(folder / "a.json", 10)
    write_session(folder / "b.json", 3)
    (folder / "c.json").write_text("{", "utf-8")
    left_out: list[str] = []
    rows = bench.measure(sessions_folder(tmp_path / "data"), left_out.append)
    assert [name for text in left_out for name in ("b.json", "c.json") if name in text] == [
        *("b.json", "c.json")
    ]
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
    assert bench.saved(eager, rows) > 0.3


def test_nothing_to_measure_is_said(tmp_path: Path) -> None:
    left_out: list[str] = []
    write_session(tmp_path / "b.json", 3)
    tables = bench.tables(bench.measure(tmp_path, left_out.append), left_out)
    text = "\n".join(render(table) for table in tables)
    assert "skipped: there is no recorded session" in text
    assert "b.json: 3 tool calls" in text
