"""Chaos in small: a few runs of each kind, and an oracle that finds what it is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gh_tui.chaos.campaign import Result, Totals, run_here
from gh_tui.chaos.kill import run_killed
from gh_tui.chaos.oracle import Promises, Sent, examine, judge
from gh_tui.chaos.plan import LEAST, make_plan
from gh_tui.context.prompts import STANDING_HEADER
from gh_tui.events import types as ev
from gh_tui.runtime import Mind


async def test_faulted_sessions_keep_every_promise(mind: Mind) -> None:
    totals = Totals()

    def tell(result: Result) -> None:
        totals.add(*result)

    await run_here(range(30), mind, tell)
    assert totals.failures == []
    assert totals.clean
    assert totals.runs == 30
    assert totals.supplements >= 30 * LEAST * 0.8  # a crash may come before they are accepted
    assert totals.delivered > 0.7 * totals.supplements


@pytest.mark.parametrize("seed", range(2))
async def test_killed_processes_keep_every_promise(seed: int) -> None:
    verdict = await run_killed(seed)
    assert verdict.faults == []
    assert verdict.lost == 0
    assert verdict.supplements >= 1


def test_the_last_line_is_the_total_and_a_seed_repeats_a_run() -> None:
    command = [sys.executable, "-m", "gh_tui.cli", "chaos", "--runs", "1", "--seed", "7", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    run, total = (json.loads(line) for line in done.stdout.splitlines())
    assert run["seed"] == 7
    names = ["supplements", "delivered", "returned", "pending", "duplicated", "lost"]
    assert list(total) == ["runs", *names, "out_of_order", "failures"]
    assert {name: run[name] for name in names} == {name: total[name] for name in names}
    assert total["lost"] == 0
    assert total["failures"] == []


def test_plans_differ_by_seed_and_repeat_by_seed() -> None:
    assert make_plan(3) == make_plan(3)
    assert make_plan(3) != make_plan(4)
    for seed in range(200):
        spoken = [action for action in make_plan(seed).actions if action.kind == "supplement"]
        assert len(spoken) >= LEAST
    kinds = {action.kind for seed in range(200) for action in make_plan(seed, kill=True).actions}
    assert "crash" in kinds


# The oracle itself: it is shown a fault and has to find it.


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def turn(number: int, role: str, **fields: Any) -> dict[str, Any]:
    return {"iri": f"i{number}", "role": role, "text": "", "summary": "", "tokens": 1, **fields}


def promised(*texts: str, returned: int | None = None, taken: bool = False) -> Promises:
    promises = Promises()
    promises.take(ev.UserInputReceived(iri="task", text="the task"))
    for number, text in enumerate(texts):
        promises.take(ev.SupplementaryInputReceived(id=str(number), text=text))
    if returned is not None:
        if taken:
            added = turn(9, "user", supplement=str(returned))
            promises.take(ev.TurnAdded(**added))
        promises.take(ev.SupplementReturned(id=str(returned), text="", reason="escape"))
    return promises


def sent(*texts: str, ok: bool = True) -> Sent:
    return Sent([user("the task"), *map(user, texts)], ok)


def counts(
    log: list[Sent], promises: Promises, pending: Mapping[str, str] | None = None
) -> dict[str, int]:
    verdict = judge(log, promises, pending or {})
    names = ("delivered", "returned", "pending", "duplicated", "lost", "out_of_order")
    found = {name: getattr(verdict, name) for name in names}
    assert bool(verdict.faults) == bool(
        found["duplicated"] or found["lost"] or found["out_of_order"]
    )
    return {name: number for name, number in found.items() if number}


def test_the_oracle_counts_what_was_delivered_returned_and_waits() -> None:
    assert counts([sent("a"), sent("a", "b")], promised("a", "b")) == {"delivered": 2}
    assert counts([sent("a")], promised("a", "b", returned=1)) == {"delivered": 1, "returned": 1}
    assert counts([sent("a")], promised("a", "b"), {"1": "b"}) == {"delivered": 1, "pending": 1}
    assert counts([sent("a", "a")], promised("a", "a")) == {"delivered": 2}


def test_the_oracle_lets_what_was_taken_go_once_it_was_given_back() -> None:
    back = promised("a", "b", returned=0, taken=True)
    done = {"delivered": 1, "returned": 1}
    assert counts([sent("a", ok=False), sent("b")], back) == done
    assert counts([sent("a"), sent("b")], back) == done, "broken off: nobody saw the headers"


def test_the_oracle_knows_an_attachment_by_its_head_and_tail() -> None:
    text = "one two three four five"
    gap = "\n[... 13 characters of this attachment left out; recall reads it: iri ...]\n"
    assert counts([sent(f"one t{gap} five")], promised(text)) == {"delivered": 1}
    behind = f"{STANDING_HEADER}\n- a\n\none t{gap} five"
    assert counts([sent("a", behind)], promised("a", text)) == {"delivered": 2}
    assert counts([sent(f"one x{gap} five")], promised(text)) == {"lost": 1}


def test_the_oracle_reads_through_a_standing_block() -> None:
    block = f"{STANDING_HEADER}\n- a\n\nb"
    assert counts([sent("a", "c", block)], promised("a", "b", "c")) == {
        "delivered": 3,
        "out_of_order": 1,
    }
    trailing = f"{STANDING_HEADER}\n- a"
    assert counts([sent("a", trailing)], promised("a")) == {"delivered": 1}
    assert counts([sent(f"{STANDING_HEADER}\n- a")], promised("a")) == {"lost": 1}


def test_the_oracle_finds_what_is_lost_doubled_or_turned_around() -> None:
    assert counts([sent("a")], promised("a", "b")) == {"delivered": 1, "lost": 1}
    assert counts([sent("a", ok=False)], promised("a")) == {"lost": 1}
    assert counts([sent("a ")], promised("a")) == {"lost": 1}
    assert counts([sent("a", "a")], promised("a")) == {"delivered": 1, "duplicated": 1}
    assert counts([sent("b", "a")], promised("a", "b")) == {"delivered": 2, "out_of_order": 1}


@pytest.mark.parametrize(
    ("log", "promises", "words"),
    [
        ([sent("a"), sent()], promised("a"), "lacks 'a'"),
        ([sent("a")], promised("a", returned=0), "given back and sent"),
        (
            [sent("a", ok=False), sent(), sent("a", ok=False)],
            promised("a", returned=0, taken=True),
            "again, which had gone",
        ),
        ([Sent([user("a")], True)], promised("a"), "'the task' was never delivered"),
        (
            [Sent([user("the task"), {"role": "tool", "tool_call_id": "x", "content": ""}], True)],
            promised(),
            "no preceding tool call",
        ),
    ],
)
def test_the_oracle_finds_other_faults(log: list[Sent], promises: Promises, words: str) -> None:
    assert words in "; ".join(judge(log, promises, {}).faults)


def line(number: int, event: str, **fields: Any) -> str:
    start = {"v": 1, "seq": number, "time": "2026-01-01T00:00:00Z", "session": "s"}
    return json.dumps({**start, "type": event, **fields}) + "\n"


def request(iri: str) -> dict[str, Any]:
    entry = {"iri": iri, "part": "turn", "role": "user", "fidelity": "full", "tokens": 1}
    numbers = {"request": 1, "cycle": 1, "tokens": 1, "budget": 9}
    return {**numbers, "purpose": "agent", "manifest": [entry], "tokens_basis": "estimated"}


CALL: dict[str, Any] = {"id": "c", "name": "n", "arguments": {}, "error": None}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["{torn\n", "{torn\n", line(1, "CycleStarted", cycle=1)], "2 unreadable lines"),
        ([line(2, "CycleStarted", cycle=1)], "not numbered"),
        (
            [
                line(n, "TurnAdded", **turn(n, "user", is_supplement=True, supplement="x"))
                for n in (1, 2)
            ],
            "turn of x: recorded 2 times",
        ),
        ([line(1, "TurnAdded", **turn(1, "assistant", calls=[CALL]))], "without a result"),
        ([line(1, "TurnAdded", **turn(1, "tool", call_id="c"))], "result of no open call"),
        (
            [
                line(1, "TurnAdded", **turn(1, "assistant", calls=[CALL])),
                line(2, "TurnAdded", **turn(2, "user")),
            ],
            "before the results of c",
        ),
        (
            [
                line(1, "SupplementReturned", id="x", text="", reason="withdrawn"),
                line(2, "TurnAdded", **turn(2, "user", supplement="x")),
            ],
            "x was given back and became a turn",
        ),
        (
            [
                line(1, "TurnAdded", **turn(1, "user", supplement="x")),
                line(2, "SupplementInjected", id="x", iri="i1", cycle=1, request=1),
                line(3, "SupplementReturned", id="x", text="", reason="withdrawn"),
            ],
            "x was given back after it had been delivered",
        ),
        (
            [
                line(1, "TurnAdded", **turn(1, "user", supplement="x")),
                line(2, "SupplementReturned", id="x", text="", reason="withdrawn"),
                line(3, "RequestSent", **request("i1")),
            ],
            "request 1 has i1, which was given back",
        ),
    ],
)
def test_the_examiner_finds_faults_of_a_recording(
    tmp_path: Path, lines: list[str], words: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(lines))
    assert words in "; ".join(examine(path, 1, finished=True)[1])
