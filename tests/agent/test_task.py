from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.agent.task import task_from_input
from gh_tui.events.values import Task

EN = (
    "Write a newsletter for our customers in the folder docs/news using Markdown, "
    "at most 300 words, by Friday because we launch a new product."
)
ZH = "在 src/utils 目录下使用Python写一个面向新手的脚本，周五之前完成，为了节省人工，不超过200行"
ID = (
    "Buat laporan untuk direksi di folder docs/laporan menggunakan LaTeX, maksimal 10 halaman, "
    "paling lambat Jumat, agar investasinya disetujui."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            EN,
            Task(
                what=EN,
                why="we launch a new product",
                who="our customers",
                when="by Friday",
                where="docs/news",
                how="Markdown",
                how_much="at most 300 words",
            ),
        ),
        (
            ZH,
            Task(
                what=ZH,
                why="节省人工",
                who="新手",
                when="周五之前",
                where="src/utils 目录",
                how="Python",
                how_much="不超过200行",
            ),
        ),
        (
            ID,
            Task(
                what=ID,
                why="investasinya disetujui",
                who="direksi",
                when="paling lambat Jumat",
                where="folder docs/laporan",
                how="LaTeX",
                how_much="maksimal 10 halaman",
            ),
        ),
    ],
)
def test_marked_parts_are_found(text: str, expected: Task) -> None:
    assert task_from_input(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "Fix the bug in login.py",
        "The meeting by the river was fun",
        "把配置从旧库迁移到新库，先列步骤",
        "今天天气真不错",
        "Perbaiki galat di login.py",
        "",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    assert task_from_input(text) == Task(what=text)


@given(st.text(max_size=300))
def test_what_is_the_input_verbatim_and_the_rest_short_parts_of_it(text: str) -> None:
    task = task_from_input(text)
    assert task.what == text
    for part in (task.why, task.who, task.when, task.where, task.how, task.how_much):
        assert part in text
        assert len(part) <= 120


def test_the_frame_is_searched_for_at_the_beginning_only() -> None:
    assert task_from_input("x " * 2000 + "because of this").why == ""
