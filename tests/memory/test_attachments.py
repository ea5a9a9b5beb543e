"""Attachments and large tool results show head, tail and IRI, never more than their share.

The whole text is kept.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gh_tui.events import types as ev
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.table import FULL
from gh_tui.memory.tokens import count, end_within, start_within
from tests.memory.sessions import Talk, changes, finished

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


def overflow(talk: Talk, fits: int, **fields: Any) -> list[ev.Event]:
    return talk.run("overflow", budget=fits, tokens_before=talk.l1.tokens(), fits=fits, **fields)


def test_on_overflow_the_largest_ordinary_inputs_are_attached_until_the_request_fits() -> None:
    talk = Talk(attached_limit=20)
    sizes = {talk.say("user", "word " * words).iri: words for words in (300, 5, 900, 600)}
    for iri in sizes:
        talk.l1.hold(iri)  # not delivered yet: no pass may shorten or archive them
    before = talk.l1.tokens()
    events = overflow(talk, 500)
    attached = changes(events)
    assert [sizes[event.iri] for event in attached] == [900, 600]
    assert all(event.attached and event.before == event.after == "full" for event in attached)
    freed = sum(event.tokens_freed for event in attached)
    assert finished(events).tokens_after == talk.l1.tokens() == before - freed <= 500
    assert all(talk.l1.turn(event.iri).text == "word " * sizes[event.iri] for event in attached)
    (more,) = changes(overflow(talk, 500))  # it does not fit, whatever the estimate says
    assert sizes[more.iri] == 300
    assert overflow(talk, 500) == []


def test_the_newest_input_is_whole_as_long_as_anything_else_can_be_taken() -> None:
    talk = Talk(attached_limit=20)
    talk.say("user", "Fix the parser.", is_task=True)
    older = talk.say("user", "older " * 200)
    for _ in range(6):
        talk.say("assistant", "word " * 300)
    newest = talk.say("user", "newest " * 400)
    taken: list[str] = []
    while events := overflow(talk, 10_000, again=True):
        rest = [t for t in talk.l1.turns if t.fidelity != "archived" and not t.is_task]
        taken += [change.iri for change in changes(events) if change.attached]
        assert newest.iri not in taken or rest == [talk.l1.turn(newest.iri)]
    assert taken[-1] == newest.iri
    assert talk.l1.turn(older.iri).fidelity == "archived"


def test_what_is_protected_is_never_attached_by_the_program() -> None:
    talk = Talk(attached_limit=20)
    kept = [
        talk.say("user", "task " * 500, is_task=True),
        talk.say("user", "instruction " * 300, standing=True),
        talk.say("user", "supplement " * 300, is_supplement=True),
        talk.say("user", "pinned " * 300),
    ]
    talk.l1.pin(kept[-1].iri, talk.now, budget=100_000)
    ordinary = talk.say("user", "ordinary " * 300)
    (change,) = changes(overflow(talk, 100))
    assert (change.iri, change.attached) == (ordinary.iri, True)
    assert overflow(talk, 100, again=True) == []
    assert [talk.shown(row) for row in range(len(kept))] == [turn.text for turn in kept]


def test_undo_shows_whole_again_what_its_pass_attached_and_only_that() -> None:
    talk = Talk(attached_limit=20)
    talk.say("user", "Fix the parser.", is_task=True)
    asked = talk.say("user", "log " * 400, attached=True)
    talk.say("assistant", "word " * 400)
    large = talk.say("user", "ordinary " * 300)
    whole = talk.l1.tokens()
    events = overflow(talk, 200)
    assert {change.iri for change in changes(events) if change.attached} == {large.iri}
    back = changes(talk.undo(talk.now))
    assert {change.iri for change in back} == {change.iri for change in changes(events)}
    assert [change.iri for change in back if change.whole] == [large.iri]
    assert talk.shown(talk.l1.row(large.iri)) == large.text
    assert talk.l1.turn(asked.iri).attached
    assert talk.l1.tokens() == whole
    (notice,) = (e for e in overflow(talk, 200) if isinstance(e, ev.Notice))
    assert "brought back" in notice.text


def test_the_user_attaches_any_input_and_recall_shows_it_whole() -> None:
    talk = Talk(attached_limit=20)
    task = talk.say("user", "task " * 500, is_task=True)
    small = talk.say("user", "Go on.")
    reply = talk.say("assistant", "word " * 400)
    whole = talk.l1.tokens()
    assert [(turn.iri, freed > 400) for turn, freed in talk.l1.attachable()] == [(task.iri, True)]
    assert talk.l1.attach(small.iri) == talk.l1.attach(reply.iri) == []
    (change,) = changes(talk.l1.attach(task.iri))
    assert (change.phase, change.attached, change.pass_) == ("user", True, None)
    assert change.tokens_freed == whole - talk.l1.tokens() > 400
    assert talk.l1.attach(task.iri) == []
    (back,) = changes(talk.l1.recall(task.iri, talk.now))
    assert (back.phase, back.whole, back.tokens_freed) == ("recall", True, -change.tokens_freed)
    assert talk.shown(0) == task.text


def test_undo_of_a_pass_leaves_what_the_user_made_an_attachment() -> None:
    talk = Talk(attached_limit=20)
    talk.say("user", "Fix the parser.", is_task=True)
    large = talk.say("user", "ordinary " * 300)
    taken = changes(overflow(talk, 100))
    assert [change.iri for change in taken] == [large.iri]
    talk.l1.recall(large.iri, talk.now)
    talk.l1.attach(large.iri)
    again = L1Session(attached_limit=20)
    again.restore(talk.l1.turns, passes=talk.passes, chosen=[large.iri])
    for session in (talk.l1, again):
        assert session.undo_pass(talk.now) == []
        assert session.turn(large.iri).attached
