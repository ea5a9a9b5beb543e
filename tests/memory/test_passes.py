from __future__ import annotations

import pytest

from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.passes import Query

from .sessions import Talk, changes, finished

LONG = "The parser reads the file line by line and keeps the state of each open block. " * 4


def test_all_but_the_newest_tool_results_are_masked() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=2))
    talk.say("user", "Fix the parser.", is_task=True)
    for _ in range(5):
        talk.exchange("line\n" * 100)
    talk.say("user", "Go on.")
    done = changes(talk.run(budget=10_000))
    assert [(c.phase, c.before, c.after) for c in done] == [("mask", "full", "masked")] * 3
    assert all(c.tokens_freed > 0 for c in done)
    results = [turn for turn in talk.l1.turns if turn.role == "tool"]
    assert [turn.fidelity for turn in results] == ["masked"] * 3 + ["full"] * 2


def test_a_short_result_is_not_masked_by_a_longer_line() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=0))
    talk.exchange("42", "43")
    talk.say("user", "Go on.")
    assert changes(talk.run(budget=10_000)) == []


@pytest.mark.parametrize(
    ("score", "age", "gone"),
    [
        (0.29, 300.1, True),
        (0.3, 300.1, False),
        (0.29, 300.0, False),
        (None, 9000.0, False),
        (0.0, 9000.0, True),
    ],
)
def test_the_threshold_is_strict_and_unknown_is_never_below(
    score: float | None, age: float, gone: bool
) -> None:
    talk = Talk(EvictionConfig(preserve_recent=1))
    talk.say("user", "Fix the parser.", is_task=True)
    small = talk.say("user", "Nice weather today, is it not?", score=score)
    talk.say("user", "Go on.")
    done = changes(talk.run(now=small.last_access + age, budget=10_000))
    assert [(c.iri, c.phase, c.after) for c in done] == (
        [(small.iri, "threshold", "archived")] if gone else []
    )


def test_the_last_turns_are_spared_by_the_threshold() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for _ in range(6):
        talk.say("user", "Nice weather today.", score=0.0)
    talk.run(now=9000.0, budget=10_000)
    kept = [turn.fidelity == "full" for turn in talk.l1.turns]
    assert kept == [True, False, False, True, True, True, True]


def test_an_exchange_counts_by_its_best_turn_and_goes_as_a_whole() -> None:
    talk = Talk(EvictionConfig(preserve_recent=1, keep_tool_results=50))
    talk.say("user", "Fix the parser.", is_task=True)
    kept = talk.exchange("unrelated", score=0.1)
    talk.l1.score(kept[1].iri, 0.8)
    gone = talk.exchange("unrelated", "also", score=0.1)
    talk.say("user", "Go on.")
    done = changes(talk.run(now=9000.0, budget=10_000))
    assert {c.iri for c in done} == {turn.iri for turn in gone}


def test_fusion_works_down_to_the_low_watermark_and_no_further() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(30):
        talk.say("assistant", f"{number}. {LONG}")
    talk.say("user", "Go on.")
    before = talk.l1.tokens()
    events = talk.run(budget=1500, tokens_before=before)
    after = finished(events).tokens_after
    largest = max(c.tokens_freed for c in changes(events))
    assert 900 - largest < after <= 900
    assert after == before - sum(c.tokens_freed for c in changes(events)) == talk.l1.tokens()


@pytest.mark.parametrize(
    ("answer", "filler", "question"),
    [
        (
            "The ferry to Lombok leaves at 09:30 from Padang Bai. ",
            "The parser reads the file line by line. ",
            "When does the ferry leave?",
        ),
        (
            "去龙目岛的渡轮九点半从码头出发。",
            "解析器逐行读取文件，保存每个块的状态。",
            "渡轮几点出发？",
        ),
        (
            "Feri ke Lombok berangkat pukul 09.30 dari Padang Bai. ",
            "Pengurai membaca berkas baris demi baris. ",
            "Kapan feri berangkat?",
        ),
    ],
)
def test_what_fits_the_query_stays_in_any_language(answer: str, filler: str, question: str) -> None:
    talk = Talk()
    talk.say("user", "Plan the trip.", is_task=True)
    wanted = talk.say("assistant", answer * 4)
    for number in range(30):
        talk.say("assistant", f"{number} {filler * 4}")
    talk.say("user", question)
    talk.run(query=Query(text=question), budget=600)
    assert talk.l1.turn(wanted.iri).fidelity == "full"
    assert talk.l1.fidelity_counts()["archived"] > 15


def test_large_turns_become_one_line_before_they_go() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=50))
    talk.say("user", "Fix the parser.", is_task=True)
    for _ in range(4):
        talk.exchange(f"{LONG}\n" * 3, text=LONG * 3)
    talk.say("user", "Go on.")
    events = talk.run(budget=1200)
    lines = [c for c in changes(events) if c.after == "summary"]
    assert lines
    for change in lines:
        (head, *_), fidelities = (
            talk.l1.exchange(change.iri),
            {turn.fidelity for turn in talk.l1.exchange(change.iri)},
        )
        assert fidelities == {"summary"}
        assert talk.shown(talk.l1.row(head.iri)).endswith(head.iri)


def test_results_are_masked_before_an_exchange_is_touched() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=50))
    talk.say("user", "Fix the parser.", is_task=True)
    for _ in range(4):
        talk.exchange(f"{LONG}\n" * 3)
    talk.say("user", "Go on.")
    done = changes(talk.run(budget=1200))
    results = [turn.iri for turn in talk.l1.turns if turn.role == "tool"]
    assert [(c.iri, c.phase, c.after) for c in done] == [
        (iri, "mask", "masked") for iri in results[: len(done)]
    ]
    assert 0 < len(done) < 4


def test_no_pressure_masks_what_the_model_has_not_seen() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=50))
    talk.say("user", "Fix the parser.", is_task=True)
    talk.exchange(f"{LONG}\n" * 3)
    unseen = talk.exchange(*[f"{LONG}\n"] * 4)
    talk.run(budget=1000)
    assert {turn.fidelity for turn in talk.l1.exchange(unseen[0].iri)} == {"full"}


def test_recent_turns_are_favoured_but_go_if_they_must() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(10):
        talk.say("assistant", f"{number}. {LONG}", score=0.9 if number < 6 else 0.4)
    talk.say("user", "Go on.")
    talk.run(budget=1000)
    assert [turn.fidelity for turn in talk.l1.turns][-3:] == ["full"] * 3
    talk.run(budget=100)
    assert talk.l1.tokens() < 60


def test_too_many_messages_are_worked_down() -> None:
    talk = Talk(EvictionConfig(max_messages=20))
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(30):
        talk.say("assistant", f"Step {number} is done.")
    talk.say("user", "Go on.")
    assert talk.l1.due(100, 100_000) == "messages"
    talk.run("messages", budget=100_000)
    assert talk.l1.message_count() == 12
    assert talk.l1.due(100, 100_000) is None


def test_a_topic_pass_archives_what_the_detector_proposes_and_nothing_protected() -> None:
    talk = Talk()
    task = talk.say("user", "Fix the parser.", is_task=True)
    rule = talk.say("user", "Never touch main.", standing=True)
    old = talk.say("assistant", LONG)
    talk.say("user", "Where shall we go for dinner?")
    proposed = (task.iri, rule.iri, old.iri)
    done = changes(talk.run("topic", proposed=proposed, budget=10_000))
    assert [(c.iri, c.phase, c.after) for c in done] == [(old.iri, "topic", "archived")]


def test_what_belongs_to_the_new_topic_too_stays() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True, vector=[1.0, 0.0])
    old = talk.say("assistant", LONG, vector=[1.0, 0.1])
    both = talk.say("assistant", "The parser was written in Rome.", vector=[0.7, 0.7])
    shift = talk.say("user", "What is Rome like?", vector=[0.1, 1.0])
    query = Query(shift.iri, shift.text, shift.embedding)
    done = changes(talk.run("topic", proposed=(old.iri, both.iri), query=query, budget=10_000))
    assert [change.iri for change in done] == [old.iri]
    assert done[0].terms["query"] == pytest.approx(0.2, abs=0.02)


def test_results_of_the_newest_exchange_are_masked_before_the_request_fails() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    _, *results = talk.exchange(LONG, LONG, LONG, LONG)
    assert changes(talk.run(budget=500, tokens_before=talk.l1.tokens())) == []
    events = talk.run(budget=320, tokens_before=talk.l1.tokens())
    assert finished(events).tokens_after <= 320
    masked = [change.iri for change in changes(events)]
    assert masked == [turn.iri for turn in results[: len(masked)]]
    assert talk.l1.turn(results[-1].iri).fidelity == "full"


def test_after_an_overflow_the_estimate_is_the_ceiling() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(10):
        talk.say("assistant", f"{number}. {LONG}")
    talk.say("user", "Go on.")
    before = talk.l1.tokens()
    events = talk.run("overflow", budget=10 * before, tokens_before=before)
    assert finished(events).tokens_after <= 0.6 * before


def test_the_pass_reports_the_prefix_that_it_kept() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=0))
    task = talk.say("user", "Fix the parser.", is_task=True)
    first = talk.say("assistant", LONG)
    talk.exchange("line\n" * 100)
    talk.say("user", "Go on.")
    events = talk.run(budget=10_000, tokens_before=talk.l1.tokens() + 70, standing_tokens=20)
    head = talk.l1.turns[2]
    assert finished(events).prefix_kept == 50 + task.tokens + first.tokens + head.tokens


def test_a_corrected_estimate_moves_the_pass() -> None:
    talk = Talk()
    for number in range(10):
        talk.say("assistant", f"{number}. {LONG}")
    talk.say("user", "Go on.")
    plain = changes(talk.l1.preview_pass(talk.request(tokens_before=talk.l1.tokens())))
    doubled = changes(
        talk.l1.preview_pass(talk.request(tokens_before=talk.l1.tokens(2.0), factor=2.0))
    )
    assert len(doubled) > len(plain)
    freed = {(change.iri, change.after): change.tokens_freed for change in plain}
    for change in doubled:
        single = freed.get((change.iri, change.after), change.tokens_freed / 2)
        assert change.tokens_freed == pytest.approx(2 * single, abs=1)


def test_recency_drops_whole_turns_from_the_front() -> None:
    talk = Talk(EvictionConfig(policy="recency"))
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(10):
        talk.say("assistant", f"{number}. {LONG}", score=0.0)
    talk.say("user", "Go on.")
    talk.run()
    fidelities = [turn.fidelity for turn in talk.l1.turns]
    gone = fidelities.count("archived")
    assert gone
    assert fidelities == ["full"] + ["archived"] * gone + ["full"] * (11 - gone)


def test_half_of_a_call_stays() -> None:
    talk = Talk(EvictionConfig(preserve_recent=0, keep_tool_results=0))
    talk.say("user", "Fix the parser.", is_task=True)
    asked = talk.call(2, LONG, score=0.0)
    first = talk.say("tool", LONG, score=0.0, call_id=asked.calls[0].id, name="read_file")
    talk.say("user", "Hurry.", is_supplement=True)
    assert changes(talk.run(now=9000.0, budget=50)) == []
    second = talk.say("tool", LONG, score=0.0, call_id=asked.calls[1].id, name="read_file")
    talk.say("user", "Go on.")
    gone = changes(talk.run(now=9000.0, budget=50))
    assert {change.iri for change in gone} == {asked.iri, first.iri, second.iri}


def test_a_call_that_was_cut_short_is_no_half_for_ever() -> None:
    talk = Talk(EvictionConfig(preserve_recent=0))
    talk.say("user", "Fix the parser.", is_task=True)
    asked = talk.call(1, LONG, score=0.0)
    talk.say("user", "Stop.")
    talk.say("assistant", "I stopped.")
    talk.say("user", "Go on.")
    assert asked.iri in {change.iri for change in changes(talk.run(now=9000.0, budget=50))}
