"""Every key and every command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gh_tui.tui.markdown_rows import Indent, Words
from gh_tui.tui.screens.dialog import Dialog
from gh_tui.tui.widgets.composer import command_lines

SECTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Writing",
        (
            ("Enter", "what the title of the box says"),
            ("Ctrl+J", "a new line"),
            ("Alt+Q", "send it after this task (some terminals: Alt+Enter)"),
            ("Alt+N", "at once: stops the running step and delivers it; ends a pause"),
            ("Alt+W", "a large text as it is, where that fits; Enter sends it as an attachment"),
            ("F8", "pause before the next cycle; resume, or go on with what waits"),
            ("Esc", "stop the agent; pending and queued texts come back into the box"),
            ("↑ ↓", "earlier inputs, at the edge of the draft"),
            ("Tab", "complete a command; otherwise the next pane"),
            ("/ …", "a command; // sends a text that begins with /"),
        ),
    ),
    (
        "Reading",
        (
            ("PgUp PgDn", "scroll the conversation; at its end it follows again"),
            ("Ctrl+End", "to the newest entry"),
            ("Ctrl+↑", "load earlier entries"),
            ("Ctrl+O", "open or fold all tool calls and thoughts"),
            ("[ ]", "in the conversation: previous, next fold; Enter opens it"),
        ),
    ),
    (
        "Memory (in the timeline)",
        (
            ("F3", "show the timeline; on a wide screen hide it"),
            ("p", "pin or unpin the entry"),
            ("r", "recall it: the model sees it in full again"),
            ("u", "undo the last pass"),
            ("v", "preview the next pass: → marks what would go; the list says what stays"),
            ("Enter", "open the whole text; there s shows a supplement as it was sent"),
        ),
    ),
    (
        "Receipts",
        (
            ("F5", "all receipts, or the newest"),
            ("Enter", "the exact message of the request that carried it, as sent"),
            ("e w", "edit, withdraw (until a request has carried it); queued inputs too"),
            ("p o", "pin it; make it an ordinary entry"),
            ("a", "accept the suggested class"),
            ("r d u", "it replaces the older instruction; adds to it; is unrelated"),
            ("◆ §", "pinned; a standing instruction"),
        ),
    ),
    (
        "Replay",
        (
            ("Space", "pause or play"),
            ("→ .", "one record"),
            ("+ -", "faster, slower"),
            ("q Esc", "leave"),
        ),
    ),
    (
        "Program",
        (
            ("F1 ?", "this help"),
            ("F2", "replay a recorded sample"),
            ("F4", "the next theme"),
            ("Ctrl+C", "copy the selection; twice without one: quit"),
            ("Ctrl+Q", "quit; the recording is closed first"),
        ),
    ),
)


KEYS = 18
"""Cells of the column of keys."""
ROOM = 24
"""Cells that the words beside it need; with less they stand below the keys."""


class HelpScreen(Dialog[None]):
    """The help."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,question_mark,enter", "dismiss", "close"),
    ]

    def compose(self) -> ComposeResult:
        """Sections in one column of keys and one of words."""
        sections = [*SECTIONS, ("Commands", tuple(command_lines()))]
        with Vertical(classes="dialog"):
            yield Static(Content("Keys and commands"), classes="dialog-head")
            with VerticalScroll():
                for title, lines in sections:
                    yield HelpSection(title, lines)
            yield Static(Content("Esc closes"), classes="dialog-keys")


class HelpSection(Static):
    """A title, then keys and words; words that wrap stay in their column."""

    def __init__(self, title: str, lines: Sequence[tuple[str, str]]) -> None:
        super().__init__(classes="help-section")
        self._title = title
        self._lines = lines

    def on_resize(self, event: events.Resize) -> None:
        """Laid out anew for another width."""
        width = event.size.width
        rows = [Content.styled(self._title, "bold")]
        for keys, words in self._lines:
            rows += _laid(keys, words, width)
        self.update(Content("\n").join(rows))


def _laid(keys: str, words: str, width: int) -> Iterator[Content]:
    head = Content.styled(f"  {keys} ", "bold $accent")
    if width < KEYS + ROOM:
        yield head
        indent = Indent(Content(" " * 4), Content(" " * 4))
    elif head.cell_length > KEYS:
        yield head
        indent = Indent(Content(" " * KEYS), Content(" " * KEYS))
    else:
        indent = Indent(head.pad_right(KEYS - head.cell_length), Content(" " * KEYS))
    for line in Words(Content(words), indent).lines(width):
        yield from (row.lead + row.text for row in line.rows)
