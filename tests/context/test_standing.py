from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.context.assembly import Assembled, Frame, assemble
from gh_tui.context.prompts import ANSWER, GO_ON
from gh_tui.context.standing import Standing
from gh_tui.events.values import Task
from gh_tui.memory.tokens import count, count_message, scale

from ..memory.sessions import Talk
from ..memory.stories import LONG


def request(
    talk: Talk, standing: Standing | None = None, budget: int = 1500, factor: float = 1.0
) -> Assembled:
    standing = standing or Standing()
    frame = Frame(system="Answer.", budget=budget, factor=factor, standing=standing)
    return assemble(talk.l1, frame)


def drifted(*instructions: str, filler: int = 5) -> Talk:
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    for text in instructions:
        talk.say("user", text, standing=True)
    for _ in range(filler):
        talk.say("assistant", LONG)
    return talk


def parts(assembled: Assembled) -> list[str]:
    return [entry.part for entry in assembled.manifest]


def test_it_heads_the_users_message_above_the_text_itself() -> None:
    talk = drifted("Never connect to\n\n prod!")
    question = talk.say("user", "  Which database?\n")
    assembled = request(talk)
    last = assembled.messages[-1]
    assert last.iri == question.iri
    block, text = last.text[: -len(question.text)], last.text[-len(question.text) :]
    assert text == question.text
    assert "newest overrides" in block
    assert "- Never connect to\n\n prod!\n\n" in block
    assert parts(assembled)[-2:] == ["standing", "turn"]
    standing, turn = assembled.manifest[-2:]
    assert (standing.iri, standing.tokens) == (None, count(block))
    assert turn.tokens == question.tokens
    assert len(assembled.manifest) == len(assembled.messages) + 1


def test_after_tool_results_it_is_a_user_message_of_its_own() -> None:
    talk = drifted("Never connect to prod!")
    talk.exchange("42 lines")
    assembled = request(talk)
    assert [message.role for message in assembled.messages[-2:]] == ["tool", "user"]
    assert assembled.messages[-1].iri is None
    assert "message below" not in assembled.messages[-1].text
    assert parts(assembled)[-1] == "standing"


def test_it_is_left_out_when_nothing_is_far() -> None:
    talk = drifted("Never connect to prod!", filler=1)
    talk.say("user", "Which database?")
    assert "standing" not in parts(request(talk))


@pytest.mark.parametrize("most", [None, 3])
def test_the_last_message_is_not_repeated_in_itself(most: int | None) -> None:
    talk = drifted()
    long = talk.say("user", f"Never touch main. {LONG}", standing=True)
    assembled = request(talk, Standing(most=most), budget=1000)
    assert assembled.messages[-1].text == long.text
    talk.exchange(LONG, LONG)
    assert f"- {long.text}" in request(talk, Standing(most=most), budget=1200).messages[-1].text


def test_archive_counts_alone_are_no_message_of_their_own() -> None:
    talk = drifted(filler=8)
    talk.exchange("42 lines")
    talk.run(budget=150)
    assert talk.l1.fidelity_counts()["archived"]
    assert "standing" not in parts(request(talk))


def test_for_a_small_model_everything_but_the_latest_input_is_far() -> None:
    talk = drifted("Never connect to prod!", filler=1)
    talk.say("user", "Which database?")
    assembled = request(talk, Standing(most=3))
    assert "- Never connect to prod!" in assembled.messages[-1].text
    newest = talk.say("user", "And use port 5433.", standing=True)
    assembled = request(talk, Standing(most=3))
    assert assembled.messages[-1].text.count(newest.text) == 1


def test_what_was_replaced_or_demoted_never_stands_in_it() -> None:
    talk = drifted("Use prod.", "Use staging.", "Use blue.", "Use green.")
    old, new, demoted = (talk.l1.turns[row].iri for row in (1, 2, 3))
    talk.l1.pin(old, talk.now, budget=10_000)
    talk.l1.replace_instruction(old, new)
    talk.l1.demote(demoted)
    talk.say("user", "Which database?")
    text = request(talk).messages[-1].text
    assert "Use prod." not in text
    assert "Use blue." not in text
    assert text.index("Use staging.") < text.index("Use green.")


def test_few_for_a_small_model_the_newest_and_the_most_similar_last() -> None:
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    vectors: dict[str, list[float]] = {
        "far": [0, 0, 0, 1],
        "near": [0.9, 0.4, 0, 0],
        "mid": [0.4, 0, 0.9, 0],
    }
    for name in ("near", "far", "mid"):
        talk.say("user", f"Rule {name}.", standing=True, vector=vectors[name])
    talk.say("user", "Rule newest.", standing=True, vector=[0, 1, 0, 0])
    talk.say("assistant", LONG)
    query = talk.say("user", "Which database?", vector=[1, 0, 0, 0])
    assembled = request(talk, Standing(most=3, vector=query.embedding))
    text = assembled.messages[-1].text
    order = sorted(("near", "mid", "newest", "far"), key=lambda name: text.find(f"Rule {name}."))
    assert order == ["far", "newest", "mid", "near"]
    assert "Rule far." not in text
    assert "- Rule newest." in text


def test_a_small_model_is_told_only_the_newer_of_two_on_one_subject() -> None:
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    talk.say("user", "Use the old database.", standing=True, vector=[1, 0.1])
    talk.say("user", "Use the new database.", standing=True, vector=[1, 0.2])
    talk.say("user", "Which database?", vector=[1, 0])
    small = request(talk, Standing(most=3, vector=talk.l1.turns[-1].embedding))
    assert "- Use the old database." not in small.messages[-1].text
    assert "- Use the new database." in small.messages[-1].text
    assert small.messages[2].text == "Use the old database."


def test_a_prioritised_step_stands_last() -> None:
    talk = drifted("First the schema.", "Use staging.", "Keep it short.")
    first = talk.l1.turns[1]
    talk.say("user", "Go on.")
    text = request(talk, Standing(last=first.iri)).messages[-1].text
    assert text.endswith(f"- First the schema.\n\n{ANSWER}\n\nGo on.")


def test_a_refined_task_and_pins_stand_in_it() -> None:
    talk = drifted()
    pinned = talk.say("assistant", "The key is K-77.")
    for _ in range(5):
        talk.say("assistant", LONG)
    talk.l1.pin(pinned.iri, talk.now, budget=10_000)
    talk.say("user", "Go on.")
    task = Task(what="Move the service.", when="by Friday", how_much="no new cost")
    text = request(talk, Standing(refined=task)).messages[-1].text
    assert "when: by Friday\nhow much: no new cost" in text
    assert "- [assistant] The key is K-77." in text


@given(
    st.lists(st.integers(1, 300), max_size=12),
    st.integers(200, 4000),
    st.sampled_from([None, 1, 3]),
    st.sampled_from(["user", "tool", "assistant"]),
    st.integers(10, 40).map(lambda steps: steps / 20),
)
def test_it_takes_a_tenth_of_the_budget_at_most(
    sizes: list[int], budget: int, most: int | None, last: str, factor: float
) -> None:
    talk = drifted(*(f"Rule {i}: {'x' * size}" for i, size in enumerate(sizes)), filler=12)
    if last == "tool":
        talk.exchange("42 lines")
    elif last == "user":
        talk.say("user", "Go on.")
    talk.run(budget=budget)
    standing = Standing(most=most, refined=Task(what="Move it all."))
    assembled = request(talk, standing, budget, factor)
    least = scale(count_message(GO_ON), factor) if last == "assistant" else 0
    assert least <= assembled.standing_tokens <= max(least, 0.1 * budget)
    assert assembled.messages[-1].text.endswith(GO_ON) == (last == "assistant")
    said = [line for line in assembled.messages[-1].text.split("\n") if line.startswith("- Rule")]
    assert most is None or len(said) <= most
    assert {line.removeprefix("- ") for line in said} <= {turn.text for turn in talk.l1.turns}


@pytest.mark.parametrize("text", ["不要用生产库。", "Jangan pakai produksi."])
def test_other_languages_stand_word_for_word(text: str) -> None:
    talk = drifted(text)
    talk.say("user", "Go on.")
    assert f"- {text}" in request(talk).messages[-1].text


def test_an_attachment_is_repeated_only_where_it_is_shown_whole() -> None:
    talk = Talk(attached_limit=12)
    talk.say("user", "Move the service.", is_task=True)
    talk.say("user", "Never connect to prod! " * 14, standing=True, attached=True)
    talk.say("user", "Use port 5433.", standing=True, attached=True)
    for _ in range(5):
        talk.say("assistant", LONG)
    talk.say("user", "Which database?")
    last = request(talk).messages[-1].text
    assert "- Use port 5433.\n" in last
    assert "prod" not in last
