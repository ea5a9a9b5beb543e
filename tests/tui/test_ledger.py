"""The timeline's bookkeeping, without a screen."""

from __future__ import annotations

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import fold
from gh_tui.tui.widgets.ledger import Ledger
from gh_tui.tui.widgets.row import mark_words
from tests.tui.sessions import migration, states


def test_a_ledger_follows_the_fold_at_every_step() -> None:
    ledger = Ledger()
    for state, envelope in states(migration()):
        if ledger.state is not state:
            ledger.rebuild(state)
        else:
            ledger.take(envelope.event)
        fresh = Ledger()
        fresh.rebuild(state)
        assert {k: v for k, v in ledger.counts.items() if v} == fresh.counts
        assert ledger.tokens_seen == fresh.tokens_seen
        assert ledger.tokens_total == fresh.tokens_total
        assert ledger.newest == fresh.newest


def test_what_the_user_made_ordinary_is_protected_no_more() -> None:
    state = fold(migration())
    turn = next(turn for turn in state.turns.values() if turn.is_supplement and not turn.pinned)
    ledger = Ledger()
    ledger.rebuild(state)
    assert ledger.is_protected(turn)
    state.apply(Envelope(None, turn.time, state.session, ev.TurnUnpinned(iri=turn.iri)))
    assert not ledger.is_protected(turn)


def test_the_protection_of_the_task_goes_with_it_to_another_input() -> None:
    state = fold(migration())
    assert state.task is not None
    assert state.task_iri is not None
    old = state.turns[state.task_iri]
    new = next(
        turn
        for turn in state.turns.values()
        if turn.role == "user" and not Ledger(state).is_protected(turn)
    )
    ledger = Ledger()
    ledger.rebuild(state)
    assert "★ task" in mark_words(old, ledger)
    event = ev.TaskStarted(task=state.task, by="user", iri=new.iri)
    state.apply(Envelope(None, new.time, state.session, event))
    assert ledger.take(event).everything
    assert [ledger.is_protected(turn) for turn in (old, new)] == [False, True]
    assert "★ task" in mark_words(new, ledger)
