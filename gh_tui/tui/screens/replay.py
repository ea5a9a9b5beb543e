"""The same screen for a recording that plays itself."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from gh_tui.events.state import SessionState
from gh_tui.text import counted
from gh_tui.tui.ports import Recording
from gh_tui.tui.screens.session import SessionScreen
from gh_tui.tui.widgets.replay_controls import SPEEDS, ReplayControls
from gh_tui.tui.widgets.status_words import ReplayInfo


class ReplayScreen(SessionScreen):
    """A recording: no box and no approvals, but pin, recall and undo can be tried."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "pause/play", key_display="Space"),
        Binding("right,full_stop", "step", "step", key_display="→"),
        Binding("plus,equals_sign", "speed(1)", "speed", key_display="+ -"),
        Binding("minus", "speed(-1)", "slower", show=False),
        Binding("q,escape", "leave", "leave", key_display="q"),
    ]

    def __init__(self, player: Recording) -> None:
        super().__init__()
        self._player = player
        self.controls = ReplayControls(player)

    def bottom_pane(self) -> Widget:
        """The controls."""
        return self.controls

    def on_mount(self) -> None:
        """Play from the first paint on."""
        self.connect(self._player.bus)
        self.home()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.attempt(self._play(), "player")

    async def _play(self) -> None:
        if self._player.bad_lines:
            lines = counted(self._player.bad_lines, "line")
            self.transcript.note("warning", f"skipped, unreadable in this recording: {lines}")
        await self._player.run()
        if self.bridge is not None:
            await self.bridge.drain()
            await self.settled(self.bridge.state)

    async def settled(self, state: SessionState) -> None:
        """The status bar and the controls."""
        player = self._player
        info = ReplayInfo(
            title=player.title,
            position=player.position,
            total=player.total,
            playing=player.playing,
            speed=player.speed,
        )
        self.status.show(state, info, None)
        self.controls.redraw()

    def say(self, text: str, *, is_error: bool = False) -> None:
        """On the second line of the controls."""
        self.controls.say(f"{'error: ' if is_error else ''}{text}")

    async def command(self, text: str) -> str | None:
        """Try it on the replay's own state."""
        return await self._player.submit(text)

    async def action_pause(self) -> None:
        """Hold still, or go on."""
        if self._player.playing:
            self._player.pause()
        else:
            self._player.play()
        await self.settled(self.state)

    async def action_step(self) -> None:
        """One record."""
        await self._player.step()
        await self.settled(self.state)

    async def action_speed(self, step: int) -> None:
        """The next pace up or down."""
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self._player.speed))
        self._player.set_speed(SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + step))])
        await self.settled(self.state)

    async def action_leave(self) -> None:
        """Back to the session, or out of the program."""
        await self.app.run_action("app.leave_replay")
