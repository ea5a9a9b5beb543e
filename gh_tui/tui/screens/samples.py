"""Which recorded session to replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gh_tui.text import one_line


class SamplesScreen(ModalScreen[Path | None]):
    """A list of recordings; dismissed with the chosen path."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "close")]

    def __init__(self, samples: Sequence[tuple[Path, str]]) -> None:
        super().__init__()
        self._samples = samples

    def compose(self) -> ComposeResult:
        """The titles, or where there should be some."""
        with Vertical(classes="dialog"):
            yield Static(Content("Replay a recorded session"), classes="dialog-head")
            if self._samples:
                yield OptionList(
                    *(Option(Content(one_line(title, 120))) for _, title in self._samples)
                )
                keys = "Enter replays it · Esc closes"
            else:
                yield Static(Content("There are no samples in this installation."))
                keys = "Esc closes"
            yield Static(Content(keys), classes="dialog-keys")

    @on(OptionList.OptionSelected)
    def chosen(self, event: OptionList.OptionSelected) -> None:
        """Hand over the path."""
        event.stop()
        self.dismiss(self._samples[event.option_index][0])
