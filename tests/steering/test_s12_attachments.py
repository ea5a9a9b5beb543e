"""S12: a large input never blocks; the model sees its head and tail and can read all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.plain import obey
from gh_tui.runtime import Mind
from tests.harness import Live, live
from tests.runtime.test_resume import crash
from tests.steering.promise import LOOK, OK, sent

BIG = "".join(f"line {number} of the pasted log\n" for number in range(900)) + "the end"
UNKNOWN_WINDOW: dict[str, Any] = {"window": None}
"""A server that does not say it: 4096 are guessed."""


async def tell(run: Live, **command: Any) -> None:
    """One line on stdin of `run --json`."""
    assert await obey(run.session, json.dumps(command).encode())


def shown(run: Live, request: int = -1) -> str:
    """The message of a request that carries the big text."""
    (found,) = [text for text in run.texts(request) if "line 0 of the pasted log" in text]
    return found


def attached(text: str) -> bool:
    """Whether it is head, tail and IRI, and short."""
    head = text.startswith(BIG[:100])
    return head and text.endswith("the end") and "iri://session/" in text and len(text) < 1000


async def test_one_large_supplement_blocks_nothing_and_all_are_delivered_once_in_order(
    tmp_path: Path, mind: Mind
) -> None:
    texts = ["keep me", BIG, "keep me too"]
    async with live([{**LOOK, "delay": 0.5}, OK, OK], tmp_path, mind, **UNKNOWN_WINDOW) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        for text in texts:
            await tell(run, type="supplementary_input", text=text)
        await run.session.wait_idle()
        assert run.outcome == "done"
        said = run.texts()
        assert said[:2] + said[3:] == ["Describe this folder", "keep me", "keep me too"]
        assert attached(said[2])
        injected = [event.id for event in run.events(ev.SupplementInjected)]
        assert injected == ["supplement-1", "supplement-2", "supplement-3"]
        (notice,) = [event for event in run.events(ev.Notice) if "supplement-2" in event.text]
        assert "attachment" in notice.text
        entries = list(run.session.state.supplements.values())
        assert [entry.text for entry in entries] == texts
        assert [entry.attached for entry in entries] == [False, True, False]
        assert entries[1].iri is not None
        assert await run.session.full_text(entries[1].iri) == BIG
        await run.session.submit("Are you there?")
        await run.session.wait_idle()
        assert run.texts()[:-1] == said
        assert run.outcome == "done"


async def test_the_agent_pages_an_attachment_with_recall_and_reads_every_character(
    tmp_path: Path, mind: Mind
) -> None:
    big = f"{BIG[:3000]}{'数据很多。' * 600}{BIG[3000:9000]} the end"
    pages: list[str] = []

    def script(body: dict[str, Any], index: int) -> Mapping[str, Any]:
        messages = body["messages"]
        if messages[-1]["role"] == "tool":
            head, _, page = messages[-1]["content"].partition("\n")
            pages.append(page)
            number, count = map(int, re.findall(r"page (\d+) of (\d+)", head)[0])
            if number == count:
                return OK
        (iri,) = re.findall(r"iri://session/\S+/turn/\d+", messages[1]["content"])
        arguments = {"iri": iri, "page": len(pages) + 1}
        return {"calls": [{"name": "recall", "arguments": arguments}]}

    async with live(script, tmp_path, mind, **UNKNOWN_WINDOW) as run:
        await run.session.submit(big)
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert "".join(pages) == big
        assert run.session.state.task is not None
        assert run.session.state.task.what == big


@pytest.mark.parametrize(
    ("kind", "words"), [("user_input", {}), ("supplementary_input", {}), ("user_input", {"q": 1})]
)
async def test_a_program_says_how_a_large_text_goes(
    tmp_path: Path, mind: Mind, kind: str, words: dict[str, int]
) -> None:
    middling = "the log says: " + "all is well; " * 160 + "done"
    prefix = "/queue " if words else ""
    async with live([OK] * 6, tmp_path, mind, **UNKNOWN_WINDOW) as run:
        await tell(run, type="user_input", text="Hello")
        for command, whole in (({"attach": True}, False), ({}, True), ({"attach": False}, True)):
            await run.session.wait_idle()
            await tell(run, type=kind, text=prefix + middling, **command)
            await run.session.wait_idle()
            assert (run.texts()[-1].endswith(middling)) == whole
            assert ("iri://session/" in run.texts()[-1]) != whole
        assert not any("does not fit" in notice.text for notice in run.events(ev.Notice))
        # What does not fit is not sent whole, and not refused.
        await tell(run, type=kind, text=prefix + BIG)
        await run.session.wait_idle()
        assert attached(shown(run))
        assert "does not fit whole" in run.events(ev.Notice)[-1].text
        with pytest.raises(UsageError, match="attach"):
            await tell(run, type=kind, text="x", attach="yes")


@pytest.mark.parametrize("kind", ["user_input", "supplementary_input"])
@pytest.mark.parametrize("taken", [False, True])
async def test_a_resumed_session_sends_an_attachment_as_it_was_sent_before(
    tmp_path: Path, mind: Mind, kind: str, taken: bool
) -> None:
    replies = [{**LOOK, "delay": 0.0 if taken else 5.0}, OK, OK]
    async with live(replies, tmp_path, mind, **UNKNOWN_WINDOW) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await tell(run, type=kind, text=BIG)
        if taken:
            await run.session.wait_idle()
            assert attached(shown(run))
        recording = crash(run, tmp_path)
    async with live([OK] * 2, tmp_path, mind, resume=recording, **UNKNOWN_WINDOW) as again:
        await again.session.submit("Are you there?")
        await again.session.wait_idle()
        assert attached(shown(again))
        if taken:
            assert shown(again) == shown(run)
        iri = next(t.iri for t in again.session.state.turns.values() if t.text == BIG)
        assert again.session.state.turns[iri].attached
        changes = again.events(ev.TurnFidelityChanged)
        assert not any(change.attached for change in changes)  # it was one from the first
        assert again.session.state.turns[iri].fidelity == "full"


async def test_a_supplement_too_large_for_a_smaller_window_becomes_an_attachment_on_the_users_word(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([{**LOOK, "delay": 0.3}, OK], tmp_path, mind) as run:
        await run.session.submit("Describe this folder")
        await sent(run)
        await run.session.submit(BIG)
        await run.session.wait_idle()
        assert shown(run) == BIG
        recording = crash(run, tmp_path)
    async with live([OK] * 2, tmp_path, mind, resume=recording, **UNKNOWN_WINDOW) as again:
        await again.session.submit("Are you there?")
        await again.session.wait_idle()
        assert (again.outcome, again.requests()) == ("failed", [])
        assert not any(change.attached for change in again.events(ev.TurnFidelityChanged))
        (command,) = re.findall(r"/attach \d+", again.session.state.answer)
        await again.session.submit(command)
        with pytest.raises(UsageError, match="large and shown whole"):
            await again.session.submit(command)
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert again.outcome == "done"
        assert again.texts()[-1] == "Are you there?"
        assert attached(shown(again))
    async with live([OK] * 2, tmp_path, mind, resume=recording) as again:
        await again.session.submit("Are you there?")
        await again.session.wait_idle()
        assert "of this attachment left out" in shown(again)
        await again.session.submit(command.replace("/attach", "/recall"))
        await again.session.submit("Whole?")
        await again.session.wait_idle()
        assert shown(again) == BIG
    recorded = fold(r.envelope for r in read_records(recording) if r.envelope)
    assert not any(turn.attached for turn in recorded.turns.values())


async def test_the_newest_input_alone_cannot_block_a_server_that_has_less_than_it_says(
    tmp_path: Path, mind: Mind
) -> None:
    overflow = {
        "status": 400,
        "error": {"message": "too long", "code": "context_length_exceeded"},
    }
    async with live([OK, overflow, overflow, OK], tmp_path, mind) as run:
        await run.session.submit("Hello")
        await run.session.wait_idle()
        await run.session.submit(BIG)
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert shown(run, 1) == shown(run, 2) == BIG
        assert "attachment" in shown(run, 3)
        assert len(shown(run, 3)) < len(BIG) / 2


async def test_the_advice_of_a_full_session_makes_room(tmp_path: Path, mind: Mind) -> None:
    async with live(
        [OK] * 40, tmp_path, mind, settings=["context.budget=900"], **UNKNOWN_WINDOW
    ) as run:
        await run.session.submit("Hello")
        await run.session.wait_idle()
        while run.outcome == "done":
            await run.session.submit(f"Never touch folder {len(run.seen)}. {BIG[:2000]}")
            await run.session.wait_idle()
            assert len(run.requests()) < 39
        assert "/unpin" in run.session.state.answer
        instructions = [turn.iri for turn in run.session.state.turns.values() if turn.attached]
        for iri in instructions[:3]:
            await run.session.submit(f"/unpin {iri}")
        await run.session.submit("/resume")
        await run.session.submit("Go on")
        await run.session.wait_idle()
        assert run.outcome == "done"
        assert instructions[-1] in str(run.requests()[-1])
