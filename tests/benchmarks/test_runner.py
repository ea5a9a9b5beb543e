"""The one command: what it skips, what it survives, and what it says of the targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.report import Row, Table, Target, render
from tests.benchmarks.suite import SUITE, Benchmark


def table(figure: float) -> Table:
    row = Row("ours", "result", 12, (figure,))
    plain = Row("theirs", "baseline", 12, (0.1,))
    return Table("Recall", ("at 5",), (plain, row), (Target(0.5),), "questions")


def broken(data: Path) -> list[Table]:
    raise RuntimeError("the data is not what it was")


BENCHMARKS = (
    Benchmark("first", lambda data: [table(0.6)]),
    Benchmark("needy", lambda data: [table(0.6)], ("somewhere/file.json",)),
    Benchmark("broken", broken),
    Benchmark("slow", lambda data: [table(0.6)], model=True),
    Benchmark("last", lambda data: [table(0.4)]),
)


def test_one_failure_stops_nothing_and_what_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "bench.json"
    code = main(["--data", str(tmp_path), "--json", str(out)], BENCHMARKS)
    said = capsys.readouterr().out
    written = json.loads(out.read_text("utf-8"))
    assert code == 1
    assert list(written["tables"]) == ["first", "last"]
    assert "not what it was" in written["failed"]["broken"]
    assert "somewhere/file.json" in written["skipped"]["needy"]
    assert "--model" in written["skipped"]["slow"]
    assert "FAILED broken" in said
    assert "short of the target: Recall: ours: at 5" in said


def test_named_ones_run_alone_even_if_they_ask_the_model(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    assert main(["--json", str(out), "slow"], BENCHMARKS) == 0
    assert list(json.loads(out.read_text("utf-8"))["tables"]) == ["slow"]


def test_without_data_only_what_needs_none_runs(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    main(["--json", str(out), "needy", "first"], BENCHMARKS)
    written = json.loads(out.read_text("utf-8"))
    assert list(written["tables"]) == ["first"]
    assert "DATA=DIR" in written["skipped"]["needy"]


def test_a_table_shows_target_items_baseline_and_result() -> None:
    text = render(table(0.4))
    assert "≥0.500" in text
    assert "questions" in text
    assert [word in text for word in ("theirs", "baseline", "ours", "result", "12")] == [True] * 5
    assert "short of the target: ours: at 5" in text
    assert render(table(0.4999)).endswith("reached"), "as it is printed, so it is judged"


def test_at_most_and_at_least() -> None:
    assert Target(0.1, most=True).reached(0.1)
    assert not Target(0.1, most=True).reached(0.11)
    assert not Target(0.1).reached(0.0)


def test_names_are_unique() -> None:
    names = [benchmark.name for benchmark in SUITE]
    assert len(names) == len(set(names))
