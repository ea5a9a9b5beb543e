"""The line under a replay: where it is, how fast, and its keys."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from gh_tui.text import counted, one_line
from gh_tui.tui.cells import fit
from gh_tui.tui.ink import DIM
from gh_tui.tui.ports import Recording

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
"""Multiples of the recorded pace."""


TRY = "try it in the timeline (F3): p pin · r recall · u undo"


class ReplayControls(Static):
    """Progress of a recording as words, numbers and a bar."""

    def __init__(self, player: Recording) -> None:
        super().__init__(id="replay")
        self._player = player
        self._said = ""

    def on_mount(self) -> None:
        """First drawing."""
        self.redraw()

    def on_resize(self) -> None:
        """The bar takes what is left."""
        self.redraw()

    def say(self, text: str) -> None:
        """Show an answer on the second line."""
        self._said = one_line(text)
        self.redraw()

    def redraw(self) -> None:
        """Draw the present position."""
        player = self._player
        at_end = player.position >= player.total
        word = "ended" if at_end else "playing" if player.playing else "paused"
        place = f"{player.position:,}/{player.total:,}"
        bad = f" · {counted(player.bad_lines, 'bad line')} skipped" if player.bad_lines else ""
        left = f"{word:<8} {player.speed:g}× "
        room = max(4, self.size.width - len(left) - len(place) - len(bad) - 6)
        filled = room * player.position // player.total if player.total else room
        title = self._said or one_line(player.title)
        spare = self.content_size.width - cell_len(TRY) - 2
        if not self._said and spare > 8:
            title = f"{fit(title, spare)}  {TRY}"
        self.update(
            Content.assemble(
                (left, "$accent bold"),
                ("━" * filled, "$accent"),
                ("─" * (room - filled), DIM),
                f" {place}",
                (bad, "$warning"),
                "\n",
                (title, DIM),
            ),
            layout=False,
        )
