"""What all windows over a session have in common: as high as their text, never too high."""

from __future__ import annotations

from typing import TypeVar

from textual.containers import VerticalScroll
from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A modal window whose `VerticalScroll` gives way when the terminal is low."""

    AROUND = 6
    """Lines of the window beside the scrolled text: its border, head and keys."""

    def on_mount(self) -> None:
        """The arrow keys scroll at once."""
        self.fit()
        for scroll in self.query(VerticalScroll):
            scroll.focus()

    def on_resize(self) -> None:
        """Another height."""
        self.fit()

    def fit(self) -> None:
        """Leave room for what must always be seen."""
        room = max(1, self.size.height - self.AROUND - 2)
        for scroll in self.query(VerticalScroll):
            scroll.styles.max_height = room
