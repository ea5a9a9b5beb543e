"""Topic shift on small and partial data: what can be measured is, and the rest is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import learned_shift, topic_shift
from tests.benchmarks.__main__ import reason_to_skip
from tests.benchmarks.data import NoData
from tests.benchmarks.phases import conversations
from tests.benchmarks.report import Table, render
from tests.benchmarks.suite import SUITE

TALK = [
    "Hello, I need a taxi to the station.",
    "When do you want to leave?",
    "At seven, please, for two people.",
    "The taxi is booked.",
    "Which museum has paintings by Vermeer?",
    "The one at the river has three.",
]
NONE = pytest.param([], id="none")
SILENT = pytest.param([{"utterances": [], "segments": []}], id="without turns")


def write(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), "utf-8")


def kdconv(root: Path, split: str, *segments: int) -> None:
    entry = {"utterances": TALK[: sum(segments)], "segments": segments}
    write(root / "kdconv_concat" / f"{split}.json", [entry])


def prompts(root: Path, *relations: str) -> None:
    """A conversation of two prompts for each relation."""
    turns = [
        {"name": name, "user prompt": text, "assistant answer": "Done as you asked."}
        for name, text in (("c1", TALK[0]), ("c2", TALK[4]))
    ]
    chats = [
        {"whole_conv": turns, "structure": [{"target": ["c2"], "relation": relation}]}
        for relation in relations
    ]
    write(root / "structflowbench" / "StructFlowBench.json", chats)


def by_name(tables: list[Table]) -> dict[str, Table]:
    for table in tables:
        render(table)
    return {table.measure: table for table in tables}


def test_one_dialogue_without_development_is_tested(tmp_path: Path) -> None:
    kdconv(tmp_path, "test", 4, 2)
    tables = by_name(topic_shift.measure(tmp_path))
    assert len(tables["Topic shift, all turns: kdconv_concat, test"].rows) == 4
    switches = tables["Topic shift, user inputs: kdconv_concat, test"]
    assert switches.rows[1].method == "contrast, percentile 25"
    assert "no development split" in switches.note
    assert {f"Topic shift: {name}" for name in ("tiage", "dialseg711", "kdconv_concat")} <= set(
        tables
    )
    tables = by_name(learned_shift.measure(tmp_path))
    assert (
        "no development split"
        in tables["Topic shift, learned, user inputs: kdconv_concat, test"].note
    )


@pytest.mark.parametrize("entries", [NONE, SILENT])
def test_an_empty_test_split_is_named(tmp_path: Path, entries: list[Any]) -> None:
    kdconv(tmp_path, "dev", 4, 2)
    write(tmp_path / "kdconv_concat" / "test.json", entries)
    for module in (topic_shift, learned_shift):
        with pytest.raises(NoData, match="kdconv_concat: no dialogue in its test split"):
            module.measure(tmp_path)


def test_where_there_is_no_switch_there_is_no_recall(tmp_path: Path) -> None:
    kdconv(tmp_path, "test", 2)
    prompts(tmp_path, "follow-up", "follow-up")
    tables = by_name(topic_shift.measure(tmp_path))
    switches = tables["Topic shift, user inputs: kdconv_concat, test"]
    assert [row.figures for row in switches.rows] == [(None, None)] * 3
    assert (switches.missed(), len(switches.unmeasured())) == ([], 2)
    found, _, refinements = tables["Switches of prompts: StructFlowBench"].rows[1].figures
    assert (found, refinements) == (None, None)


def test_prompts_alone_are_enough(tmp_path: Path) -> None:
    prompts(tmp_path, "follow-up", "follow-up")
    (benchmark,) = [own for own in SUITE if own.name == "topic_shift"]
    assert reason_to_skip(benchmark, tmp_path, named=False, model=False) == ""


def test_a_single_conversation_of_prompts_is_not_tested(tmp_path: Path) -> None:
    prompts(tmp_path, "unrelatedness")
    with pytest.raises(NoData, match="structflowbench: a single conversation"):
        topic_shift.measure(tmp_path)
    told: list[str] = []
    found = conversations(tmp_path, lambda part, reason: told.append(f"{part}: {reason}"))
    assert list(found) == ["the fifteen turns"]
    assert [text.partition(":")[0] for text in told] == [
        *("tiage", "dialseg711", "kdconv_concat", "structflowbench")
    ]
