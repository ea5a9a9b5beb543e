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
        estimator.confirm(estimator.scale(1000), 1400, 1000)
    assert not estimator.cut
    assert estimator.basis == "confirmed"
    assert estimator.scale(1000) == pytest.approx(1400, rel=0.05)
    for _ in range(20):
        estimator.confirm(estimator.scale(1000), 9000, 1000)
    assert estimator.factor == 2.0


def test_a_report_that_is_close_leaves_the_factor_at_rest() -> None:
    estimator = TokenEstimator()
    for reported in (1010, 985, 1020, 990):
        estimator.confirm(1000, reported, 1000)
    assert estimator.factor == 1.0


@pytest.mark.parametrize("learned", [False, True])
def test_a_cut_prompt_is_noticed_and_not_learned_from(learned: bool) -> None:
    estimator = TokenEstimator()
    if learned:
        estimator.confirm(1000, 1000, 1000)
    for sent in (9000, 9800, 10600):
        estimator.confirm(sent, 4096, sent)
        assert estimator.cut
    assert estimator.factor == 1.0


def test_a_count_that_stands_still_while_the_prompt_grows_is_a_cut() -> None:
    estimator = TokenEstimator()
    for sent, reported in ((3000, 3000), (4050, 4050), (4700, 4060)):
        estimator.confirm(sent, reported, sent)
    assert estimator.cut


def test_an_estimate_that_was_learned_too_high_is_corrected_and_no_cut() -> None:
    estimator = TokenEstimator()
    estimator.confirm(1000, 1300, 1000)
    assert estimator.factor == 1.3
    for least, reported in ((2700, 2760), (2900, 2960), (3100, 3170)):
        estimator.confirm(estimator.scale(least), reported, least)
        assert not estimator.cut
    assert estimator.factor < 1.15


def test_a_false_suspicion_ends_when_the_count_follows_the_prompt() -> None:
    estimator = TokenEstimator()
    estimator.confirm(1000, 1000, 1000)
    cut = []
    for least, reported in ((8000, 3500), (8600, 4080), (9000, 4500)):
        estimator.confirm(estimator.scale(least), reported, least)
        cut.append(estimator.cut)
    assert cut == [True, False, False]
    assert estimator.scale(9000) == pytest.approx(4500, rel=0.1)


def test_a_cut_that_was_mended_is_over() -> None:
    estimator = TokenEstimator()
    estimator.confirm(9000, 4096, 9000)
    assert estimator.cut
    estimator.confirm(9020, 9020, 9020)
    assert not estimator.cut


def test_a_server_without_usage_changes_nothing() -> None:
    estimator = TokenEstimator()
    estimator.confirm(1000, 0, 1000)
    assert not estimator.cut
    assert estimator.basis == "estimated"


@given(st.lists(st.integers(0, 10**7), min_size=1), st.integers(10, 40))
def test_one_rounding_everywhere(tokens: list[int], steps: int) -> None:
    factor = steps / 20
    together = scale_all(np.array(tokens, np.int64), factor)
    assert together.tolist() == [scale(number, factor) for number in tokens]
