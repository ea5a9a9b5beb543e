"""Nothing to talk to: what is missing, and what can be done without it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gh_tui.text import visible
from gh_tui.tui.screens.dialog import Dialog


class SetupScreen(Dialog[str]):
    """Dismissed with `samples`, `stay` or `quit`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,enter", "dismiss('samples')", "samples"),
        Binding("escape", "dismiss('stay')", "back"),
        Binding("q", "dismiss('quit')", "quit"),
    ]

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def compose(self) -> ComposeResult:
        """The message as it is: it has the command."""
        with Vertical(classes="dialog"):
            yield Static(Content("No model can be reached yet"), classes="dialog-head")
            with VerticalScroll():
                yield Static(Content(visible(self._message)), classes="dialog-text")
            yield Static(
                Content("F2 replays a recorded session: it needs no model.\nEsc back · q quits"),
                classes="dialog-keys",
            )
            yield Static(
                Content("Text can be selected and copied with the mouse and Ctrl+C."),
                classes="dialog-more",
            )
