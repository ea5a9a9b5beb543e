"""Attachments and large tool results show head, tail and IRI, never more than their share.

The whole text is kept.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gh_tui.events import types as ev
from gh_tui.memory.table import FULL
from gh_tui.memory.tokens import count, end_within, start_within
from tests.memory.sessions import Talk

FRAME = 60
"""Tokens of the line that names an attachment, with the message's own."""
WORDS = st.text(st.sampled_from("a é中👍\n\ud800"), max_size=400)


@given(WORDS, st.integers(0, 60))
def test_a_cut_has_at_most_its_tokens_and_one_more_character_would_not_fit(
    text: str, tokens: int
) -> None:
    start, end = start_within(text, tokens), end_within(text, tokens)
    assert text.startswith(start)
    assert text.endswith(end)
    assert max(count(start), count(end)) <= tokens
    if start != text:
        assert count(text[: len(start) + 1]) > tokens
    if end != text:
        assert count(text[len(text) - len(end) - 1 :]) > tokens


@given(WORDS, st.integers(1, 5), st.integers(1, 60), st.booleans())
def test_no_text_shows_more_than_its_share(text: str, times: int, limit: int, result: bool) -> None:
    talk = Talk(attached_limit=limit, result_limit=limit)
    if result:
        _, turn = talk.exchange(text * times)
    else:
        turn = talk.say("user", text * times, attached=True)
    row = talk.l1.row(turn.iri)
    shown = talk.l1.message(row, FULL).text
    whole = count(turn.text)
    assert turn.text == text * times
    assert count(shown) <= min(whole, limit + FRAME)
    assert talk.l1.table.full[row] <= min(whole, limit + FRAME) + 4
    if shown != turn.text:
        assert turn.iri in shown
        assert shown.startswith(start_within(turn.text, limit // 2))
        assert shown.endswith(end_within(turn.text, limit // 3))


def test_a_large_result_in_two_scripts_is_shown_within_the_limit() -> None:
    talk = Talk(result_limit=2000)
    _, result = talk.exchange("数据很多" * 2000 + "log line\n" * 11_000)
    shown = talk.l1.message(talk.l1.row(result.iri), FULL).text
    assert 2000 <= count(shown) <= 2000 + FRAME
    assert result.iri in shown


def test_a_small_attachment_is_shown_as_it_is() -> None:
    talk = Talk(attached_limit=20)
    talk.say("user", "short", attached=True)
    assert talk.l1.message(0, FULL).text == "short"


def test_the_input_that_gives_most_room_is_attached_first_and_each_once() -> None:
    talk = Talk(attached_limit=20)
    sizes = {
        talk.say("user", "word " * words, is_supplement=True).iri: words
        for words in (300, 5, 900, 600)
    }
    talk.say("assistant", "word " * 2000)
    before = talk.l1.tokens()
    attached: list[ev.TurnFidelityChanged] = []
    while events := talk.l1.attach_largest():
        attached += events
    assert [sizes[event.iri] for event in attached] == [900, 600, 300]
    assert all(event.attached and event.before == event.after == "full" for event in attached)
    assert before - talk.l1.tokens() == sum(event.tokens_freed for event in attached)
    assert all(talk.l1.turn(event.iri).text == "word " * sizes[event.iri] for event in attached)
