"""What a person sees of a running app, and ways to wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from gh_tui.tui.app import GlidingHorseApp
from gh_tui.tui.screens.live import LiveScreen

SIZES = [(80, 24), (200, 50)]
PATIENCE = 20.0


def screen_text(app: GlidingHorseApp) -> str:
    """The characters on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()  # the only way to read what is drawn
    return "\n".join(strip.text for strip in lines[:height] if strip.cell_length <= width)


def live(app: GlidingHorseApp) -> LiveScreen:
    """The live screen, whatever is on top of it."""
    found = next(screen for screen in app.screen_stack if isinstance(screen, LiveScreen))
    assert isinstance(found, LiveScreen)
    return found


async def until(pilot: Pilot[int], holds: Callable[[], object]) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: if it never does.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not holds():
        assert loop.time() < end, f"never came true; the screen:\n{screen_text(pilot.app)}"  # type: ignore[arg-type]
        await pilot.pause(0.02)


@asynccontextmanager
async def running(
    app: GlidingHorseApp, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[int]]:
    """Run an app headless; begins when the session is on the screen."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: live(app).bridge is not None)
        yield pilot


async def enter(pilot: Pilot[int], text: str = "") -> None:
    """Type a text and press Enter as a person does."""
    for char in text:
        await pilot.press({" ": "space", "/": "slash"}.get(char, char))
    await pilot.press("enter")
    await pilot.pause(0.06)
