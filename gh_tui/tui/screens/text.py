"""One whole text to read."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gh_tui.text import one_line, visible
from gh_tui.tui.screens.dialog import Dialog


class TextScreen(Dialog[None]):
    """Shows a foreign text, sanitised, under one line that says what it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "close"),
    ]

    def __init__(self, head: str, text: str) -> None:
        super().__init__()
        self._head = head
        self._text = text

    def compose(self) -> ComposeResult:
        """A head, the text, the keys."""
        with Vertical(classes="dialog"):
            yield Static(Content(one_line(self._head)), classes="dialog-head")
            with VerticalScroll():
                yield Static(Content(visible(self._text)), classes="dialog-text")
            yield Static(Content("Esc closes · ↑ ↓ PgUp PgDn scroll"), classes="dialog-keys")
