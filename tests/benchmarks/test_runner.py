"""The one command: what it skips, what it survives, and what it says of the targets."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.report import Row, Table, Target, mean, render, with_skipped
from tests.benchmarks.suite import SUITE, Benchmark

ROOT = Path(__file__).parents[2]


def table(figure: float | None) -> Table:
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


@pytest.mark.parametrize("figure", [None, float("nan"), float("inf"), mean([])])
def test_a_figure_that_is_missing_is_neither_missed_nor_reached(
    figure: float | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = render(table(figure))
    assert "not measured: ours: at 5" in text
    assert "short" not in text
    assert "reached" not in text
    out = tmp_path / "bench.json"
    assert main(["--json", str(out)], [Benchmark("only", lambda data: [table(figure)])]) == 0
    (written,) = json.loads(out.read_text("utf-8"), parse_constant=pytest.fail)["tables"]["only"]
    assert written["rows"][1]["figures"] == [None]
    assert written["missed"] == []
    assert "not measured: Recall: ours: at 5" in capsys.readouterr().out


def test_a_table_that_cannot_be_shown_stops_nothing(tmp_path: Path) -> None:
    wrong = Table("Recall", ("at 5",), (Row("ours", "result", 1, ("many",)),))  # type: ignore[arg-type]
    suite = [Benchmark("wrong", lambda data: [wrong]), Benchmark("next", lambda data: [table(0.6)])]
    out = tmp_path / "bench.json"
    assert main(["--json", str(out)], suite) == 1
    written = json.loads(out.read_text("utf-8"))
    assert list(written["failed"]) == ["wrong"]
    assert list(written["tables"]) == ["next"]


def test_the_figures_are_written_before_they_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*text: object, **options: object) -> None:
        if "Recall" in str(text):
            raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    out = tmp_path / "bench.json"
    with pytest.raises(BrokenPipeError):
        main(["--json", str(out)], [Benchmark("only", lambda data: [table(0.6)])])
    assert list(json.loads(out.read_text("utf-8"))["tables"]) == ["only"]


def test_what_a_benchmark_leaves_out_is_said_and_without_any_data_it_is_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(data: Path) -> list[Table]:
        return with_skipped("Recall", [], [("part one", "no questions")])

    def some(data: Path) -> list[Table]:
        return with_skipped("Recall", [table(0.6)], [("part two", "no questions")])

    out = tmp_path / "bench.json"
    suite = [Benchmark("nothing", nothing), Benchmark("some", some)]
    assert main(["--json", str(out)], suite) == 0
    said = capsys.readouterr().out
    assert "skipped nothing: part one: no questions" in said
    assert "skipped Recall: part two: no questions" in said
    assert list(json.loads(out.read_text("utf-8"))["skipped"]) == ["nothing"]


def test_at_most_and_at_least() -> None:
    assert Target(0.1, most=True).reached(0.1)
    assert not Target(0.1, most=True).reached(0.11)
    assert not Target(0.1).reached(0.0)


def test_names_are_unique() -> None:
    names = [benchmark.name for benchmark in SUITE]
    assert len(names) == len(set(names))


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_hands_on_a_folder_with_any_name(tmp_path: Path) -> None:
    made = tmp_path / "venv"
    (made / "bin").mkdir(parents=True)
    python = made / "bin" / "python"
    python.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", "utf-8")
    python.chmod(0o755)
    for stamp in (".base", ".dev"):
        (made / stamp).touch()
    name = """a b's "data" """
    command = ["make", "--silent", "bench", f"VENV={made}", f"DATA={name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-m", "tests.benchmarks", "--data", name]
