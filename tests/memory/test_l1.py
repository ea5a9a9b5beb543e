from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gh_tui.errors import MemoryFullError
from gh_tui.events import types as ev
from gh_tui.events.values import ToolCall, Trigger
from gh_tui.memory.eviction import POLICIES, EvictionConfig
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.turn import iri_for, new_turn, number_of
from gh_tui.settings.model import PolicyName

from .sessions import Talk, changes, finished
from .stories import LONG, Story, play, stories

FOREVER = 10**7


def instructed() -> tuple[Talk, list[str]]:
    """A session full of filler, and the IRIs in it that must stay."""
    talk = Talk(EvictionConfig(keep_tool_results=1))
    kept = [
        talk.say("user", "Move the service to the test database.", is_task=True, score=0.0),
        talk.say("user", "Never\n\n  connect to prod! \u200b", standing=True, score=0.0),
        talk.say("user", "不要用生产库，用 test-db:5433。", is_supplement=True, score=0.0),
    ]
    pinned = talk.say("assistant", "The key is  K-77.", score=0.0)
    for number in range(12):
        talk.exchange(f"{LONG}\n" * 3, score=0.1)
        talk.say("assistant", f"{number} {LONG}", score=0.1)
    talk.l1.pin(pinned.iri, talk.now, budget=10_000)
    talk.say("user", "Go on.")
    return talk, [*(turn.iri for turn in kept), pinned.iri]


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("trigger", ["watermark", "command", "overflow", "topic"])
def test_what_the_user_said_holds_through_five_passes(policy: str, trigger: Trigger) -> None:
    talk, kept = instructed()
    texts = [talk.l1.turn(iri).text for iri in kept]
    everything = tuple(turn.iri for turn in talk.l1.turns)
    for budget in (2000, 1000, 400, 200, 100):
        talk.run(trigger, policy=policy, budget=budget, now=FOREVER, proposed=everything)
        talk.say("assistant", LONG, score=0.0)
    assert [talk.shown(talk.l1.row(iri)) for iri in kept] == texts
    assert talk.l1.fidelity_counts()["archived"] > 20


@settings(max_examples=60)
@given(stories, st.sampled_from(sorted(POLICIES)))
def test_no_story_takes_what_is_protected(story: Story, policy: PolicyName) -> None:
    def check(talk: Talk) -> None:
        latest = talk.l1.latest_input
        for row, turn in enumerate(talk.l1.turns):
            newest = row == len(talk.l1) - 1 or (latest is not None and turn.iri == latest.iri)
            if turn.guarded or newest:
                assert turn.fidelity == "full"
            unit = {part.fidelity for part in talk.l1.exchange(turn.iri)}
            assert len(unit) == 1 or unit == {"full", "masked"}

    play(story, check, policy)


@settings(max_examples=40)
@given(stories, st.sampled_from(sorted(POLICIES)))
def test_passes_are_deterministic_and_a_preview_tells_the_truth(
    story: Story, policy: PolicyName
) -> None:
    def quiet(_: Talk) -> None:
        return

    first, second = play(story, quiet, policy), play(story, quiet, policy)
    request = first.request("command", budget=300)
    preview = first.l1.preview_pass(request)
    assert preview == first.l1.preview_pass(request)
    events = first.l1.evict_with_query(request)
    assert events == preview
    assert second.l1.evict_with_query(request) == events
    assert finished(events).tokens_after == request.tokens_before - sum(
        change.tokens_freed for change in changes(events)
    )


@settings(max_examples=40)
@given(stories)
def test_a_restored_session_decides_as_the_one_that_was_recorded(story: Story) -> None:
    talk = play(story, lambda _: None)
    spared = zip(talk.l1.turns, talk.l1.table.exempt, strict=True)
    exempt = {turn.iri: False for turn, exempted in spared if exempted}
    other = L1Session(talk.l1.config)
    other.restore(talk.l1.turns, exempt=exempt, passes=talk.passes)
    request = talk.request(budget=300)
    assert other.evict_with_query(request) == talk.l1.evict_with_query(request)
    assert other.undo_pass(5.0) == talk.l1.undo_pass(5.0)


@settings(max_examples=40)
@given(stories, st.integers(60, 600))
def test_the_low_watermark_is_reached_whenever_enough_may_go(story: Story, budget: int) -> None:
    talk = play(story, lambda _: None)
    request = talk.request("command", budget=budget, tokens_before=talk.l1.tokens())
    after = finished(talk.l1.evict_with_query(request)).tokens_after
    left = [
        turn
        for turn in talk.l1.turns
        if turn.fidelity != "archived"
        and not any(talk.l1.protected(part.iri) for part in talk.l1.exchange(turn.iri))
    ]
    assert after <= int(0.6 * budget) or not left


def test_each_change_is_an_event_with_its_reason() -> None:
    talk, _ = instructed()
    events = talk.run(now=FOREVER, budget=1000)
    started, *_, last = events
    assert isinstance(started, ev.PassStarted)
    assert started.config["relevance_threshold"] == 0.3
    assert isinstance(last, ev.PassFinished)
    assert changes(events)
    for change in changes(events):
        assert change.pass_ == started.pass_ == 1
        assert change.terms
        assert talk.l1.turn(change.iri).fidelity == change.after or change.before == "full"


def test_a_recall_brings_the_whole_exchange_back_and_spares_it_until_the_next_input() -> None:
    talk, _ = instructed()
    talk.run(now=FOREVER, budget=500)
    _head, result = talk.l1.exchange(talk.l1.turns[4].iri)
    assert result.fidelity == "archived"
    back = changes(talk.l1.recall(result.iri, FOREVER))
    assert [(c.phase, c.before, c.after) for c in back] == [("recall", "archived", "full")] * 2
    assert talk.l1.turn(result.iri).last_access == FOREVER
    talk.run(now=2 * FOREVER, budget=500)
    assert {t.fidelity for t in talk.l1.exchange(result.iri)} == {"full"}
    talk.say("user", "Is it back?")
    talk.run(now=2 * FOREVER, budget=100)
    assert {t.fidelity for t in talk.l1.exchange(result.iri)} == {"full"}, "no request showed it"
    talk.l1.note_request()
    talk.say("user", "Next.")
    talk.run(now=2 * FOREVER, budget=100)
    assert {t.fidelity for t in talk.l1.exchange(result.iri)} == {"archived"}


def test_an_overflow_may_take_what_was_brought_back_and_says_so() -> None:
    talk, _ = instructed()
    talk.run(now=FOREVER, budget=500)
    talk.l1.recall(talk.l1.turns[4].iri, FOREVER)
    events = talk.run("overflow", now=2 * FOREVER, budget=500)
    assert [event.level for event in events if isinstance(event, ev.Notice)] == ["warning"]
    assert talk.l1.turns[4].fidelity == "archived"


def test_one_undo_brings_back_a_whole_pass() -> None:
    talk, _ = instructed()
    events = talk.run(now=FOREVER, budget=500)
    taken = {change.iri for change in changes(events)}
    back = changes(talk.l1.undo_pass(FOREVER))
    assert {change.iri for change in back} == taken
    assert {turn.fidelity for turn in talk.l1.turns} == {"full"}
    again = talk.run(now=FOREVER, budget=500)
    assert not taken & {change.iri for change in changes(again)}
    talk.l1.undo_pass(FOREVER)
    assert talk.l1.undo_pass(FOREVER) == []


def test_pins_are_refused_past_a_quarter_of_the_budget() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    first, second = talk.say("assistant", LONG), talk.say("assistant", LONG)
    assert talk.l1.pin(first.iri, talk.now, budget=400) == [ev.TurnPinned(iri=first.iri)]
    with pytest.raises(MemoryFullError, match="unpin or demote"):
        talk.l1.pin(second.iri, talk.now, budget=400)
    assert talk.l1.demote(first.iri) == [ev.TurnUnpinned(iri=first.iri)]
    talk.l1.pin(second.iri, talk.now, budget=400)
    assert talk.l1.turn(second.iri).pinned


def test_a_demoted_instruction_is_an_ordinary_turn() -> None:
    talk, kept = instructed()
    rule = kept[1]
    talk.l1.demote(rule)
    talk.run(now=FOREVER, budget=500)
    assert talk.l1.turn(rule).fidelity == "archived"
    with pytest.raises(ValueError, match="task"):
        talk.l1.demote(kept[0])


def test_a_replaced_instruction_goes_with_a_link_and_can_be_recalled() -> None:
    talk, kept = instructed()
    new = talk.say("user", "Connect to staging.", standing=True)
    (change,) = changes(talk.l1.replace_instruction(kept[1], new.iri))
    assert (change.after, change.phase) == ("archived", "user")
    assert change.terms == {"replaced_by": float(new.number)}
    assert talk.l1.turn(kept[1]).replaced_by == new.iri
    assert changes(talk.l1.recall(kept[1], 1.0))
    assert not talk.l1.turn(kept[1]).guarded


def test_a_pin_does_not_keep_what_was_replaced() -> None:
    talk, kept = instructed()
    talk.l1.pin(kept[1], talk.now, budget=10_000)
    new = talk.say("user", "Connect to staging.", standing=True)
    talk.l1.replace_instruction(kept[1], new.iri)
    talk.l1.recall(kept[1], 1.0)
    assert not talk.l1.turn(kept[1]).guarded
    talk.l1.withdraw(new.iri)
    assert talk.l1.turn(kept[1]).guarded


def test_the_task_is_not_replaced() -> None:
    talk, kept = instructed()
    talk.l1.set_task(kept[1])
    new = talk.say("user", "Connect to staging.", standing=True)
    assert talk.l1.replace_instruction(kept[1], new.iri) == []
    assert talk.l1.turn(kept[1]).replaced_by is None


def test_a_second_pass_during_a_pass_is_a_no_op_with_a_note() -> None:
    talk, _ = instructed()
    inner: list[ev.Event] = []

    def calibrate(
        cosines: np.ndarray[tuple[int], np.dtype[np.float32]],
    ) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        inner.extend(talk.run())
        return cosines

    nested = Talk(EvictionConfig(policy="classic"), calibrate=calibrate)
    nested.l1.restore(talk.l1.turns)
    talk.l1 = nested.l1
    outer = talk.run(budget=500)
    assert [type(event) for event in inner] == [ev.Notice]
    assert isinstance(outer[0], ev.PassStarted)
    assert outer[0].pass_ == 1


def test_a_pass_that_cannot_help_is_not_run_at_every_step() -> None:
    talk = Talk()
    talk.say("user", LONG * 4, is_task=True)
    runs = 0
    for number in range(30):
        talk.say("assistant", f"Step {number}.")
        if talk.l1.due(talk.l1.tokens(), 360) is not None:
            talk.run(budget=360, tokens_before=talk.l1.tokens())
            runs += 1
    assert 1 <= runs <= 6


def test_passes_are_rare_between_the_watermarks() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    runs = 0
    for number in range(100):
        talk.say("assistant", f"{number} {LONG}")
        if talk.l1.due(talk.l1.tokens(), 4000) is not None:
            talk.run(budget=4000, tokens_before=talk.l1.tokens())
            runs += 1
    assert runs <= 100 * talk.l1.turns[1].tokens / (0.25 * 4000) + 1


def test_a_pass_that_finds_nothing_is_none_unless_it_was_asked_for() -> None:
    talk = Talk()
    talk.say("user", LONG * 4, is_task=True)
    automatic: tuple[Trigger, ...] = ("watermark", "messages", "eager", "overflow")
    for trigger in automatic:
        assert talk.run(trigger, budget=100) == []
    started, _ = talk.run("command", budget=100)
    assert isinstance(started, ev.PassStarted)
    assert started.pass_ == 1


def test_scores_belong_to_an_iri() -> None:
    talk, _ = instructed()
    talk.run(now=FOREVER, budget=500)
    iri = talk.l1.turns[-1].iri
    talk.l1.score(iri, 0.123)
    assert [turn.iri for turn in talk.l1.turns if turn.relevance_score == 0.123] == [iri]


def test_an_iri_in_a_call_is_an_access() -> None:
    talk = Talk()
    first = talk.say("user", "Fix the parser.")
    call = ToolCall("c", "recall", {"iri": first.iri})
    talk.say("assistant", "", calls=(call,))
    assert talk.l1.turn(first.iri).last_access == talk.now


def test_a_new_task_frees_the_old_one() -> None:
    talk, kept = instructed()
    new = talk.say("user", "Write the release notes.")
    talk.l1.set_task(new.iri)
    talk.run(now=FOREVER, budget=500)
    assert talk.l1.turn(kept[0]).fidelity == "archived"
    assert talk.l1.task is not None
    assert talk.l1.task.iri == new.iri


def test_what_becomes_the_task_or_an_instruction_comes_back_in_full_and_says_so() -> None:
    talk, _ = instructed()
    for change in (talk.l1.set_task, lambda iri: talk.l1.set_standing(iri, True)):
        remark = talk.say("user", "Nice weather today.", score=0.0)
        talk.say("user", "Go on.")
        talk.run("topic", proposed=(remark.iri,), now=FOREVER, budget=2000)
        assert talk.l1.turn(remark.iri).fidelity == "archived"
        (back,) = changes(change(remark.iri))
        assert (back.iri, back.after, back.phase) == (remark.iri, "full", "user")
        assert back.tokens_freed < 0
    assert talk.l1.set_standing(remark.iri, False) == []


def test_a_protected_turn_that_a_crash_left_archived_comes_back() -> None:
    talk, kept = instructed()
    torn = [
        replace(turn, fidelity="archived") if turn.iri == kept[0] else turn
        for turn in talk.l1.turns
    ]
    again = L1Session()
    again.restore(torn)
    assert [change.iri for change in changes(again.mend())] == [kept[0]]
    assert again.turn(kept[0]).fidelity == "full"


def test_wrong_turns_are_refused() -> None:
    talk = Talk()
    turn = talk.say("user", "Fix the parser.")
    with pytest.raises(ValueError, match="already"):
        talk.l1.add(turn)
    with pytest.raises(ValueError, match="no open call"):
        talk.say("tool", "42", call_id="nobody")


def test_vectors_stay_under_their_cap() -> None:
    rows, dim = 4096, 8
    l1 = L1Session(vector_bytes=2 * rows * dim * 4)
    base = new_turn(iri_for("s", 1), "user", "hello", created_at=0.0)
    for number in range(3 * rows):
        vector = np.full(dim, 1.0 + number, np.float32)
        l1.add(replace(base, iri=iri_for("s", number + 1), embedding=vector))
    cosines = l1.similarities(np.ones(dim, np.float32))
    assert np.isnan(cosines[:rows]).all()
    assert cosines[rows:] == pytest.approx(1.0)
    assert l1.turns[0].embedding is None
    assert l1.turns[-1].embedding is not None


@pytest.mark.parametrize("vector", [[0.0, 0.0], [1.0, 2.0, 3.0], [float("nan"), 1.0], []])
def test_a_vector_that_cannot_be_compared_is_unknown(vector: list[float]) -> None:
    talk = Talk()
    talk.say("user", "one", vector=[1.0, 0.0])
    talk.say("user", "two", vector=vector)
    assert np.isnan(talk.l1.similarities(np.array([1.0, 0.0], np.float32))).tolist() == [
        False,
        True,
    ]


def test_numbers_of_iris() -> None:
    assert number_of(iri_for("2026-a", 17)) == 17
    with pytest.raises(ValueError, match="not the IRI"):
        number_of("iri://session/x/turn/")
