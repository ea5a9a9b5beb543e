"""Draw the README's picture: a sample at its end, in the app as it is.

python -m tests.samples.picture RECORDING TARGET.svg [RECORDS]
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from gh_tui.session.player import Player
from gh_tui.tui.app import GlidingHorseApp

SIZE = (148, 42)


async def draw(recording: Path, target: Path, records: int | None) -> None:
    """Play the first `records` records (all by default) and save what the screen shows."""
    player = Player(recording)
    player.pause()
    app = GlidingHorseApp(player=player)
    async with app.run_test(size=SIZE) as pilot:
        while not player.finished and (records is None or player.position < records):
            await player.step()
            await asyncio.sleep(0)
        await pilot.pause(2.0)
        # Fonts of the reader's own: a picture fetches nothing.
        picture = re.sub(r"@font-face\s*{[^}]*}\s*", "", app.export_screenshot(title="gh-tui"))
        await asyncio.to_thread(target.write_text, picture, "utf-8")


if __name__ == "__main__":
    count = int(sys.argv[3]) if len(sys.argv) > 3 else None
    asyncio.run(draw(Path(sys.argv[1]), Path(sys.argv[2]), count))
