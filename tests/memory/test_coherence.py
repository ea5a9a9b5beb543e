from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest

from gh_tui.embedding.vectors import Vector
from gh_tui.memory.coherence import (
    CoherenceConfig,
    CoherenceResult,
    CoherenceTurn,
    TopicCoherence,
    first_sentence,
)
from tests.memory.coherence_cases import SHIFTS, STEADY
from tests.memory.conftest import Embed

Reply = Callable[[int, str], str]

REPLIES: dict[str, Reply] = {
    "ok": lambda index, text: "ok",
    "generic": lambda index, text: ("done", "Done.", "I have done that.")[index % 3],
    "echo": lambda index, text: f"Sure, let me help. {text} Here is what I suggest, in steps.",
}


def turns(inputs: Iterable[str], embed: Embed, reply: Reply) -> list[CoherenceTurn]:
    made = []
    for index, text in enumerate(inputs):
        made.append(CoherenceTurn(f"u{index}", "user", text, embed(text), is_input=True))
        said = reply(index, text)
        made.append(CoherenceTurn(f"a{index}", "assistant", said, embed(said), is_input=False))
    return made


def feed(watch: TopicCoherence, made: Sequence[CoherenceTurn]) -> list[CoherenceResult]:
    return [watch.observe(turn) for turn in made]


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("case", SHIFTS.values(), ids=SHIFTS)
def test_three_inputs_on_another_topic_are_one_shift(
    case: tuple[tuple[str, ...], tuple[str, ...]], reply: Reply, embed: Embed
) -> None:
    old, new = case
    results = feed(TopicCoherence(), turns((*old, *new), embed, reply))
    at = [i for i, result in enumerate(results) if result.shift]
    assert at == [2 * (len(old) + 2)], "decided with the third input of the new topic, once"
    shift = results[at[0]].shift
    assert shift is not None
    assert shift.boundary_iri == f"u{len(old)}"
    assert shift.similarities[-1] is not None
    assert shift.similarities[-1] < shift.threshold


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("inputs", STEADY.values(), ids=STEADY)
def test_remarks_follow_ups_and_refinements_are_no_shift(
    inputs: tuple[str, ...], reply: Reply, embed: Embed
) -> None:
    results = feed(TopicCoherence(), turns(inputs, embed, reply))
    assert not [result.shift for result in results if result.shift]


def test_a_boundary_is_provisional_before_it_is_confirmed(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    results = feed(TopicCoherence(), turns((*old, *new), embed, REPLIES["ok"]))
    provisional = [result.provisional for result in results[::2]]
    assert provisional[4:] == ["u4", "u4", None]
    assert not [result for result in results[:-2] if result.shift]


def test_after_a_shift_the_old_topic_is_another_topic(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    again = ("Should I marinate the chicken overnight?", *old[:3])
    results = feed(TopicCoherence(), turns((*old, *new, *again), embed, REPLIES["ok"]))
    shifts = [result.shift.boundary_iri for result in results if result.shift]
    assert shifts == ["u4", "u8"]


def test_the_same_turns_decide_alike_in_one_go_or_one_by_one(embed: Embed) -> None:
    old, new = SHIFTS["zh code to travel"]
    made = turns((*old, *new), embed, REPLIES["echo"])
    live = TopicCoherence()
    feed(live, made[:9])
    resumed = TopicCoherence()
    resumed.check(made[:9])
    assert live.observe(made[9]) == resumed.observe(made[9])
    rest, again = live.check(made), resumed.check(made)
    assert rest == again
    assert rest.shift is not None
    assert live.check(made).shift is None, "a turn counts once"


def test_a_new_task_is_no_shift(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    made = turns((*old, *new), embed, REPLIES["ok"])
    watch = TopicCoherence()
    feed(watch, made[:8])
    watch.rebase()
    assert not [result.shift for result in feed(watch, made[8:]) if result.shift]


def test_inputs_on_a_rebased_task_are_compared_with_it(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    watch = TopicCoherence(config=CoherenceConfig(quiet_inputs=1))
    watch.rebase(embed(old[0]))
    results = feed(watch, turns(new, embed, REPLIES["ok"]))
    assert [result.shift.boundary_iri for result in results if result.shift] == ["u0"]


def test_the_first_inputs_are_quiet(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    results = feed(TopicCoherence(), turns((old[0], *new), embed, REPLIES["ok"]))
    assert not [result for result in results[:6] if result.shift]
    assert [r.shift.boundary_iri for r in results if r.shift] == ["u1"], "delayed, not forbidden"


def test_what_a_new_topic_begins_with_is_not_left_at_once(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    _, party = SHIFTS["en report to party"]
    made = turns((*old, *new[:2], *party), embed, REPLIES["ok"])
    assert [r.shift.boundary_iri for r in feed(TopicCoherence(), made) if r.shift] == ["u4"]
    hasty = TopicCoherence(config=CoherenceConfig(cooldown_inputs=1))
    assert len([r for r in feed(hasty, made) if r.shift]) > 1


@pytest.mark.parametrize(
    "talk",
    [
        ("Did you see the football last night? Unbelievable.", "Hopefully they win."),
        ("今天下班想去吃火锅。", "听起来不错！"),
        ("Duh, hujan deras sekali di sini.", "Semoga cepat reda."),
    ],
)
def test_small_talk_stands_on_neither_side_of_a_gap(talk: tuple[str, str], embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    plain = turns((*old, *new), embed, REPLIES["echo"])
    said, answer = talk
    aside = [
        CoherenceTurn("t", "user", said, embed(said), is_input=True),
        CoherenceTurn("ta", "assistant", answer, embed(answer), is_input=False),
    ]
    for place in (2, 6, 10):
        results = feed(TopicCoherence(), [*plain[:place], *aside, *plain[place:]])
        shifts = {r.shift.boundary_iri: i for i, r in enumerate(results) if r.shift}
        assert shifts == {"u4": 14}


@pytest.mark.parametrize("broken", [None, np.zeros(512, np.float32), np.ones(3, np.float32)])
@pytest.mark.parametrize("rule", ["contrast", "adjacent"])
def test_turns_without_a_usable_vector_are_passed_over(
    broken: Vector | None, rule: str, embed: Embed
) -> None:
    old, new = SHIFTS["en code to cooking"]
    made = turns((*old, *new), embed, REPLIES["ok"])
    made.insert(4, CoherenceTurn("x", "user", "", broken, is_input=True))
    watch = TopicCoherence("adjacent" if rule == "adjacent" else "contrast")
    results = feed(watch, made)
    assert results[4].similarities[-1] is None
    if rule == "contrast":
        assert [r.shift.boundary_iri for r in results if r.shift] == ["u4"]


def test_adjacent_needs_two_rounds_in_a_row_below_the_threshold() -> None:
    def at(angle: float) -> Vector:
        return np.array([np.cos(angle), np.sin(angle)], np.float32)

    angles = (0.0, 0.1, 1.5, 1.6, 3.1, 4.7, 4.8)
    watch = TopicCoherence("adjacent", calibrate=lambda cosine: cosine)
    results = [
        watch.observe(CoherenceTurn(f"u{i}", "user", "", at(angle), is_input=True))
        for i, angle in enumerate(angles)
    ]
    assert [result.provisional for result in results] == [None, None, "u2", None, "u4", None, None]
    shifts = [(i, r.shift.boundary_iri) for i, r in enumerate(results) if r.shift]
    assert shifts == [(5, "u4")]


def test_similarities_are_those_of_the_latest_inputs(embed: Embed) -> None:
    old, _ = SHIFTS["en code to cooking"]
    results = feed(TopicCoherence(), turns((*old, *old, *old, *old), embed, REPLIES["ok"]))
    assert results[0].similarities == (None,)
    assert len(results[-1].similarities) == 12
    assert all(s is not None and 0 <= s <= 1 for s in results[-1].similarities)


def test_a_dialogue_is_cut_where_it_changes_topic(embed: Embed) -> None:
    code, travel = SHIFTS["zh code to travel"]
    segments = (code, travel, SHIFTS["zh operations to a letter"][1])
    watch = TopicCoherence(config=CoherenceConfig(conversation="dialogue"))
    texts = [text for segment in segments for text in segment]
    results = feed(
        watch,
        [CoherenceTurn(f"{i}", "user", t, embed(t), is_input=True) for i, t in enumerate(texts)],
    )
    shifts = {r.shift.boundary_iri: i for i, r in enumerate(results) if r.shift}
    assert "4" in shifts
    assert all(seen - int(boundary) == 2 for boundary, seen in shifts.items())


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Fix it. Then test.", "Fix it."),
        ("修好它。然后测试", "修好它。"),
        ("one line\nand another", "one line"),
        ("version 1.2 of it", "version 1.2 of it"),
        ("", ""),
    ],
)
def test_first_sentence(text: str, first: str) -> None:
    assert first_sentence(text) == first
