"""The timeline's bookkeeping, without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState, fold
from gh_tui.providers.scripted.manners import count_usage
from gh_tui.runtime import Mind
from gh_tui.tui.widgets.ledger import Ledger
from gh_tui.tui.widgets.row import header_row, mark_words
from tests.harness import live
from tests.tui.sessions import migration, states


def followed(envelopes: list[Envelope]) -> Iterator[tuple[SessionState, Envelope, Ledger, Ledger]]:
    """After each event the ledger that took it, and one that was built from the state."""
    ledger = Ledger()
    for state, envelope in states(envelopes):
        if ledger.state is not state:
            ledger.rebuild(state)
        else:
            ledger.take(envelope.event)
        fresh = Ledger()
        fresh.rebuild(state)
        yield state, envelope, ledger, fresh


def test_a_ledger_follows_the_fold_at_every_step() -> None:
    for _, _, ledger, fresh in followed(migration()):
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


async def test_the_tokens_of_the_timeline_are_those_of_the_gauge(
    tmp_path: Path, mind: Mind
) -> None:
    def server(body: dict[str, Any], number: int) -> dict[str, Any]:
        spoken = "The ledger keeps one line for each payment, with payer, sum and day. " * 5
        usage = {"prompt_tokens": round(1.4 * count_usage(body, "", "")["prompt_tokens"])}
        return {"text": f"Answer {number}. {spoken}", "usage": usage}

    questions = [f"How is field {n} of the ledger filled in?" for n in range(14)]
    async with live(server, tmp_path, mind, settings=["context.budget=1500"]) as run:
        for text in ("Explain the ledger", *questions):
            await run.session.submit(text)
            await run.session.wait_idle()
    factors, checked = set(), 0
    for state, envelope, ledger, fresh in followed(run.seen):
        assert ledger.seen == fresh.seen
        assert ledger.tokens_total == fresh.tokens_total >= ledger.tokens_seen
        if isinstance(envelope.event, ev.RequestSent):
            sent = envelope.event
            fixed = sum(m.tokens for m in sent.manifest if m.part in ("system", "standing"))
            assert ledger.tokens_seen == sent.tokens - fixed
            assert ledger.basis == sent.tokens_basis
            for entry in sent.manifest:
                turn = state.turns.get(entry.iri or "")
                if turn is not None and entry.fidelity == "full":
                    assert ledger.tokens_full(turn) == entry.tokens
            factors.add(state.token_factor)
        if isinstance(envelope.event, ev.PassFinished):
            done = state.passes[envelope.event.pass_]
            assert done.changes
            checked += 1
    assert checked
    assert max(factors) > 1.3
    words = "".join(text for _, text in header_row(ledger, 200))
    assert f"{ledger.tokens_seen:,} of {ledger.tokens_total:,} tok in view confirmed" in words
