"""All benchmarks with one command: a table per measure, and JSON.

    python -m tests.benchmarks --data DIR [--json FILE] [--model] [NAME ...]

Without names all run that can; those that ask the local model run with `--model` or by name.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.data import NoData
from tests.benchmarks.report import render
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
        text = json.dumps(values, indent=1, ensure_ascii=False)
        # The name of a file may hold what UTF-8 has no bytes for.
        self.path.write_text(text, "utf-8", errors="backslashreplace")

    def summary(self) -> str:
        """The last lines: what was not measured, and where a target was missed."""
        lines = [f"skipped {name}: {reason}" for name, reason in self.skipped.items()]
        lines += [f"FAILED {name}: {reason}" for name, reason in self.failed.items()]
        tables = [table for own in self.tables.values() for table in own]
        lines += [f"skipped {t['measure']}: {t['skipped']}" for t in tables if t["skipped"]]
        for key, text in (("unmeasured", "not measured"), ("missed", "short of the target")):
            lines += [f"{text}: {t['measure']}: {name}" for t in tables for name in t[key]]
        return "\n".join(lines)


def reason_to_skip(benchmark: Benchmark, data: Path | None, *, named: bool, model: bool) -> str:
    """Why a benchmark cannot or need not run; empty if it runs."""
    if benchmark.model and not (named or model):
        return "asks the local model, which takes long; run it with --model"
    if not benchmark.needs:
        return ""
    if data is None:
        return f"needs {' or '.join(benchmark.needs)}; say where with --data DIR (DATA=DIR)"
    if not data.is_dir():
        return f"there is no folder {data}"
    if not any((data / need).exists() for need in benchmark.needs):
        return f"there is no {' or '.join(benchmark.needs)} in {data}"
    return ""


def run(benchmark: Benchmark, data: Path | None, results: Results) -> None:
    """Run one benchmark, record its tables and print them; a failure is told and recorded."""
    print(f"== {benchmark.name} ==", flush=True)
    begun = time.perf_counter()
    try:
        tables = benchmark.measure(data or Path())
        text = "\n".join(render(table) for table in tables)
        results.tables[benchmark.name] = [table.to_wire() for table in tables]
    except NoData as reason:
        text = f"skipped: {reason}"
        results.skipped[benchmark.name] = str(reason)
    except Exception as error:
        text = traceback.format_exc()
        results.failed[benchmark.name] = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - begun
    results.seconds[benchmark.name] = round(seconds, 1)
    results.write()
    print(f"{text}\n({seconds:.0f} s)\n", flush=True)


def main(arguments: Sequence[str], suite: Sequence[Benchmark] = SUITE) -> int:
    """Run what was asked for; 1 if a benchmark failed, whatever its figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--data", type=Path, help="the folder of public data")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--model", action="store_true", help="also ask the local model")
    parser.add_argument("names", nargs="*", choices=[[], *(b.name for b in suite)], metavar="NAME")
    options = parser.parse_args(arguments)
    data = options.data and options.data.expanduser()
    results = Results(options.json)
    for benchmark in suite:
        named = benchmark.name in options.names
        if options.names and not named:
            continue
        reason = reason_to_skip(benchmark, data, named=named, model=options.model)
        if reason:
            results.skipped[benchmark.name] = reason
            print(f"== {benchmark.name} ==\nskipped: {reason}\n", flush=True)
        else:
            run(benchmark, data, results)
    results.write()
    print(results.summary())
    print(f"written to {options.json}")
    return 1 if results.failed else 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
