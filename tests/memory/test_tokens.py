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
    for number, sent in enumerate((9000, 9800, 10600)):
        estimator.confirm(sent, 4096, sent)
        assert estimator.cut == (learned or number > 0)
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
    for least, reported in ((8000, 3500), (8600, 6080), (9000, 6500)):
        estimator.confirm(estimator.scale(least), reported, least)
        cut.append(estimator.cut)
    assert cut == [True, False, False]
    assert estimator.scale(9000) == pytest.approx(6500, rel=0.1)


def test_a_cut_that_was_mended_is_over() -> None:
    estimator = TokenEstimator()
    estimator.confirm(1000, 1000, 1000)
    estimator.confirm(9000, 4096, 9000)
    assert estimator.cut
    estimator.confirm(9020, 9020, 9020)
    assert not estimator.cut


@pytest.mark.parametrize("step", [20, 100, 146, 200, 300, 390, 450, 800])
@pytest.mark.parametrize("ratio", [0.6, 1.0, 1.9])
def test_a_prompt_that_outgrows_its_limit_in_small_steps_is_noticed(
    step: int, ratio: float
) -> None:
    estimator = TokenEstimator()
    least, limit, before = 800, 4096, 0.0
    while not estimator.cut:
        assert ratio * least < limit + ratio * (400 + 2 * step)
        before = estimator.factor if ratio * least <= limit else before
        estimator.confirm(estimator.scale(least), min(limit, round(ratio * least)), least)
        least += step
    assert estimator.factor == before, "what was learned while it was cut is forgotten"
    while least < 14_000:
        estimator.confirm(estimator.scale(least), limit, least)
        assert estimator.cut
        least += step
    assert estimator.factor == before


def test_a_server_that_drops_whole_messages_at_its_limit_is_noticed() -> None:
    estimator = TokenEstimator()
    least = 3000
    for below in (0, 60, 10, 130, 90, 0, 40, 120, 5, 70, 15, 100) * 4:
        estimator.confirm(estimator.scale(least), min(least, 4096 - below), least)
        least += 140
    assert estimator.cut
    assert estimator.factor == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("grow", [700, 1500])
@pytest.mark.parametrize("seed", range(6))
def test_a_limit_that_drops_large_messages_is_said_once_and_forgotten(grow: int, seed: int) -> None:
    """The count wavers by whole messages, and now and then goes along with the prompt."""
    chance, estimator = np.random.default_rng(seed), TokenEstimator()
    messages, cut = [300], []
    for _ in range(40):
        kept = list(messages)
        while sum(kept) > 4096:
            kept.pop(1)
        least = sum(messages)
        estimator.confirm(estimator.scale(least), sum(kept), least, estimator.scale(messages[-1]))
        cut.append(estimator.cut)
        messages.append(int(chance.integers(grow // 3, 2 * grow)))
    assert cut == sorted(cut), "what is said is not taken back"
    assert sum(cut) > 25
    assert estimator.factor == 1.0


@pytest.mark.parametrize(
    ("limit", "step"), [(2048, 1500), (2048, 3800), (4096, 2600), (4096, 9200), (8192, 5500)]
)
def test_a_limit_that_is_met_by_large_steps_is_noticed(limit: int, step: int) -> None:
    estimator = TokenEstimator()
    for number in range(4):
        least = 400 + number * step
        fresh = estimator.scale(step) if number else None
        estimator.confirm(estimator.scale(least), min(limit, least), least, fresh)
    assert estimator.cut
    assert estimator.factor == 1.0


def test_a_limit_that_is_met_a_little_in_each_of_several_windows_is_noticed() -> None:
    estimator = TokenEstimator()
    for window in range(8):
        for least in range(1500 + 7 * window, 2210, 139):
            estimator.confirm(estimator.scale(least), min(2048, least), least)
    assert estimator.cut
    assert estimator.factor == 1.0


def test_a_first_count_that_is_short_says_nothing() -> None:
    """A server that counts what is not cached may have its cache from a session before."""
    estimator = TokenEstimator()
    for least, reported, fresh in ((900, 1, None), (950, 50, 50), (1000, 50, 50)):
        estimator.confirm(least, reported, least, fresh)
        assert not estimator.cut
        assert (estimator.basis, estimator.factor) == ("estimated", 1.0)
    estimator.confirm(1050, 1050, 1050, 600)
    assert (estimator.basis, estimator.factor) == ("confirmed", 1.0)


@given(
    st.floats(0.5, 2.0),
    st.lists(st.tuples(st.booleans(), st.integers(-900, 1500)), min_size=1, max_size=40),
)
def test_chinese_is_not_suspected_whatever_the_tokenizer(
    ratio: float, steps: list[tuple[bool, int]]
) -> None:
    """Tokens per character, in a talk that is partly in English."""
    estimator = TokenEstimator()
    chinese, english = 600, 600
    for is_chinese, step in [(True, 0), *steps]:
        fresh = estimator.scale(max(0, step))
        if is_chinese:
            chinese = max(300, chinese + step)
        else:
            english = max(300, english + step)
        sent = estimator.scale(chinese + english)
        least = 3 * chinese // 4 + english
        estimator.confirm(sent, round(ratio * chinese) + english, least, fresh)
        assert not estimator.cut
        assert 0.5 <= estimator.factor <= 2.0


Steps = st.lists(st.integers(-900, 1500), min_size=1, max_size=40)


@given(st.floats(0.5, 2.0), st.integers(200, 3000), Steps, st.integers(0, 3000))
def test_whole_prompts_are_not_suspected_whatever_the_tokenizer(
    ratio: float, start: int, steps: list[int], tools: int
) -> None:
    """Passes make the prompt smaller in between; the tools are counted beside the messages."""
    estimator = TokenEstimator()
    least = start
    for step in [0, *steps]:
        fresh = least if least == start else max(0, step)
        least = max(50, least + step)
        sent = estimator.scale(least + tools)
        estimator.confirm(sent, round(ratio * (least + tools)), least, estimator.scale(fresh))
        assert not estimator.cut


@given(
    st.floats(0.5, 2.0),
    st.integers(200, 3000),
    st.lists(st.integers(20, 1500), min_size=1, max_size=40),
    st.sampled_from([1, 16, 64, 128]),
)
def test_counts_of_the_uncached_part_alone_are_neither_suspected_nor_learned(
    ratio: float, start: int, steps: list[int], block: int
) -> None:
    estimator = TokenEstimator()
    estimator.confirm(start, round(ratio * start), start)
    learned = estimator.factor
    whole, least = ratio * start, start
    for step in steps:
        cached = whole // block * block
        least += step
        whole += ratio * step
        sent, fresh = estimator.scale(least), estimator.scale(step)
        reported = max(1, round(whole - cached))
        if reported < 0.9 * least and reported != round(ratio * start):
            estimator.confirm(sent, reported, least, fresh)
            assert not estimator.cut
            assert estimator.factor == learned


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
