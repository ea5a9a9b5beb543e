"""How a live session kept its promises, as the server saw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gh_tui.chaos.oracle import Promises, Verdict, judge, sent_in
from gh_tui.events import types as ev
from tests.harness import Live

LOOK: dict[str, Any] = {"calls": [{"name": "list_files", "arguments": {"path": "."}}]}
OK: dict[str, Any] = {"text": "Ok."}


def verdict(run: Live, *earlier: Live) -> Verdict:
    """Judge one session from the log of its server, or of its servers, oldest first."""
    promises = Promises()
    log = []
    for life in (*earlier, run):
        for envelope in life.seen:
            promises.take(envelope.event)
        log += sent_in(life.server.requests)
    state = run.session.state
    pending = {entry.id: entry.text for entry in state.pending} | state.queued
    return judge(log, promises, pending)


def assert_delivered(run: Live, texts: Sequence[str], *earlier: Live) -> None:
    """Exactly these supplements were accepted, and each was delivered exactly once, in order.

    The server has it once, and one event says so.
    """
    found = verdict(run, *earlier)
    assert found.faults == []
    accepted = [entry.text for entry in run.session.state.supplements.values()]
    assert accepted == list(texts)
    assert found.delivered == len(texts)
    injected = [e.id for life in (*earlier, run) for e in life.events(ev.SupplementInjected)]
    assert sorted(injected) == sorted(run.session.state.supplements)


async def sent(run: Live, number: int = 1) -> None:
    """Wait until request `number` goes out."""
    await run.until(lambda e: isinstance(e, ev.RequestSent) and e.request == number)
