"""Draw the README's picture: a moment of a recorded session, in the app as a person had it.

python -m tests.samples.picture RECORDING RECORDS TARGET.svg
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path

from gh_tui.session.player import Player
from gh_tui.tui.app import GlidingHorseApp
from tests.tui.harness import ScriptedSession
from tests.tui.looking import live

SIZE = (148, 42)
DRAFT = "and show how to upgrade it"
"""What stands in the box."""


class Moment(ScriptedSession):
    """A live session that says again what a recorded one had said."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self.bus = player.bus
        self.busy = True

    async def start(self, progress: Callable[[str], None] | None = None) -> None:
        """Nothing has to be started."""


async def draw(recording: Path, records: int, target: Path) -> None:
    """Play the first `records` records into the live screen and save what it shows."""
    player = Player(recording)
    session = Moment(player)

    async def open_session() -> Moment:
        return session

    app = GlidingHorseApp(open_session)
    async with app.run_test(size=SIZE) as pilot:
        while live(app).bridge is None:
            await pilot.pause(0.05)
        while not player.finished and player.position < records:
            await player.step()
            await asyncio.sleep(0)
        live(app).composer.box.put(DRAFT)
        await pilot.pause(2.0)
        # Fonts of the reader's own: a picture fetches nothing.
        picture = re.sub(r"@font-face\s*{[^}]*}\s*", "", app.export_screenshot(title="gh-tui"))
        await asyncio.to_thread(target.write_text, picture, "utf-8")


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
