"""A talk that has moved on: the task goes with it, and the watch with the task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gh_tui.events import types as ev
from gh_tui.runtime import Mind
from tests.harness import Live, live
from tests.runtime.test_resume import crash

ANSWERS: list[dict[str, Any]] = [{"text": "Done."}] * 9
CODE = (
    "Write a script that converts our Markdown docs to PDF",
    "Use pandoc if possible",
    "The table of contents should have page numbers",
    "Images come out too large",
)
DINNER = (
    "What should I cook for dinner tonight? I have chicken and rice",
    "Can I use yoghurt in the sauce?",
    "How long does it stay in the oven?",
    "Which side dish goes with it?",
)


async def say(run: Live, *texts: str) -> None:
    for text in texts:
        await run.session.submit(text)
        await run.session.wait_idle()


def shifts(run: Live) -> list[str]:
    return [shift.boundary for shift in run.events(ev.TopicShiftDetected)]


async def test_without_a_new_task_the_drift_is_found(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, *CODE, *DINNER)
        assert shifts(run) == [run.turn(9).iri]


async def test_inputs_on_the_new_task_are_no_shift(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, *CODE, *DINNER[:2], "/rebase 9", *DINNER[2:])
        assert shifts(run) == []


async def test_after_a_resume_the_new_task_is_still_the_topic(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, *CODE, *DINNER[:2], "/rebase 9")
        recording = crash(run, tmp_path)
    async with live(ANSWERS, tmp_path, mind, resume=recording) as again:
        await say(again, *DINNER[2:])
        assert shifts(again) == []


async def test_what_leaves_the_new_task_is_found(tmp_path: Path, mind: Mind) -> None:
    async with live(ANSWERS, tmp_path, mind) as run:
        await say(run, DINNER[0], "Set up our CI for the mobile app", "/rebase 3", *DINNER[1:])
        assert shifts(run) == [run.turn(5).iri]
