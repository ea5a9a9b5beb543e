"""Fresh and cached tokens, and the speed of reading, from events alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.events import types as ev
from gh_tui.events.prefill import Prefill
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.providers.scripted.manners import count_usage
from gh_tui.runtime import Mind
from gh_tui.settings.paths import Paths
from tests.harness import live


def sent(tokens: int, kept: int) -> ev.RequestSent:
    return ev.RequestSent(
        request=1,
        cycle=1,
        purpose="agent",
        manifest=(),
        tokens=tokens,
        tokens_basis="estimated",
        budget=4000,
        prefix_kept=kept,
    )


def reply(first_ms: int | None = None, **fields: Any) -> ev.ReplyFinished:
    return ev.ReplyFinished(request=1, outcome="complete", text="", first_ms=first_ms, **fields)


def test_ours_is_estimated_and_the_servers_is_confirmed() -> None:
    prefill = Prefill()
    prefill.sent(sent(900, 600))
    assert (prefill.cached, prefill.fresh, prefill.basis) == (600, 300, "estimated")
    prefill.answered(reply(usage={"prompt_tokens": 1000, "cached_tokens": 640}))
    assert (prefill.cached, prefill.fresh, prefill.basis) == (640, 360, "confirmed")
    prefill.sent(sent(1100, 900))
    prefill.answered(reply(usage={"prompt_tokens": 1200}))
    assert (prefill.cached, prefill.fresh, prefill.basis) == (900, 200, "estimated")


def test_a_cache_that_held_half_is_expected_to_hold_half() -> None:
    prefill = Prefill()
    prefill.sent(sent(900, 600))
    prefill.answered(reply(usage={"prompt_tokens": 900, "cached_tokens": 300}))
    prefill.sent(sent(1200, 1000))
    assert (prefill.cached, prefill.fresh, prefill.basis) == (500, 700, "estimated")


def test_cached_tokens_may_be_counted_beside_those_of_the_prompt() -> None:
    prefill = Prefill()
    prefill.sent(sent(760, 700))
    prefill.answered(reply(usage={"prompt_tokens": 50, "cached_tokens": 700}))
    assert (prefill.cached, prefill.fresh, prefill.basis) == (700, 50, "confirmed")


def test_the_speed_is_that_of_the_latest_requests() -> None:
    prefill = Prefill()
    assert prefill.speed is None
    prefill.sent(sent(800, 0))
    prefill.answered(reply())
    assert prefill.speed is None, "no word came"
    prefill.answered(reply(10_000))
    assert prefill.speed == pytest.approx(80)
    for _ in range(8):
        prefill.sent(sent(1000, 900))
        prefill.answered(reply(1000))
    assert prefill.speed == pytest.approx(100)


def test_older_recordings_tell_the_first_word_by_its_chunk_unless_thought_came_before() -> None:
    prefill = Prefill()
    prefill.sent(sent(500, 0))
    prefill.answered(reply(chunks=((5000, 3), (5100, 2)), reasoning="hm"))
    assert prefill.speed is None
    prefill.answered(reply(chunks=((5000, 3), (5100, 2))))
    assert prefill.speed == pytest.approx(100)


async def test_a_recording_tells_what_the_live_session_knew(tmp_path: Path, mind: Mind) -> None:
    def slow(body: dict[str, Any], number: int) -> dict[str, Any]:
        usage = count_usage(body, "", "") | {"prompt_tokens_details": {"cached_tokens": 0}}
        return {"text": f"Answer {number}.", "first_delay": 0.05, "usage": usage}

    async with live(slow, tmp_path, mind) as run:
        for text in ("Explain the ledger", "Which fields are there?", "Who fills them in?"):
            await run.session.submit(text)
            await run.session.wait_idle()
        known = run.session.state.prefill
        recording = Paths(tmp_path, tmp_path).sessions / f"{run.session.id}.jsonl"
    envelopes = [record.envelope for record in read_records(recording) if record.envelope]
    assert fold(envelopes).prefill == known
    assert (known.cached, known.basis) == (0, "confirmed")
    assert len(known.measured) == 3
    assert all(waited >= 50 for _, waited in known.measured)


async def test_the_time_before_a_retry_is_no_time_of_reading(tmp_path: Path, mind: Mind) -> None:
    def busy(body: dict[str, Any], number: int) -> dict[str, Any]:
        if number == 0:
            return {"status": 503, "headers": {"Retry-After": "0.6"}, "error": {"message": "busy"}}
        return {"text": "Answer.", "first_delay": 0.05}

    async with live(busy, tmp_path, mind, settings=["provider.retries=1"]) as run:
        await run.session.submit("Explain the ledger")
        await run.session.wait_idle()
        ((_, waited),) = run.session.state.prefill.measured
        assert 50 <= waited < 500
