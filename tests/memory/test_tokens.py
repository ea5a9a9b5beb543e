from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.memory.terms import words_of
from gh_tui.memory.tokens import TokenEstimator, count, scale, scale_all


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a" * 40, 10),
        ("今天天气真不错", 7),
        ("今日はいい天気です", 9),
        ("오늘 날씨", 5),
        ("用test-db吧", 2 + 2),
        ("อากาศ", 4),
        ("Jangan pakai server produksi", 7),
    ],
)
def test_tokens_by_script(text: str, tokens: int) -> None:
    assert count(text) == tokens


@given(st.text(st.characters(exclude_categories=())), st.text(max_size=200))
def test_counts_never_shrink_with_more_text(first: str, second: str) -> None:
    assert 0 <= count(first) <= count(first + second)


@pytest.mark.parametrize("text", ["数据库迁移", "データ移行する", "ย้ายฐานข้อมูล"])
def test_unspaced_scripts_are_more_than_one_word(text: str) -> None:
    assert len(words_of(text)) > 2
    assert set(words_of(text)) & set(words_of(text[1:]))


def test_the_factor_follows_reports_and_stays_within_its_bounds() -> None:
    estimator = TokenEstimator()
    assert (estimator.basis, estimator.scale(1000)) == ("estimated", 1000)
    for _ in range(6):
        assert not estimator.confirm(estimator.scale(1000), 1400)
    assert estimator.basis == "confirmed"
    assert estimator.scale(1000) == pytest.approx(1400, rel=0.05)
    for _ in range(20):
        estimator.confirm(estimator.scale(1000), 9000)
    assert estimator.factor == 2.0


def test_a_report_that_is_close_leaves_the_factor_at_rest() -> None:
    estimator = TokenEstimator()
    for reported in (1010, 985, 1020, 990):
        estimator.confirm(1000, reported)
    assert estimator.factor == 1.0


@pytest.mark.parametrize("learned", [False, True])
def test_a_cut_prompt_is_noticed_and_not_learned_from(learned: bool) -> None:
    estimator = TokenEstimator()
    if learned:
        assert not estimator.confirm(1000, 1000)
    assert estimator.confirm(9000, 4096)
    assert estimator.factor == 1.0


def test_a_server_without_usage_changes_nothing() -> None:
    estimator = TokenEstimator()
    assert not estimator.confirm(1000, 0)
    assert estimator.basis == "estimated"


@given(st.lists(st.integers(0, 10**7), min_size=1), st.integers(10, 40))
def test_one_rounding_everywhere(tokens: list[int], steps: int) -> None:
    factor = steps / 20
    together = scale_all(np.array(tokens, np.int64), factor)
    assert together.tolist() == [scale(number, factor) for number in tokens]
