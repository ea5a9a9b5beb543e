"""The status bar: two lines at every width, the first of which can become an urgent one."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from gh_tui.clock import Clock, SystemClock
from gh_tui.events.state import SessionState
from gh_tui.text import one_line
from gh_tui.tui.cells import shorten
from gh_tui.tui.widgets import status_words as words
from gh_tui.tui.widgets.status_words import GAP, Part, ReplayInfo

FLASH_SECONDS = 8.0
"""How long a topic shift stays a highlighted line."""


class StatusBar(Widget):
    """Task, model, context, cycle and what is urgent; colour and words, no motion."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status--busy",
        "status--dim",
        "status--error",
        "status--gauge",
        "status--replay",
        "status--shift",
        "status--text",
        "status--urgent",
        "status--warn",
    }

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self._clock = clock or SystemClock()
        self._state = SessionState()
        self._replay: ReplayInfo | None = None
        self._progress: str | None = None
        self._shifts = 0
        self._shift_until = 0.0
        self._timer: Timer | None = None

    def show(self, state: SessionState, replay: ReplayInfo | None, progress: str | None) -> None:
        """Show the session as it is now.

        Args:
            state: the state after the latest event.
            replay: where the replay stands; None in a live session.
            progress: what is being started, while there is nothing else to say.
        """
        jumped = state is not self._state
        self._state, self._replay, self._progress = state, replay, progress
        self._note_urgent(jumped=jumped)
        if self.is_attached:
            self._watch_time()
        self.refresh()

    def banner(self, width: int) -> tuple[str, str] | None:
        """The urgent line that takes the place of the first one, as (style, text)."""
        now = self._clock.monotonic()
        if (failed := words.failure_line(self._state, self._clock.now(), width - 2)) is not None:
            return "error", f"✗ {failed}"
        if now < self._shift_until and self._state.shifts:
            return "shift", f"≠ {words.shift_line(self._state.shifts[-1], self._state, width - 2)}"
        return None

    def first_line(self, width: int) -> list[Part]:
        """State and task; the model at the right end."""
        state = self._state
        title = state.task.what if state.task else self._replay.title if self._replay else ""
        model = ""
        if state.started is not None:
            model = f"{one_line(state.started.provider, 24)}·{one_line(state.started.model, 48)}"
        left = [
            words.activity(state, self._replay, self._progress),
            words.wait_basis(state) if self._replay is None else Part(""),
            Part(f"cycle {state.cycle}" if state.cycle else "", "dim", rank=3),
            Part(one_line(title, width), "text", rank=1, least=16),
        ]
        right = Part(model, "dim", rank=2, least=22)
        parts = words.arrange([*left, right], width)
        room = width - words.length(parts) - len(GAP)
        if room > 0 and len(parts) > 1 and parts[-1].text == right.text:
            parts.insert(len(parts) - 1, Part(" " * room))
        return parts

    def second_line(self, width: int) -> list[Part]:
        """The context and the counters."""
        bar = 10 if width < 96 else 20 if width < 160 else 30
        return words.arrange([*words.gauge(self._state, bar), *words.counters(self._state)], width)

    def render_line(self, y: int) -> Strip:
        """One of the two lines."""
        width = self.size.width
        if y == 0 and (banner := self.banner(width - 2)) is not None:
            style, text = banner
            return self._strip([Part(text, style)], width, self._style(style))
        if y > 1:
            return Strip.blank(width, self.rich_style)
        parts = self.first_line(width - 2) if y == 0 else self.second_line(width - 2)
        return self._strip(parts, width, self.rich_style)

    def _note_urgent(self, *, jumped: bool) -> None:
        now = self._clock.monotonic()
        count = len(self._state.shifts)
        if count > self._shifts and not (jumped and self._shifts == 0 and count > 1):
            self._shift_until = now + FLASH_SECONDS
        self._shifts = count

    def _watch_time(self) -> None:
        """Draw once a second as long as an urgent line stands, and once when it has gone."""
        if self.banner(80) is not None and self._timer is None:
            self._timer = self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        if self.banner(80) is None and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh()

    def on_mount(self) -> None:
        """What came before the bar was there may be urgent."""
        self._watch_time()

    def _strip(self, parts: list[Part], width: int, base: Style) -> Strip:
        segments: list[Segment] = []
        left = width
        for index, part in enumerate(parts):
            text = (GAP if index else " ") + part.text
            if cell_len(text) > left:
                text = shorten(text, left)
            style = self._style(part.style)
            ink = base + Style(color=style.color, bold=style.bold)
            segments.append(Segment(text, ink))
            left -= cell_len(text)
        segments.append(Segment(" " * left, base))
        return Strip(segments, width)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"status--{name}")
