from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.memory.coherence import CoherenceConfig, CoherenceTurn, TopicCoherence
from gh_tui.memory.coherence.learned import GapDecision, load_model, parse_model
from gh_tui.memory.coherence.monitor import usable_rule
from tests.benchmarks.coherence_learn import to_json
from tests.memory.coherence_cases import SHIFTS, STEADY
from tests.memory.conftest import Embed
from tests.memory.test_coherence import REPLIES, feed, turns

# Both halves of this one are about code: to two turns of look-ahead that is no clear shift.
CLEAR = {name: case for name, case in SHIFTS.items() if name != "en code to other code"}


@pytest.mark.parametrize("case", CLEAR.values(), ids=CLEAR)
def test_a_clear_shift_is_found_two_turns_late(
    case: tuple[tuple[str, ...], tuple[str, ...]], embed: Embed
) -> None:
    old, new = case
    results = feed(TopicCoherence("learned"), turns((*old, *new), embed, REPLIES["echo"]))
    shifts = [(i, r.shift.boundary_iri) for i, r in enumerate(results) if r.shift]
    assert shifts == [(2 * len(old) + 2, f"u{len(old)}")]


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
@pytest.mark.parametrize("inputs", STEADY.values(), ids=STEADY)
def test_remarks_and_follow_ups_are_no_shift(
    inputs: tuple[str, ...], reply: Callable[[int, str], str], embed: Embed
) -> None:
    results = feed(TopicCoherence("learned"), turns(inputs, embed, reply))
    assert not [result.shift for result in results if result.shift]


def test_an_agent_that_works_for_long_does_not_use_up_the_look_ahead(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    made = turns((*old, *new), embed, REPLIES["echo"])
    busy: list[CoherenceTurn] = []
    for turn in made:
        busy.append(turn)
        if not turn.is_input:
            busy += [
                CoherenceTurn(f"{turn.iri}.{i}", "tool", text, embed(text), is_input=False)
                for i, text in enumerate(("exit code 0", "drwxr-xr-x 2 docs", "3 passed"))
            ]
    quiet = [r.shift for r in feed(TopicCoherence("learned"), made) if r.shift]
    assert [r.shift for r in feed(TopicCoherence("learned"), busy) if r.shift] == quiet


def test_a_new_task_is_no_shift(embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    made = turns((*old, *new), embed, REPLIES["echo"])
    watch = TopicCoherence("learned", CoherenceConfig(quiet_inputs=1))
    feed(watch, made[: 2 * len(old)])
    watch.rebase()
    assert not [r.shift for r in feed(watch, made[2 * len(old) :]) if r.shift]


@pytest.mark.parametrize("broken", [None, "zero", "short"])
def test_turns_without_a_usable_vector_are_passed_over(broken: str | None, embed: Embed) -> None:
    old, new = SHIFTS["en code to cooking"]
    made = turns((*old, *new), embed, REPLIES["echo"])
    vectors = {None: None, "zero": 0 * embed("x"), "short": embed("x")[:3]}
    made.insert(4, CoherenceTurn("x", "user", "", vectors[broken], is_input=True))
    results = feed(TopicCoherence("learned"), made)
    assert [r.shift.boundary_iri for r in results if r.shift] == [f"u{len(old)}"]


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))),
    st.integers(0, 3),
)
def test_a_decision_is_about_an_input_two_turns_ago(
    steps: list[tuple[bool, float, float, float]], least: int
) -> None:
    decision = GapDecision(0.5, quiet_inputs=least, cooldown_inputs=least)
    inputs, boundaries = [is_input for is_input, *_ in steps], [0]
    for index, (is_input, *chances) in enumerate(steps):
        turn = CoherenceTurn(str(index), "user", "", None, is_input)
        shift = decision.observe(turn, chances[:index])
        if shift:
            assert int(shift.boundary_iri) == index - 2
            assert inputs[index - 2]
            assert chances[2] >= 0.5
            boundaries.append(index - 2)
            before = inputs[boundaries[-2] + 1 : boundaries[-1]]
            assert sum(before) >= least - 1
        if decision.provisional:
            assert 0 <= index - int(decision.provisional) < 2


def test_with_another_embedder_contrast_takes_over_and_says_so() -> None:
    assert usable_rule("learned", "native") == ("learned", None)
    assert usable_rule("adjacent", "hashing") == ("adjacent", None)
    rule, message = usable_rule("learned", "ollama:bge-m3")
    assert rule == "contrast"
    assert message is not None
    assert "native" in message
    assert "ollama:bge-m3" in message


def test_the_weights_are_as_the_script_writes_them() -> None:
    file = resources.files("gh_tui.memory.coherence").joinpath("learned.json")
    text = file.read_text("utf-8")
    benchmarks = Path(__file__).parents[1] / "benchmarks"
    prototypes = json.loads((benchmarks / "coherence_prototypes.json").read_text("utf-8"))
    assert to_json(load_model(), prototypes) == text


@pytest.mark.parametrize("text", ["{}", "[]", "nothing", '{"embedder": "another"}'])
def test_a_file_of_other_things_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"learned|Expecting"):
        parse_model(text)
