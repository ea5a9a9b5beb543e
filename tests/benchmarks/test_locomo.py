"""LoCoMo with few conversations, or with questions that cannot all be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.baselines import PlainBm25
from tests.benchmarks.data import NoData
from tests.benchmarks.report import Table, render
from tests.benchmarks.suite import SUITE

SAID = [
    "Hey Ann! How was your week?",
    "Great, I adopted a puppy called Biscuit.",
    "How lovely. I repaired the roof.",
    "My sister flies to Oslo in March.",
    "Then you will have a quiet spring.",
    "I will paint the kitchen yellow.",
]


def conversation(*questions: tuple[str, int, Any]) -> dict[str, Any]:
    turns = [
        {"speaker": "AnnBob"[place % 2 * 3 :][:3], "dia_id": f"D1:{place + 1}", "text": text}
        for place, text in enumerate(SAID)
    ]
    asked = [{"question": q, "category": c, "evidence": e} for q, c, e in questions]
    return {"conversation": {"session_1": turns}, "qa": asked}


ANSWERED = conversation(("What is the puppy called?", 1, ["D1:2"]))
UNANSWERABLE = conversation(("Which boat did Ann buy?", 5, ["D1:2"]))
BARE = conversation(("Who?", 1, []), ("Where?", 2, None), ("When?", 2, ["D9:9"]))


def measure(root: Path, name: str, *conversations: dict[str, Any]) -> dict[str, Table]:
    """All tables of a benchmark of the suite."""
    (root / "locomo").mkdir(exist_ok=True)
    (root / "locomo" / "locomo10.json").write_text(json.dumps(conversations), "utf-8")
    (benchmark,) = [own for own in SUITE if own.name == name]
    found = benchmark.measure(root)
    for table in found:
        render(table)
    return {table.measure: table for table in found}


def test_up_to_three_conversations_are_all_development(tmp_path: Path) -> None:
    tables = measure(tmp_path, "query_unknown", ANSWERED)
    assert tables["LoCoMo, query unknown: conversations 4 to 10, test"].skipped
    (development,) = [table for table in tables.values() if table.rows]
    assert "conversations 1 to 3" in development.measure
    assert development.rows[0].items == 1


def test_what_cannot_be_answered_has_turns_to_recall_and_nothing_to_keep(tmp_path: Path) -> None:
    tables = measure(tmp_path, "locomo", UNANSWERABLE)
    assert {name for name, table in tables.items() if table.skipped} == {
        *("LoCoMo: query known, development", "LoCoMo: query known, test"),
        *("LoCoMo: query known, all", "LoCoMo: turn recall, test"),
    }
    assert tables["LoCoMo, turn recall, development"].rows[0].items == 1
    with pytest.raises(NoData, match="no questions with an answer"):
        measure(tmp_path, "query_unknown", UNANSWERABLE)


def test_the_fourth_is_the_test_wherever_the_questions_are(tmp_path: Path) -> None:
    tables = measure(tmp_path, "locomo", BARE, BARE, BARE, ANSWERED)
    assert tables["LoCoMo: query known, development"].skipped
    for split in ("test", "all"):
        rows = {row.method: row for row in tables[f"LoCoMo, turn recall, {split}"].rows}
        assert (rows["search"].figures[0], rows["search"].items) == (1.0, 1)


@pytest.mark.parametrize("name", ["locomo", "query_unknown"])
def test_nothing_to_ask_is_no_data(tmp_path: Path, name: str) -> None:
    for conversations in ([], [BARE]):
        with pytest.raises(NoData):
            measure(tmp_path, name, *conversations)
    with pytest.raises(NoData, match=r"locomo10\.json cannot be read: KeyError"):
        measure(tmp_path, name, {"qa": []})


def test_the_baseline_joins_forms_of_a_word_and_passes_over_common_ones() -> None:
    texts = ["What is it that you have?", "She was painting kitchens.", "The kitchen, again."]
    assert PlainBm25(texts).order("What is it that she painted in the kitchen?")[0] == 1
    assert PlainBm25([]).order("Anything?") == []
