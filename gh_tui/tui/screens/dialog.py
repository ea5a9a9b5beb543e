"""What all windows over a session have in common: as high as their text, never too high."""

from __future__ import annotations

from typing import TypeVar

from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget

Result = TypeVar("Result")

LOW = 16
"""Lines of a terminal below which windows leave out their blank lines and say less."""


class Dialog(ModalScreen[Result]):
    """A modal window whose `VerticalScroll` gives way when the terminal is low.

    The text that scrolls gets what the rest of the window leaves of the screen, however that
    rest is wrapped, and at least one line.
    """

    def on_mount(self) -> None:
        """The arrow keys scroll at once."""
        self.fit()
        for scroll in self.query(VerticalScroll):
            scroll.focus()

    def on_resize(self) -> None:
        """Another height."""
        self.fit()

    @property
    def low(self) -> bool:
        """Whether there is little room."""
        return self.size.height < LOW

    def fit(self) -> None:
        """Leave room for what must always be seen."""
        self.set_class(self.low, "low")
        self.call_after_refresh(self._give_way)

    def fitted(self) -> None:
        """The window has its height."""

    def _give_way(self) -> None:
        for scroll in self.query(VerticalScroll):
            window = scroll.parent
            if isinstance(window, Widget):
                others = window.virtual_size.height - scroll.outer_size.height
                room = self.size.height - window.gutter.height - others
                scroll.styles.max_height = max(1, room)
        self.call_after_refresh(self.fitted)
