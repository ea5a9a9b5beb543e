"""Cases worked out by hand: six turns, the topic ends after the third, windows of two turns."""

from __future__ import annotations

import pytest

from tests.benchmarks.segmentation import Segmentation, precision_recall, score


def case(*found: int, truth: tuple[int, ...] = (2,), turns: int = 6) -> Segmentation:
    return Segmentation(frozenset(truth), frozenset(found), turns)


@pytest.mark.parametrize(
    ("found", "f1", "pk", "window_diff"),
    [
        # The five windows hold 0 1 1 0 0 true boundaries.
        ((2,), 1, 0, 0),
        ((), 0, 2 / 5, 2 / 5),
        ((3,), 0, 2 / 5, 2 / 5),  # 0 0 1 1 0
        ((2, 3), 2 / 3, 1 / 5, 2 / 5),  # 0 1 2 1 0
        ((4,), 0, 4 / 5, 4 / 5),  # 0 0 0 1 1
    ],
)
def test_score_of_one_dialogue(
    found: tuple[int, ...], f1: float, pk: float, window_diff: float
) -> None:
    expected = f1 / 2 + (1 - pk) / 4 + (1 - window_diff) / 4
    assert score([case(*found)]) == pytest.approx(expected)


def test_the_last_window_counts() -> None:
    """Four turns, windows of two: 0 0 1 against nothing."""
    assert score([case(truth=(3,), turns=4)]) == pytest.approx((1 - 1 / 3) / 2)


def test_a_dialogue_without_a_boundary_earns_no_f1() -> None:
    assert score([case(truth=(), turns=4)]) == pytest.approx(0.5)
    assert score([case(truth=(), turns=1)]) == pytest.approx(0.5), "nor has it a window"


def test_a_long_segment_makes_a_long_window() -> None:
    """Sixteen turns in two segments: windows of four, four of thirteen hold the boundary."""
    assert score([case(truth=(7,), turns=16)]) == pytest.approx((1 - 4 / 13) / 2)


def test_dialogues_count_alike_and_boundaries_count_alike() -> None:
    cases = [case(2), case(3)]
    assert score(cases) == pytest.approx((1.0 + 0.3) / 2)
    assert precision_recall([case(2, 3), case(truth=(2, 4, 5))]) == (0.5, 0.25)
    assert precision_recall([case(truth=(2,)), case(truth=())]) == (None, 0.0)
    assert precision_recall([case(2, truth=())]) == (0.0, None)
