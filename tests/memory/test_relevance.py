import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.embedding.calibration import NATIVE, Calibration
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Vector, pack, unpack
from gh_tui.memory.relevance import (
    AgentTurn,
    RelevanceScore,
    RelevanceTracker,
    score_lines,
    task_text,
    tracker_of,
)

SCALE = Calibration(u=0.0, r=0.5)


def at(degrees: float) -> Vector:
    """A unit vector in the plane; its cosine to `at(0)` is that of the angle."""
    angle = math.radians(degrees)
    return np.array([math.cos(angle), math.sin(angle)], dtype=np.float32)


def sim(degrees: float) -> float:
    return SCALE.similarity(math.cos(math.radians(degrees)))


def make(*, task: Vector | None = None, decay: float = 0.0) -> RelevanceTracker:
    tracker = RelevanceTracker(SCALE, dim=2, embedder="plane", decay_per_hour=decay)
    tracker.set_task_5w2h(at(0) if task is None else task)
    return tracker


def value(score: RelevanceScore) -> float:
    assert score.relevance_score is not None
    return score.relevance_score


def test_the_first_input_is_scored_by_the_task_alone() -> None:
    score = make().on_new_input("x", at(40))
    assert score.relevance_score == score.global_sim == pytest.approx(sim(40), abs=1e-6)
    assert score.local_sim is None
    assert score.basis == "global (no previous input); plane"


def test_later_inputs_mix_task_and_previous_input() -> None:
    tracker = make()
    tracker.on_new_input("x", at(40))
    score = tracker.on_new_input("y", at(70))
    assert score.global_sim == pytest.approx(sim(70), abs=1e-6)
    assert score.local_sim == pytest.approx(sim(30), abs=1e-6)
    assert value(score) == pytest.approx(0.6 * sim(70) + 0.4 * sim(30), abs=1e-6)
    assert score.basis == "global+local; plane"


def test_without_a_task_only_the_previous_input_counts() -> None:
    tracker = RelevanceTracker(SCALE, dim=2, embedder="plane")
    first = tracker.on_new_input("x", at(40))
    assert first.relevance_score is None
    assert first.basis.startswith("unknown")
    second = tracker.on_new_input("y", at(60))
    assert second.relevance_score == second.local_sim == pytest.approx(sim(20), abs=1e-6)
    assert second.global_sim is None


def test_a_stray_remark_never_becomes_the_reference() -> None:
    tracker = make()
    tracker.on_new_input("work", at(20))
    assert value(tracker.on_new_input("stray", at(-150))) < 0.3
    assert tracker.on_new_input("work", at(50)).local_sim == pytest.approx(sim(30), abs=1e-6)


def test_agent_and_tool_turns_are_scored_and_forgotten() -> None:
    tracker = make()
    tracker.on_new_input("work", at(20))
    agent = tracker.score_turn(at(60))
    assert value(agent) == pytest.approx(0.6 * sim(60) + 0.4 * sim(40), abs=1e-6)
    assert tracker.on_new_input("work", at(50)).local_sim == pytest.approx(sim(30), abs=1e-6)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (None, "no vector"),
        (np.zeros(2, np.float32), "zero vector"),
        (np.ones(3, np.float32), "wrong dimension"),
        (np.array([np.nan, 1], np.float32), "not finite"),
    ],
)
def test_unusable_vectors_are_unknown_and_leave_no_trace(bad: Vector | None, reason: str) -> None:
    tracker = make()
    tracker.on_new_input("work", at(20))
    score = tracker.on_new_input("?", bad)
    assert (score.relevance_score, score.global_sim, score.local_sim) == (None, None, None)
    assert reason in score.basis
    assert tracker.on_new_input("work", at(50)).local_sim == pytest.approx(sim(30), abs=1e-6)


def test_a_continuation_inherits_from_the_last_kept_input() -> None:
    tracker = make()
    kept = tracker.on_new_input("work", at(40))
    tracker.on_new_input("stray", at(-150))
    score = tracker.on_new_input("继续", at(170))
    assert score.inherited
    assert score.relevance_score == kept.relevance_score
    assert score.basis == "inherited (continuation); plane"
    assert tracker.on_new_input("work", at(70)).local_sim == pytest.approx(sim(30), abs=1e-6)


def test_a_continuation_with_nothing_before_it_is_scored_like_any_input() -> None:
    assert not make().on_new_input("继续", at(100)).inherited


def test_an_answer_inherits_only_if_the_agent_asked() -> None:
    tracker = make()
    tracker.on_new_input("work", at(40))
    asked = AgentTurn("Which database?", score=0.9)
    told = AgentTurn("I chose a database.", score=0.9)
    assert value(tracker.on_new_input("the blue one", at(170), answers=asked)) == 0.9
    assert value(tracker.on_new_input("the blue one", at(170), answers=told)) < 0.3
    assert value(tracker.on_new_input("the blue one", at(170))) < 0.3


def test_an_answer_never_scores_below_the_input_that_led_to_the_question() -> None:
    tracker = make()
    kept = tracker.on_new_input("work", at(20))
    score = tracker.on_new_input("b", at(170), answers=AgentTurn("Shall I?", score=0.05))
    assert score.relevance_score == kept.relevance_score


def test_a_new_task_vector_changes_the_global_term_only() -> None:
    tracker = make()
    tracker.on_new_input("work", at(20))
    tracker.set_task_5w2h(at(90))
    score = tracker.score_turn(at(60))
    assert score.global_sim == pytest.approx(sim(30), abs=1e-6)
    assert score.local_sim == pytest.approx(sim(40), abs=1e-6)


def test_the_local_term_fades_with_time_if_told_to() -> None:
    tracker = make(decay=0.5)
    tracker.on_new_input("work", at(20), now=100.0)
    after = tracker.score_turn(at(20), now=100.0 + 1800.0)
    assert after.local_sim == pytest.approx(math.exp(-0.25), abs=1e-6)
    steady = make()
    steady.on_new_input("work", at(20), now=100.0)
    assert steady.score_turn(at(20), now=1e9).local_sim == pytest.approx(1.0, abs=1e-6)


@given(
    st.lists(
        st.tuples(st.floats(-180, 180), st.sampled_from(["work", "ok", "the blue one"])),
        min_size=1,
        max_size=12,
    ),
    st.floats(-180, 180),
)
def test_a_tracker_rebuilt_from_the_record_decides_alike(
    inputs: list[tuple[float, str]], probe: float
) -> None:
    live, replayed = make(), make()
    for degrees, text in inputs:
        vector = unpack(pack(at(degrees)))
        replayed.remember(live.on_new_input(text, vector), vector)
    assert live.score_turn(at(probe)) == replayed.score_turn(at(probe))
    assert live.on_new_input("ok", at(probe)) == replayed.on_new_input("ok", at(probe))


def test_the_task_text_joins_what_and_why() -> None:
    assert task_text("a", "b") == "a\nb"
    assert task_text("a", " ") == task_text("a") == "a"


DEMO = "开发一个基于 Rust 的 Agent 框架，支持多轮对话和上下文管理"
SESSIONS = [
    (
        DEMO,
        [
            ("我们需要支持异步消息处理", True),
            ("用户可以在对话中随时补充新的指令", True),
            ("今天天气真不错", False),
            ("请实现一个上下文压缩算法", True),
            ("周末去哪里玩比较好", False),
        ],
    ),
    (
        "Develop a Discord bot in Python that moderates a gaming server",
        [
            ("It should delete messages that contain slurs", True),
            ("I am thinking about getting a tattoo", False),
            ("Log every moderation action to a channel", True),
            ("Do you like summer or winter more?", False),
            ("Users complain they get banned by mistake", True),
        ],
    ),
    (
        "Tulis dokumentasi pengguna untuk alat pencadangan baris perintah kami",
        [
            ("Jelaskan perintah pemulihan dengan contoh", True),
            ("Nanti malam saya mau ke gym", False),
            ("Jelaskan cara mengecualikan folder", True),
            ("Kamu percaya hantu?", False),
            ("lanjutkan", True),
        ],
    ),
]


@pytest.mark.parametrize(("task", "lines"), SESSIONS)
async def test_work_is_kept_and_small_talk_is_not(task: str, lines: list[tuple[str, bool]]) -> None:
    service = EmbeddingService(NativeEmbedder())
    tracker = await tracker_of(service, NATIVE, task, "")
    scores = await score_lines(service, tracker, [text for text, _ in lines])
    service.close()
    assert [value(score) >= 0.3 for score in scores] == [kept for _, kept in lines]


async def test_the_reason_is_part_of_the_task_and_empty_lines_are_unknown() -> None:
    service = EmbeddingService(NativeEmbedder())
    line = "Keep the numbers of the figures"
    bare = await tracker_of(service, NATIVE, "Translate this manual", "")
    plain, empty = await score_lines(service, bare, [line, " "])
    why = "The technicians look figures up by their numbers"
    with_reason = await tracker_of(service, NATIVE, "Translate this manual", why)
    (reasoned,) = await score_lines(service, with_reason, [line])
    service.close()
    assert value(reasoned) > value(plain)
    assert empty.relevance_score is None
