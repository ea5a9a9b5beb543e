"""Asks before a link leaves the terminal."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from gh_tui.text import visible


class LinkScreen(ModalScreen[None]):
    """Shows the host and the whole address; opens it only when told to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "open", "open"),
        Binding("escape,n", "dismiss", "leave it"),
    ]

    def __init__(self, href: str) -> None:
        super().__init__()
        self._href = href

    def compose(self) -> ComposeResult:
        """The host first: it is what decides."""
        host = urlsplit(self._href).hostname or "?"
        with Vertical(classes="dialog"):
            yield Static(
                Content(f"Open {visible(host, keep_newlines=False)}?"), classes="dialog-head"
            )
            yield Static(Content(visible(self._href, keep_newlines=False)), classes="dialog-text")
            yield Static(
                Content("Ctrl+Y opens it in the browser · Esc leaves it"), classes="dialog-keys"
            )

    def action_open(self) -> None:
        """Hand it to the browser."""
        self.dismiss()
        self.app.open_url(self._href)
