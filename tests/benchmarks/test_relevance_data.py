"""Labelled pairs and sessions of every kind, a few of them or damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from tests.benchmarks import relevance
from tests.benchmarks.data import NoData
from tests.benchmarks.report import Table, render

TASK = "Write a script that analyses nginx access logs"
ON = "Group the 5xx status codes of the log by URL"
TALK = "Where should I go this weekend?"


def pair(kind: str, label: str, text: str, **more: str) -> dict[str, str]:
    return {"kind": kind, "label": label, "lang": "en", "a": TASK, "b": text, **more}


def write(root: Path, values: Any) -> None:
    (root / "relevance").mkdir()
    (root / "relevance" / "pairs.json").write_text(json.dumps(values), "utf-8")


async def measure(root: Path) -> dict[str, Table]:
    service = EmbeddingService(NativeEmbedder())
    tables = await relevance.tables_of(root, service)
    service.close()
    for table in tables:
        render(table)
    return {table.measure: table for table in tables}


async def test_every_kind_and_language_has_its_table(tmp_path: Path) -> None:
    pairs = [
        *(pair("task", "on", ON), pair("task", "off_smalltalk", TALK)),
        *(pair("adj", "same", ON, lang="id"), pair("adj", "diff", TALK, lang="id")),
        pair("xling", "off", "推荐一部好看的电影吧", lang="en-zh"),
        pair("riddle", "on", "?"),
    ]
    write(tmp_path, {"pairs": pairs})
    tables = await measure(tmp_path)
    (cosine, own) = tables["Relevance at 0.3, inputs and tasks, en"].rows
    assert (own.kind, own.items, own.figures) == ("result", 2, (1.0, 1.0, None, 1.0, None))
    assert cosine.kind == "baseline"
    one = tables["Relevance at 0.3, two inputs in a row, id"]
    assert one.rows[-1].figures[:2] == (1.0, 1.0)
    assert one.targets == ()
    off = tables["Relevance at 0.3, inputs and tasks in two languages, en-zh"]
    assert off.rows[-1].figures == (None, 1.0, None)
    left_out = [(name, table.skipped) for name, table in tables.items() if table.skipped]
    assert [name for name, _ in left_out] == [
        *("Relevance: pairs", "Relevance: sessions", "Relevance: code and tasks")
    ]


def test_what_is_wrong_with_pairs_is_counted(tmp_path: Path) -> None:
    wrong = [pair("code", "else", "x = 1")] * 2 + [
        pair("riddle", "on", "?"),
        pair("task", "on", ON),
    ]
    write(tmp_path, {"pairs": wrong})
    told: list[str] = []
    pairs, _ = relevance.read(tmp_path, lambda part, reason: told.append(f"{part}: {reason}"))
    assert len(pairs) == 1
    assert told == [
        "pairs: 2 of them: ValueError: code pairs with the unknown label else",
        "pairs: 1 of them: KeyError: 'riddle'",
        "sessions: there are none",
    ]


async def test_a_session_without_a_language_is_known_by_its_script_or_not_at_all(
    tmp_path: Path,
) -> None:
    sessions = [
        {"task": "规划一次五天的日本家庭旅行", "turns": ["孩子想去乐园"], "labels": [1]},
        {"task": "日本への旅行を計画する", "turns": ["東京に行く"], "labels": [1]},
        {"task": "Rencanakan liburan keluarga", "turns": ["Ke Tokyo", "Hmm"], "expected": [0.5, 0]},
        {"task": "Plan a trip", "turns": ["To Tokyo", "By train"], "labels": [1]},
    ]
    write(tmp_path, {"sequences": sessions})
    tables = await measure(tmp_path)
    rows = tables["Relevance at 0.3, short sessions line by line"].rows
    assert [(row.method, row.items) for row in rows] == [
        ("relevance_score, zh", 1),
        ("relevance_score, unknown", 3),
    ]
    assert "not a label for each line" in tables["Relevance: sessions"].skipped


@pytest.mark.parametrize("text", ["", "[]", '{"pairs": 5}', '{"pairs": [{"kind": "ta'])
def test_a_file_that_is_not_what_it_should_be_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "relevance").mkdir()
    (tmp_path / "relevance" / "pairs.json").write_text(text, "utf-8")
    with pytest.raises(NoData, match=r"pairs\.json cannot be read"):
        relevance.measure(tmp_path)


def test_auc_counts_ties_half_and_needs_both_sides() -> None:
    assert relevance.auc([0.5, 0.9], [0.5, 0.1]) == (0.5 + 1 + 1 + 1) / 4
    assert relevance.auc([], [0.5]) is None
