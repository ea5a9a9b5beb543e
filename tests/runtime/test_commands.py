"""What slash commands do to a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gh_tui.agent.command_list import COMMANDS
from gh_tui.errors import UsageError
from gh_tui.events import types as ev
from gh_tui.events.state import fold
from gh_tui.runtime import Mind
from tests.harness import Live, live

ANSWERS = [{"text": f"Answer {number}."} for number in range(12)]


async def say(run: Live, *texts: str) -> None:
    for text in texts:
        await run.session.submit(text)
        await run.session.wait_idle()


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("/frobnicate", "not a command"),
        ("/pin", "/pin IRI"),
        ("/recall 99", "no turn 99"),
        ("/undo", "no pass"),
        ("/withdraw supplement-7", "not waiting"),
        ("/class 1 Nonsense", "AddContext"),
        ("/unpin 1", "task"),
        ("/replaces 1", "nothing was asked"),
        ("/rebase", "name the input"),
    ],
)
async def test_what_cannot_be_done_says_why(
    command: str, hint: str, tmp_path: Path, mind: Mind
) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan the migration of the orders database")
        before = run.session.state.seq
        with pytest.raises(UsageError, match=hint):
            await run.session.submit(command)
        assert run.session.state.seq == before


async def test_every_command_on_the_list_is_known(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        for command in COMMANDS:
            if command.name == "/exit":  # whoever shows the session carries it out
                continue
            try:
                await run.session.submit(command.name)
            except UsageError as error:
                assert "is not a command" not in str(error)
                assert not command.needs_arguments or str(error) == f"write it as {command.usage}"


async def test_a_double_slash_sends_a_text_that_begins_with_one(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "//etc/hosts is what?")
        assert run.texts() == ["/etc/hosts is what?"]


async def test_replaced_instructions_leave_the_request(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan the orders service", "Always use port 8080 for the service")
        await say(run, "Always use port 9090 for the service")
        assert run.turn(5).related == run.turn(3).iri
        await run.session.submit(f"/replaces {run.turn(5).iri}")
        assert run.turn(5).related is None
        await say(run, "Which port does the service use?")
        assert "8080" not in str(run.requests()[-1])
        assert "Always use port 9090 for the service" in run.texts()


async def test_an_instruction_that_became_the_task_is_not_replaced_away(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan the orders service", "Always use port 8080 for the service")
        await say(run, "Always use port 9090 for the service", "/rebase 3")
        assert run.turn(5).related == run.turn(3).iri
        with pytest.raises(UsageError, match="the task now"):
            await run.session.submit("/replaces 5")
        await say(run, "/unpin 5", "Always use port 7070 for the service", "Which port is used?")
        assert run.turn(7).standing
        assert run.turn(7).related is None
        assert run.texts()[0] == "Always use port 8080 for the service"
        assert run.turn(3).fidelity == "full"


async def test_the_task_can_be_refined_and_stays_where_it_was(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan a library service")
        await run.session.submit("/task Plan a library service for three branches")
        await say(run, "Go on with the plan")
        assert run.session.state.task is not None
        assert run.session.state.task.what.endswith("three branches")
        first, last = run.texts()[0], run.texts()[-1]
        assert first == "Plan a library service"
        assert "three branches" in last
        assert last.endswith("Go on with the plan")


async def test_rebase_makes_a_later_input_the_task(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan a library service", "Bake a sourdough bread at home")
        await run.session.submit("/rebase 3")
        await say(run, "How long does the dough rest?")
        scores = [turn.relevance_score or 0.0 for turn in run.session.state.turns.values()]
        assert scores[4] > 0.4
        assert run.texts()[0] == "Bake a sourdough bread at home"


LONG: list[dict[str, Any]] = [{"text": f"Step {n} of the orders plan. " * 30} for n in range(30)]
BUSY = [f"Describe step {number} of the orders plan" for number in range(9)]
TRIP = "Which road is the best one from Surabaya to Malang for four people on bicycles?"


async def test_an_archived_input_that_becomes_the_task_is_in_every_request(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(LONG, tmp_path, mind, settings=["context.budget=1000"]) as run:
        await say(run, "Plan the migration of the orders", TRIP, *BUSY)
        assert run.turn(3).fidelity == "archived"
        await say(run, "/rebase 3", "What comes next?")
        assert run.texts()[0] == TRIP
        assert run.turn(3).fidelity == "full"
        assert fold(run.seen).turns[run.turn(3).iri].fidelity == "full"


async def test_an_archived_input_that_becomes_an_instruction_is_in_every_request(
    tmp_path: Path, mind: Mind
) -> None:
    async with live(LONG, tmp_path, mind, settings=["context.budget=1000"]) as run:
        await say(run, "Plan the migration of the orders", TRIP, *BUSY)
        assert run.turn(3).fidelity == "archived"
        await say(run, "/class 3 ProvideConstraint", "What comes next?")
        assert TRIP in run.texts()
        assert (run.turn(3).fidelity, run.turn(3).standing) == ("full", True)


async def test_the_class_of_an_input_can_be_changed(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan a library service", "What is the capital of France?")
        assert not run.turn(3).standing
        await run.session.submit("/class 3 ProvideConstraint")
        assert (run.turn(3).standing, run.turn(3).class_) == (True, "ProvideConstraint")


@pytest.mark.parametrize(
    "said", [["/pin 3", "/unpin 3"], ["/class 3 GuideDirection", "/unpin 3"], ["/pin 3"]]
)
async def test_an_input_that_was_unpinned_can_become_an_instruction(
    said: list[str], tmp_path: Path, mind: Mind
) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, "Plan a library service", "What is the capital of France?", *said)
        await say(run, "/class 3 ProvideConstraint")
        assert (run.turn(3).standing, run.turn(3).demoted) == (True, False)
        assert run.session.recording is not None
        recording = run.session.recording
        await say(run, "/unpin 3", "/class 3 AddContext")
        assert run.turn(3).demoted, "an ordinary class protects nothing"
        await say(run, "/class 3 ProvideConstraint", "/preview")
        assert "no pass may take: #1, #3" in run.events(ev.Notice)[-1].text
    async with live(ANSWERS, tmp_path, mind, resume=recording) as again:
        await say(again, "/preview")
        assert "no pass may take: #1, #3" in again.events(ev.Notice)[-1].text


async def test_recall_is_seen_by_the_next_request(tmp_path: Path, mind: Mind) -> None:
    long: list[dict[str, Any]] = [{"text": f"Step {n} of the plan. " * 40} for n in range(9)]
    async with live(long, tmp_path, mind, settings=["context.budget=1000"]) as run:
        for number in range(7):
            await say(run, f"Describe step {number} of the orders plan")
        gone = next(t for t in run.session.state.turns.values() if t.fidelity == "archived")
        await run.session.submit(f"/recall {gone.iri}")
        await say(run, "And now the summary of the plan")
        sent = run.events(ev.RequestSent)[-1]
        entry = next(e for e in sent.manifest if e.iri == gone.iri)
        assert entry.fidelity == "full"
        assert gone.text in str(run.requests()[-1])


async def test_undo_brings_back_what_the_last_pass_took(tmp_path: Path, mind: Mind) -> None:
    long: list[dict[str, Any]] = [{"text": f"Step {n} of the plan. " * 40} for n in range(9)]
    async with live(long, tmp_path, mind, settings=["context.budget=1000"]) as run:
        for number in range(5):
            await say(run, f"Describe step {number} of the orders plan")
        taken = run.session.state.passes[max(run.session.state.passes)].changes
        assert taken
        await run.session.submit("/undo")
        assert {run.session.state.turns[c.iri].fidelity for c in taken} == {"full"}
