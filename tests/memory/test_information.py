"""How much a turn tells, and what a pass takes when nobody asks for anything."""

from __future__ import annotations

import pytest

from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.lexicon import emphasis

from .sessions import Talk


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("We meet Anna at the station", "we meet her at the station"),
        ("the build takes 45 minutes", "the build takes some minutes"),
        ("会议定在3月14日", "会议定在那一天"),
        ("kami bertemu pukul 17", "kami bertemu nanti sore"),
        ("The port is closed", "is the port closed?"),
        ("let us see", "thanks a lot"),
        ("看一下日志", "谢谢你"),
    ],
)
def test_facts_weigh_more_than_talk(more: str, less: str) -> None:
    assert emphasis(more, answers=False) > emphasis(less, answers=False)


@pytest.mark.parametrize("opening", ["Hey Anna! ", "谢谢，", "Halo, "])
def test_what_a_long_text_opens_with_does_not_lower_it(opening: str) -> None:
    text = "the adoption agency called about the interview, and they want both of us to be there, "
    text += "with the papers that the landlord signed last week"
    assert emphasis(opening + text, answers=False) >= emphasis(text, answers=False)


def test_an_answer_weighs_more() -> None:
    assert emphasis("In Lisbon.", answers=True) > emphasis("In Lisbon.", answers=False)


def test_without_a_query_facts_outlive_chat_of_any_length() -> None:
    talk = Talk(EvictionConfig(high_watermark=1.0, low_watermark=1.0))
    chat = "that is so good to hear and we are all very happy for you and for them too "
    facts = []
    for number in range(12):
        talk.say("user", chat, score=None)
        talk.say("assistant", chat + chat, score=None)
        city = ("Lisbon", "Tallinn", "Quito", "Hanoi")[number % 4]
        text = f"The train {number}7 to {city} leaves at {number}:40 from platform {number}B {chat}"
        facts.append(talk.say("user", text, score=None).iri)
    wanted = sum(talk.l1.turn(iri).tokens for iri in facts)
    talk.run(budget=wanted + 60, tokens_before=talk.l1.tokens(), now=1e5)
    kept = [iri for iri in facts if talk.l1.turn(iri).fidelity == "full"]
    assert len(kept) >= len(facts) - 1
