"""The box itself: a text area in which Enter submits."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea

from gh_tui.text import visible

BURST_SECONDS = 0.02
"""How long Enter waits for keys that came with it: an unbracketed paste, or the last syllable
of an input method."""
COMMITTED = 2
"""At most so many wide characters right after Enter are the end of the same input."""

_JOINERS = re.compile("([\u200c\u200d\ufe0e\ufe0f])")

Way = Literal["send", "queue", "now", "whole"]
"""`whole` answers the offer of an attachment; the way is the one that was asked for then."""


class InputBox(TextArea):
    """A multi-line box; the text stays until its owner takes it away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_conversation(-1)", "scroll", show=False),
        Binding("pagedown", "scroll_conversation(1)", "scroll", show=False),
    ]

    class Submitted(Message):
        """Enter, or the keys for at once, for after the task and for a large text as it is."""

        def __init__(self, way: Way) -> None:
            super().__init__()
            self.way = way

    class Scrolled(Message):
        """A page key: the conversation is meant."""

        def __init__(self, direction: int) -> None:
            super().__init__()
            self.direction = direction

    class History(Message):
        """Up in the first line or down in the last: an earlier or later input is meant."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self) -> None:
        super().__init__(
            id="box",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
            placeholder=Content("Type here. / shows the commands."),
        )
        self.cursor_blink = False
        self._enters: list[tuple[int, int]] = []
        """Where Enter came, while keys that belong to it may still arrive."""
        self._burst: Timer | None = None

    async def on_key(self, event: events.Key) -> None:
        """Enter and the alternatives; all other keys are the text area's own."""
        match event.key:
            case "enter":
                self._enters.append(self.cursor_location)
                self._wait_for_burst()
            case "ctrl+j":  # here and not as a binding, which would come after the next key
                self._newline()
            case "alt+q" | "alt+enter":
                self.post_message(self.Submitted("queue"))
            case "alt+n":
                self.post_message(self.Submitted("now"))
            case "alt+w":
                self.post_message(self.Submitted("whole"))
            case "up" if self.cursor_at_first_line:
                self.post_message(self.History(-1))
            case "down" if self.cursor_at_last_line:
                self.post_message(self.History(1))
            case _:
                if self._enters and event.is_printable:
                    self._wait_for_burst()
                if not event.key.startswith("alt+"):
                    return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """A paste is text, whatever it holds; what commands a terminal becomes visible."""
        event.stop()
        event.prevent_default()
        result = self.replace(typed(event.text), *self.selection)
        self.move_cursor(result.end_location)

    def _newline(self) -> None:
        result = self.replace("\n", *self.selection)
        self.move_cursor(result.end_location)

    def action_scroll_conversation(self, direction: int) -> None:
        """Page keys belong to the conversation: a draft is short."""
        self.post_message(self.Scrolled(direction))

    def insert_typed(self, text: str) -> None:
        """Characters that were meant for the box but came elsewhere."""
        self.insert(typed(text))

    def render_line(self, y: int) -> Strip:
        """Nothing in a window too narrow for a character: a placeholder cannot be wrapped there."""
        if self.content_size.width < 1:
            return Strip.blank(self.size.width)
        return super().render_line(y)

    def put(self, text: str) -> None:
        """Replace the draft, cursor at the end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def _wait_for_burst(self) -> None:
        if self._burst is not None:
            self._burst.stop()
        self._burst = self.set_timer(BURST_SECONDS, self._end_burst)

    def _end_burst(self) -> None:
        enters, self._enters, self._burst = self._enters, [], None
        if not enters:
            return
        start, end = enters[0], self.cursor_location
        after = self.document.get_text_range(start, end) if start < end else ""
        if len(after) <= COMMITTED and all(ord(char) > 0x7F for char in after):
            self.post_message(self.Submitted("send"))
            return
        for location in reversed(enters):  # it was a paste: the Enters are its line ends
            self.insert("\n", location, maintain_selection_offset=True)
        self.move_cursor(self.document.end)


def typed(text: str) -> str:
    """Pasted text as the box takes it: line ends as newlines, commands to the terminal visible.

    Joiners and presentation selectors stay: they are part of emoji and of words.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        part if _JOINERS.fullmatch(part) else visible(part) for part in _JOINERS.split(lines)
    )
