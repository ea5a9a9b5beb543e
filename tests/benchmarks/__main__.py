"""All benchmarks with one command: a table per measure, and JSON.

    python -m tests.benchmarks --data DIR [--json FILE] [--model] [NAME ...]

Without names all run that can; those that ask the local model run with `--model` or by name.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Table, render
from tests.benchmarks.suite import SUITE, Benchmark


@dataclass(slots=True)
class Results:
    """What came out, as it is written to the JSON file after each benchmark."""

    path: Path | None
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write all that is known so far."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "tables": self.tables,
            "seconds": self.seconds,
            "skipped": self.skipped,
            "failed": self.failed,
        }
        self.path.write_text(json.dumps(values, indent=1, ensure_ascii=False), "utf-8")

    def summary(self) -> str:
        """The last lines: what was not measured, and where a target was missed."""
        lines = [f"skipped {name}: {reason}" for name, reason in self.skipped.items()]
        lines += [f"FAILED {name}: {reason}" for name, reason in self.failed.items()]
        lines += [
            f"short of the target: {table['measure']}: {missed}"
            for tables in self.tables.values()
            for table in tables
            for missed in table["missed"]
        ]
        return "\n".join(lines)


def reason_to_skip(benchmark: Benchmark, data: Path | None, *, named: bool, model: bool) -> str:
    """Why a benchmark cannot or need not run; empty if it runs."""
    if benchmark.model and not (named or model):
        return "asks the local model, which takes long; run it with --model"
    if not benchmark.needs:
        return ""
    if data is None:
        return f"needs {' or '.join(benchmark.needs)}; say where with --data DIR (DATA=DIR)"
    if not any((data / need).exists() for need in benchmark.needs):
        return f"there is no {' or '.join(benchmark.needs)} in {data}"
    return ""


def run(benchmark: Benchmark, data: Path | None, results: Results) -> None:
    """Run one benchmark and print its tables; a failure is told and recorded."""
    print(f"== {benchmark.name} ==", flush=True)
    begun = time.perf_counter()
    try:
        tables: list[Table] = benchmark.measure(data or Path())
    except Exception as error:
        traceback.print_exc(file=sys.stdout)
        results.failed[benchmark.name] = f"{type(error).__name__}: {error}"
    else:
        for table in tables:
            print(render(table), flush=True)
        results.tables[benchmark.name] = [table.to_wire() for table in tables]
    seconds = time.perf_counter() - begun
    results.seconds[benchmark.name] = round(seconds, 1)
    print(f"({seconds:.0f} s)\n", flush=True)
    results.write()


def main(arguments: Sequence[str], suite: Sequence[Benchmark] = SUITE) -> int:
    """Run what was asked for; 1 if a benchmark failed, whatever its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--data", type=Path, help="the folder of public data")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--model", action="store_true", help="also ask the local model")
    parser.add_argument("names", nargs="*", choices=[[], *(b.name for b in suite)], metavar="NAME")
    options = parser.parse_args(arguments)
    results = Results(options.json)
    for benchmark in suite:
        named = benchmark.name in options.names
        if options.names and not named:
            continue
        reason = reason_to_skip(benchmark, options.data, named=named, model=options.model)
        if reason:
            results.skipped[benchmark.name] = reason
            print(f"== {benchmark.name} ==\nskipped: {reason}\n", flush=True)
        else:
            run(benchmark, options.data, results)
    results.write()
    print(results.summary())
    print(f"written to {options.json}")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
