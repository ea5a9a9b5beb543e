"""Data of the same kinds that is small, partial, damaged or in another encoding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.data import Corpus, NoData, load_corpora, load_prompts, needed, read_text

TALK = [["Hi, any pets?", "-1"], ["A dog.", "0"], ["I surf.", "1"], ["Nice!", "0"]]


def write(path: Path, values: Any, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)
    path.write_bytes(text.encode(encoding))
    return path


def tiage(root: Path, *names: str, talk: Any = TALK, encoding: str = "utf-8") -> None:
    for name in names:
        write(root / "tiage" / f"anno_{name}.json", {"1": talk, "2": talk}, encoding)


def load(root: Path) -> tuple[dict[str, Corpus], list[str]]:
    told: list[str] = []
    corpora = load_corpora(root, lambda part, reason: told.append(f"{part}: {reason}"))
    return {corpus.name: corpus for corpus in corpora}, told


def test_missing_corpora_and_files_are_named(tmp_path: Path) -> None:
    tiage(tmp_path, "test")
    corpora, told = load(tmp_path)
    assert (corpora["tiage"].development, len(corpora["tiage"].test)) == ((), 2)
    said = "\n".join(told)
    assert [name in said for name in ("anno_train", "anno_dev", "dialseg711", "kdconv")] == [
        True
    ] * 4
    with pytest.raises(NoData, match="anno_train"):
        load_corpora(tmp_path)


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    tiage(tmp_path, "train", "dev", talk=TALK)
    tiage(tmp_path, "test", talk=[[text, int(label)] for text, label in TALK])
    corpora, _ = load(tmp_path)
    assert corpora["tiage"].test[0] == corpora["tiage"].development[0]
    assert corpora["tiage"].test[0].boundaries == (1,)


def test_a_label_that_nobody_defined_is_refused(tmp_path: Path) -> None:
    tiage(tmp_path, "test", talk=[["Hello.", "-1"], ["Bye.", "2"]])
    corpora, told = load(tmp_path)
    assert corpora == {}
    assert "a label other than" in "\n".join(told)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_of_the_encoding_is_understood(tmp_path: Path, encoding: str) -> None:
    tiage(tmp_path, "train", "dev", "test", talk=[["喜欢狗", "-1"], ["好", "1"]], encoding=encoding)
    corpora, _ = load(tmp_path)
    assert corpora["tiage"].test[0].texts == ("喜欢狗", "好")


def test_an_empty_or_foreign_file_costs_only_its_own_part(tmp_path: Path) -> None:
    tiage(tmp_path, "train", "test")
    write(tmp_path / "tiage" / "anno_dev.json", "")
    write(tmp_path / "kdconv_concat" / "test.json", [{"utterances": "text"}])
    write(tmp_path / "kdconv_concat" / "dev.json", "[" * 100_000)
    (tmp_path / "dialseg711").mkdir()
    (tmp_path / "dialseg711" / "dialseg711_test.jsonl").write_bytes(b"\xff\xfe\xff")
    corpora, told = load(tmp_path)
    assert list(corpora) == ["tiage"]
    said = "\n".join(told)
    assert "anno_dev.json cannot be read: JSONDecodeError" in said
    assert "test.json cannot be read: KeyError" in said
    assert "dev.json cannot be read: RecursionError" in said
    assert "dialseg711_test.jsonl cannot be read" in said


def test_a_torn_line_is_counted_and_a_separator_inside_a_string_tears_none(tmp_path: Path) -> None:
    talk = "user: Hi.\u2028There. [NEWLINE] agent: Yes? [NEWLINE] [BOUNDARY] [NEWLINE] user: Taxi."
    line = json.dumps({"dialogue": talk}, ensure_ascii=False)
    path = tmp_path / "dialseg711" / "dialseg711_test.jsonl"
    write(path, "\r\n".join([line] * 4 + ['{"dialogue": "user: hel', '{"other": 1}', "", line]))
    corpora, told = load(tmp_path)
    assert (len(corpora["dialseg711"].development), len(corpora["dialseg711"].test)) == (1, 4)
    assert corpora["dialseg711"].test[0].boundaries == (1,)
    assert "dialseg711: 2 of the 7 lines" in "\n".join(told)


def test_boundaries_are_between_turns_and_dialogues_without_turns_are_none(tmp_path: Path) -> None:
    entries = [
        {"utterances": ["a", "b", "c"], "segments": [0, 2, 5, 1]},
        {"utterances": [], "segments": []},
    ]
    write(tmp_path / "kdconv_concat" / "test.json", entries)
    corpora, _ = load(tmp_path)
    assert [one.boundaries for one in corpora["kdconv_concat"].test] == [(1,)]


def test_prompts_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    told: list[str] = []
    write(tmp_path / "structflowbench" / "StructFlowBench.json", [{"whole_conv": []}])
    assert load_prompts(tmp_path, lambda part, reason: told.append(f"{part}: {reason}")) == ()
    assert "structflowbench" in told[0]
    with pytest.raises(NoData, match="KeyError"):
        load_prompts(tmp_path)


def test_a_needed_file_says_which_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    with pytest.raises(NoData, match=r"pairs\.json is not there"), needed(path):
        read_text(path)
