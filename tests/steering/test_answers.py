"""What the user says of two instructions holds from the next request on, however early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.chaos.oracle import examine
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.harness import Live, live
from tests.runtime.test_resume import crash
from tests.steering.promise import LOOK, OK, sent

TASK = "Plan the orders service"
OLD = "Always use port 8080 for the service"
NEW = "Always use port 9090 for the service"
SLOW = {**LOOK, "delay": 0.5}
BAD: dict[str, Any] = {"status": 400}
NAME = "supplement-1"
FAR = ["standing.max=3"]
"""As for a small model: every instruction is said again."""


async def ask(run: Live) -> None:
    """Say an instruction that is close to an older one, while the agent works."""
    await run.session.submit(TASK)
    await run.session.wait_idle()
    await run.session.submit(OLD)
    await run.session.wait_idle()
    await run.session.submit("Begin with the first part")
    await sent(run, 3)
    await run.session.supplement(NEW)
    asked = await run.until(lambda e: isinstance(e, ev.InputClassified) and e.id == NAME)
    assert run.session.state.turns[asked.related].text == OLD
    assert run.session.state.supplements[NAME].status == "pending"


@pytest.mark.parametrize("answer", ["replaces", "adds", "unrelated"])
async def test_an_answer_about_a_pending_entry_holds_in_the_request_that_carries_it(
    tmp_path: Path, mind: Mind, answer: str
) -> None:
    async with live([OK, OK, SLOW, OK], tmp_path, mind) as run:
        await ask(run)
        await run.session.submit(f"/{answer} {NAME}")
        entry = run.session.state.supplements[NAME]
        assert (entry.status, entry.related, entry.answer) == ("pending", None, answer)
        await run.session.wait_idle()
        texts = run.texts()
        assert NEW in texts
        assert any(OLD in text for text in texts) == (answer != "replaces")
        turn = run.session.state.turns[entry.iri or ""]
        older = next(t for t in run.session.state.turns.values() if t.text == OLD)
        assert (turn.answer, turn.standing) == (answer, True)
        assert turn.older == older.iri
        assert older.fidelity == ("archived" if answer == "replaces" else "full")
        with pytest.raises(UsageError, match=r"asked|answered"):
            await run.session.submit(f"/{answer} {NAME}")


async def test_while_it_is_pending_the_answer_can_be_changed(tmp_path: Path, mind: Mind) -> None:
    async with live([OK, OK, SLOW, OK], tmp_path, mind) as run:
        await ask(run)
        await run.session.submit(f"/replaces {NAME}")
        await run.session.submit(f"/adds {NAME}")
        await run.session.wait_idle()
        assert any(OLD in text for text in run.texts())
        assert NEW in run.texts()


async def test_the_answer_outlives_a_crash(tmp_path: Path, mind: Mind) -> None:
    async with live([OK, OK, SLOW], tmp_path, mind) as run:
        await ask(run)
        await run.session.submit(f"/replaces {NAME}")
        recording = crash(run, tmp_path)
    async with live([OK], tmp_path, mind, resume=recording) as again:
        assert again.session.state.supplements[NAME].status == "pending"
        await again.session.submit("/resume")
        await again.session.wait_idle()
        assert NEW in again.texts()
        assert "8080" not in str(again.requests()[-1])
    async with live([OK], tmp_path, mind, resume=recording) as third:
        await third.session.submit("Go on")
        await third.session.wait_idle()
        assert "8080" not in str(third.requests()[-1])


async def test_withdrawn_it_gives_back_what_it_had_replaced(tmp_path: Path, mind: Mind) -> None:
    async with live([OK, OK, SLOW, BAD, OK, OK], tmp_path, mind) as run:
        await ask(run)
        await run.session.submit(f"/replaces {NAME}")
        await run.session.wait_idle()
        assert run.outcome == "failed"
        assert OLD not in run.texts()
        await run.session.withdraw(NAME)
        await run.session.submit("Try again")
        await run.session.wait_idle()
        assert OLD in run.texts()
        assert "9090" not in str(run.requests()[-1])
        older = next(t for t in run.session.state.turns.values() if t.text == OLD)
        assert (older.fidelity, older.standing) == ("full", True)


async def test_a_replaced_and_never_carried_instruction_does_not_wait_for_ever(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([OK, {**LOOK, "delay": 0.5}, BAD, BAD, OK], tmp_path, mind) as run:
        await run.session.submit(TASK)
        await run.session.wait_idle()
        await run.session.submit("Begin with the first part")
        await sent(run, 2)
        await run.session.supplement(OLD)
        await run.session.wait_idle()
        assert [e.status for e in run.session.state.pending] == ["taken"]
        await run.session.supplement(NEW)
        await run.session.wait_idle()
        await run.session.submit("/replaces supplement-2")
        await run.session.submit("/resume")
        await run.session.wait_idle()
        assert run.outcome == "done"
        first, second = run.session.state.supplements.values()
        assert (first.status, first.returned) == ("returned", "replaced")
        assert second.status == "injected"
        assert NEW in run.texts()
        assert "8080" not in str(run.requests()[-1])
        assert run.session.recording is not None
        assert examine(run.session.recording, 0, finished=False)[1] == []


async def test_what_was_replaced_stays_so_after_a_pin_a_recall_and_a_restart(
    tmp_path: Path, mind: Mind
) -> None:
    async with live([OK] * 9, tmp_path, mind) as run:
        for text in (TASK, OLD, "/pin 3", NEW, "/replaces 5", "/recall 3"):
            await run.session.submit(text)
            await run.session.wait_idle()
        with pytest.raises(UsageError, match="replaces turn 3"):
            await run.session.submit("/pin 3")
        recording = crash(run, tmp_path)
    async with live([OK], tmp_path, mind, resume=recording, settings=FAR) as again:
        await again.session.submit("Which port does the service use?")
        await again.session.wait_idle()
        assert f"- {NEW}" in again.texts()[-1]
        assert f"- {OLD}" not in again.texts()[-1]
        assert OLD in again.texts()
