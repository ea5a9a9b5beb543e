from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings

from gh_tui.context.assembly import Assembled, Frame, assemble
from gh_tui.context.pieces import NO_RESULT, PieceCache
from gh_tui.context.prompts import GO_ON
from gh_tui.context.standing import Standing
from gh_tui.events.values import Task
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.providers.base import Message
from gh_tui.providers.wire import validate_order

from ..memory.sessions import Talk
from ..memory.stories import LONG, Story, play, stories

SYSTEM = "Answer briefly."


def request(talk: Talk, budget: int = 1500, **fields: object) -> Assembled:
    standing = Standing(**fields)  # type: ignore[arg-type]
    return assemble(talk.l1, Frame(system=SYSTEM, budget=budget, standing=standing))


def texts(assembled: Assembled) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in assembled.messages]


def test_the_first_request_is_the_system_prompt_and_the_task_verbatim() -> None:
    talk = Talk()
    talk.say("user", "  Move\n\nthe service. ", is_task=True)
    assembled = request(talk)
    assert texts(assembled) == [("system", SYSTEM), ("user", "  Move\n\nthe service. ")]
    assert [entry.part for entry in assembled.manifest] == ["system", "task"]
    assert assembled.tokens == sum(entry.tokens for entry in assembled.manifest)


def test_turns_stand_in_order_at_their_fidelity() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=1))
    talk.say("user", "Move the service.", is_task=True)
    first = talk.exchange("row\n" * 200)
    second = talk.exchange("row\n" * 200)
    talk.say("user", "Go on.")
    talk.run(budget=10_000)
    assembled = request(talk)
    assert [m.role for m in assembled.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "user")
    ]
    assert assembled.messages[3].text.endswith(first[1].iri)
    assert "\n" not in assembled.messages[3].text
    assert assembled.messages[5].text == second[1].text
    assert [entry.fidelity for entry in assembled.manifest][2:6] == [
        *("full", "masked", "full", "full")
    ]
    validate_order(assembled.messages)


def test_a_summarised_exchange_is_one_assistant_message() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=50, preserve_recent=1))
    talk.say("user", "Fix the parser.", is_task=True)
    talk.exchange(f"{LONG}\n" * 6, f"{LONG}\n" * 6, text=LONG)
    talk.say("user", "Go on.")
    talk.run(budget=400)
    assembled = request(talk)
    (line,) = (m for m in assembled.messages if m.role == "assistant")
    assert line.text.startswith("[assistant] ")
    assert line.text.endswith("iri://session/s/turn/2")
    assert not line.calls
    assert [e.fidelity for e in assembled.manifest if e.role == "assistant"] == ["summary"]


def test_archived_turns_vanish_and_leave_the_input_as_it_was_typed() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for _ in range(10):
        talk.say("assistant", LONG, score=0.0)
    talk.say("user", "Go on.")
    talk.run(budget=150)
    assembled = request(talk)
    assert [m.role for m in assembled.messages] == ["system", "user", "user"]
    assert assembled.messages[-1].text == "Go on."


def test_calls_that_were_cut_short_get_a_result() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    talk.call(2)
    talk.say("user", "Stop. What is the time?")
    assembled = request(talk)
    assert [m.text for m in assembled.messages if m.role == "tool"] == [NO_RESULT] * 2
    validate_order(assembled.messages)


def test_a_result_that_is_missing_stands_where_the_call_was_made() -> None:
    talk, cache = Talk(), PieceCache()
    frame = Frame(system=SYSTEM, budget=1500)
    talk.say("user", "Fix the parser.", is_task=True)
    asked = talk.call(2)
    talk.say("user", "Only the lexer, please.", is_supplement=True)
    assemble(talk.l1, frame, (), cache)
    talk.say("tool", "42 lines", call_id=asked.calls[1].id, name="read_file")
    talk.exchange("12 lines")
    assembled = assemble(talk.l1, frame, (), cache)
    assert [m.text for m in assembled.messages[3:5]] == ["42 lines", NO_RESULT]
    assert assembled.messages[4].call_id == asked.calls[0].id
    assert [m.text for m in assembled.messages if m.text == NO_RESULT] == [NO_RESULT]
    assert set(talk.l1.unanswered) == {talk.l1.row(asked.iri)}
    validate_order(assembled.messages)


def test_a_supplement_that_came_while_tools_ran_stands_after_their_results() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    asked = talk.call(1)
    extra = talk.say("user", "Only the lexer, please.", is_supplement=True)
    talk.say("tool", "42 lines", call_id=asked.calls[0].id, name="read_file")
    assembled = request(talk)
    assert [m.role for m in assembled.messages[-3:]] == ["assistant", "tool", "user"]
    assert assembled.messages[-1].text == extra.text
    validate_order(assembled.messages)


def test_a_large_result_shows_head_tail_and_iri_and_stays_whole_in_memory() -> None:
    talk = Talk(result_limit=100)
    talk.say("user", "Read it.", is_task=True)
    text = "START " + "x" * 5000 + " END"
    _, result = talk.exchange(text)
    assembled = request(talk)
    shown = assembled.messages[-1].text
    assert shown.startswith("START")
    assert shown.endswith(" END")
    assert result.iri in shown
    assert assembled.manifest[-1].tokens < 150
    assert talk.l1.turn(result.iri).text == text


def test_provider_blocks_of_full_turns_go_back_as_they_came() -> None:
    talk = Talk()
    blocks = ({"type": "thinking", "thinking": "hm", "signature": "s1=="},)
    talk.say("user", "Fix it.", is_task=True)
    talk.say("assistant", "Done.", provider_blocks=blocks)
    talk.say("user", "Thanks.")
    assert request(talk).messages[2].blocks == blocks


@settings(max_examples=80)
@given(stories)
def test_every_request_of_every_story_is_valid(story: Story) -> None:
    cache = PieceCache()

    def check(talk: Talk) -> None:
        frame = Frame(system=SYSTEM, budget=600, standing=Standing(refined=Task(what="Fix all.")))
        assembled = assemble(talk.l1, frame, (), cache)
        assert assembled == assemble(talk.l1, frame)
        tail = () if assembled.messages[-1].role != "assistant" else (Message("user", "Go on."),)
        validate_order([*assembled.messages, *tail])
        assert assembled.tokens == sum(entry.tokens for entry in assembled.manifest)
        task = talk.l1.task
        assert task is not None
        assert assembled.messages[1].text.endswith(task.text)
        named = [entry.iri for entry in assembled.manifest if entry.iri is not None]
        assert len(named) == len(set(named))
        for turn in talk.l1.turns:
            if turn.guarded:
                (message,) = (m for m in assembled.messages if m.iri == turn.iri)
                assert message.text == turn.text or message.text.endswith(f"\n\n{turn.text}")

    play(story, check)


def test_the_kept_prefix_ends_where_the_messages_differ() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=0))
    talk.say("user", "Fix the parser.", is_task=True)
    talk.exchange("row\n" * 200)
    frame = Frame(system=SYSTEM, budget=1500)
    first = assemble(talk.l1, frame)
    assert first.prefix_kept == 0
    talk.exchange("row\n" * 200)
    second = assemble(talk.l1, frame, first.messages)
    assert second.prefix_kept == first.tokens
    talk.say("user", "Go on.")
    talk.run(budget=10_000)
    third = assemble(talk.l1, frame, second.messages)
    assert third.prefix_kept == sum(entry.tokens for entry in third.manifest[:3])


def test_a_message_that_carried_the_block_is_not_part_of_the_kept_prefix() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    talk.say("user", "Never touch main.", standing=True)
    for _ in range(5):
        talk.say("assistant", LONG)
    talk.say("user", "Go on.")
    frame = Frame(system=SYSTEM, budget=1500)
    first = assemble(talk.l1, frame)
    assert first.standing_tokens
    talk.say("assistant", "Done.")
    talk.say("user", "More.")
    second = assemble(talk.l1, frame, first.messages)
    assert second.prefix_kept == sum(entry.tokens for entry in first.manifest[:-2])


def test_the_token_correction_reaches_every_entry() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    talk.say("assistant", LONG)
    talk.say("user", "Go on.")
    plain = assemble(talk.l1, Frame(system=SYSTEM, budget=1500))
    more = assemble(talk.l1, Frame(system=SYSTEM, budget=1500, factor=1.5))
    assert more.tokens == pytest.approx(1.5 * plain.tokens, abs=len(plain.manifest))
    assert more.tokens == sum(entry.tokens for entry in more.manifest)


def test_ten_thousand_turns_are_assembled_at_once() -> None:
    talk = Talk()
    talk.say("user", "Fix the parser.", is_task=True)
    for number in range(10_000):
        talk.say("user" if number % 2 else "assistant", f"Turn {number}.", vector=[1.0, 0.5])
    cache = PieceCache()
    frame = Frame(system=SYSTEM, budget=10**6, standing=Standing(vector=np.ones(2, np.float32)))
    previous = assemble(talk.l1, frame, (), cache)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        previous = assemble(talk.l1, frame, previous.messages, cache)
        times.append(time.perf_counter() - start)
    assert len(previous.messages) == 10_002
    assert min(times) < 0.03, "10 ms on a quiet machine"


def test_a_new_summary_and_a_new_task_reach_the_cached_request() -> None:
    talk = Talk(EvictionConfig(keep_tool_results=0))
    talk.say("user", "Fix the parser.", is_task=True)
    _, result = talk.exchange("row\n" * 200)
    other = talk.say("user", "Write the notes.")
    talk.run(budget=10_000)
    cache, frame = PieceCache(), Frame(system=SYSTEM, budget=1500)
    assemble(talk.l1, frame, (), cache)
    talk.l1.add_summary(result.iri, "two hundred rows")
    assert "two hundred rows" in assemble(talk.l1, frame, (), cache).messages[3].text
    talk.l1.set_task(other.iri)
    assembled = assemble(talk.l1, frame, (), cache)
    assert assembled == assemble(talk.l1, frame)
    assert (assembled.manifest[1].part, assembled.manifest[1].iri) == ("task", other.iri)


def test_after_an_answer_that_was_cut_short_the_model_is_asked_to_go_on() -> None:
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    talk.say("assistant", "First I would [interrupted]")
    assembled = request(talk)
    assert texts(assembled)[-2:] == [
        ("assistant", "First I would [interrupted]"),
        ("user", GO_ON),
    ]
    assert assembled.manifest[-1].part == "standing"
    assert assembled.tokens == sum(entry.tokens for entry in assembled.manifest)
    validate_order(assembled.messages)
