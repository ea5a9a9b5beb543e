"""A bare app around the panes, and measures of what they draw."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widget import Widget

import gh_tui.tui.widgets
from gh_tui.clock import ManualClock
from gh_tui.tui.theme_files import DEFAULT_DARK, load_themes
from gh_tui.tui.widgets.status import StatusBar
from gh_tui.tui.widgets.timeline import Timeline

STYLES = Path(gh_tui.tui.widgets.__file__).parent


class Panes(App[None]):
    CSS_PATH: ClassVar = [STYLES / name for name in ("timeline.tcss", "status.tcss", "entry.tcss")]

    def __init__(self, theme: str = DEFAULT_DARK) -> None:
        super().__init__()
        for known in load_themes()[0]:
            self.register_theme(known)
        self.theme = theme
        self.clock = ManualClock()
        self.timeline = Timeline()
        self.status = StatusBar(self.clock)
        self.posted: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.timeline
        yield self.status

    def on_timeline_act(self, message: Timeline.Act) -> None:
        self.posted.append((message.action, message.iri))


def lines(widget: Widget) -> list[str]:
    """What a Line API widget shows, as plain text."""
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


def segments(widget: Widget) -> Iterator[Segment]:
    for y in range(widget.size.height):
        yield from widget.render_line(y)


def widths(widget: Widget) -> set[int]:
    """The lengths of all lines in cells."""
    return {cell_len(widget.render_line(y).text) for y in range(widget.size.height)}


def contrast(first: Color, second: Color) -> float:
    """WCAG 2 contrast ratio, 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else float(((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(value) for value in color.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def poor_segments(widget: Widget) -> list[tuple[str, float]]:
    """Words whose contrast is below AA; lines of bars are no words."""
    poor = []
    for segment in segments(widget):
        style, text = segment.style, segment.text.strip(" ─·━╸░█┃[]")
        if not text or style is None or style.color is None or style.bgcolor is None:
            continue
        value = contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))
        if value < 4.5:
            poor.append((text, round(value, 2)))
    return poor
