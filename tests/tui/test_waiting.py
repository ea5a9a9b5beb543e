"""Inputs that wait can be seen and taken back in every state; a pause is told and ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from gh_tui.events import types as ev
from gh_tui.providers.scripted import Reply, ScriptedServer
from gh_tui.providers.scripted.fields import Ending
from gh_tui.runtime import Mind, Session
from gh_tui.settings.load import load_settings
from gh_tui.settings.paths import Paths
from gh_tui.tui.app import GlidingHorseApp
from tests.tui.harness import ScriptedSession, app_with
from tests.tui.looking import SIZES, live, running, screen_text, until


@dataclass
class Working:
    """A real session in the app; the server answers the first request when `gate` is set."""

    app: GlidingHorseApp
    pilot: Pilot[int]
    session: Session
    gate: asyncio.Event

    async def say(self, text: str, key: str = "enter") -> None:
        """Put a text into the box, send it with a key, and wait until it is accepted."""
        box = live(self.app).composer.box
        box.put(text)
        await self.pilot.press(key)
        await self.until(lambda: box.text == "")

    async def shows(self, *words: str) -> None:
        """Wait until all of this is on the screen."""
        await self.until(lambda: all(word in screen_text(self.app) for word in words))

    async def until(self, holds: Any) -> None:
        await until(self.pilot, holds)

    async def fail(self) -> None:
        """Let the first request break, and wait for the end of the task."""
        self.gate.set()
        await self.until(lambda: self.session.state.outcome == "failed" and not self.session.busy)

    def above_the_box(self) -> str:
        return screen_text(self.app).split("╭")[0]


@asynccontextmanager
async def working(
    home: Path,
    mind: Mind,
    *,
    ending: Ending = "done",
    resume: Path | None = None,
    begin: bool = True,
) -> AsyncIterator[Working]:
    """An app whose agent works on `look around` and waits for its first answer."""
    gate = asyncio.Event()

    async def script(body: dict[str, Any], number: int) -> Reply:
        if number > 0 or not begin:
            return Reply(text=f"Answer {number} is here.")
        await gate.wait()
        return Reply(text="The first of them", ending=ending)

    (home / "work").mkdir(exist_ok=True)
    async with ScriptedServer(script) as server:
        flags = [
            "provider.name=openai",
            f"provider.base_url={server.base_url}",
            "provider.model=scripted",
            "provider.retries=0",
        ]
        session = Session(
            load_settings(None, {}, flags),
            Paths(home, home),
            home / "work",
            interactive=True,
            environ={},
            mind=mind,
            resume=resume,
        )

        async def open_session() -> Session:
            return session

        app = GlidingHorseApp(open_session)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, lambda: session.state.started and live(app).bridge)
            made = Working(app, pilot, session, gate)
            if begin:
                await made.say("look around")
                await until(pilot, lambda: session.state.replying is not None)
            try:
                yield made
            finally:
                gate.set()
                await session.close()


async def test_after_a_failure_a_queued_input_is_seen_and_taken_back(
    tmp_path: Path, mind: Mind
) -> None:
    async with working(tmp_path, mind, ending="cut") as run:
        box = live(run.app).composer.box
        await run.say("delete it", "alt+q")
        await run.shows("after this task      delete it", "1 queued")
        await run.fail()
        await run.shows("waits for you        delete it", "1 queued")
        await run.shows("it runs after 1 input that waits; Esc takes that back")
        await run.pilot.press("h", "i", "escape")
        await run.until(lambda: box.text == "delete it\nhi")
        await run.until(lambda: "queued" not in run.above_the_box())
        await run.say("and now")
        await run.until(lambda: run.session.state.outcome == "done" and not run.session.busy)
        assert "delete it" not in [turn.text for turn in run.session.state.turns.values()]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("key", ["w", "e"])
async def test_a_queued_input_is_withdrawn_or_edited_from_its_receipt(
    tmp_path: Path, mind: Mind, key: str, fails: bool
) -> None:
    async with working(tmp_path, mind, ending="cut") as run:
        await run.say("one", "alt+q")
        await run.say("two", "alt+q")
        await run.shows("2 queued")
        if fails:
            await run.fail()
        await run.pilot.press("f5", "up", key)
        await run.until(lambda: list(run.session.state.queued.values()) == ["two"])
        await run.shows("1 queued")
        edited = "one" if key == "e" else ""
        await run.until(lambda: live(run.app).composer.box.text == edited)


async def test_what_waits_goes_on_by_key(tmp_path: Path, mind: Mind) -> None:
    async with working(tmp_path, mind, ending="cut") as run:
        await run.say("count them", "alt+q")
        await run.fail()
        await run.shows("F8 goes on with what waits")
        await run.pilot.press("f8")
        await run.shows("Answer 1 is here.")
        assert "queued" not in run.above_the_box()


async def test_after_a_restart_all_that_waits_is_seen(tmp_path: Path, mind: Mind) -> None:
    async with working(tmp_path, mind) as run:
        await run.say("count them", "alt+q")
        await run.say("names only")
        await run.session.close()
        recording = run.session.recording
    async with working(tmp_path, mind, resume=recording, begin=False) as run:
        await run.shows("waits for you        count them", "names only")
        await run.shows("1 pending", "1 queued")
        await run.shows("it runs after 2 inputs that wait; Esc takes them back")
        await run.pilot.press("escape")
        box = live(run.app).composer.box
        await run.until(lambda: box.text == "names only\ncount them")


@pytest.mark.parametrize("size", SIZES)
async def test_an_input_that_begins_at_once_is_not_called_queued(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.say("task")
        await session.finish()
        await session.bus.publish(ev.UserInputReceived(iri=session.iri(), text="next"))
        await until(pilot, lambda: live(app).state.queued)
        await pilot.pause(0.1)
        assert "queued" not in screen_text(app)


async def test_a_pause_while_it_works_is_told_and_ended_by_key(tmp_path: Path, mind: Mind) -> None:
    async with working(tmp_path, mind) as run:
        await run.shows("F8 pause")
        await run.pilot.press("f8")
        await run.shows("pausing after this step", "the agent reads it when you resume (F8)")
        await run.shows("Alt+N resumes and sends")
        await run.say("names only")
        run.gate.set()
        await run.shows("⏸ paused", "F8 resume")
        assert run.session.state.pending
        await run.pilot.press("f8")
        await run.shows("Answer 1 is here.")
        assert not run.session.state.paused


async def test_at_once_ends_a_pause_and_delivers(tmp_path: Path, mind: Mind) -> None:
    async with working(tmp_path, mind) as run:
        await run.pilot.press("f8")
        await run.shows("pausing after this step")
        await run.say("names only", "alt+n")
        await run.shows("Answer 1 is here.")
        assert not run.session.state.paused


@pytest.mark.parametrize("key", ["f8", "alt+n"])
async def test_a_pause_while_idle_is_told_and_ended_by_key(
    tmp_path: Path, mind: Mind, key: str
) -> None:
    async with working(tmp_path, mind) as run:
        run.gate.set()
        await run.until(lambda: run.session.state.outcome == "done" and not run.session.busy)
        await run.say("/pause")
        await run.shows("Enter: send — it waits until you resume (F8)")
        await run.say("more", "enter" if key == "f8" else key)
        if key == "f8":
            await run.shows("⏸ paused", "the agent reads it when you resume (F8)")
            await run.pilot.press("f8")
        await run.shows("Answer 1 is here.")
