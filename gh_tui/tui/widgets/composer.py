"""Where the user writes: receipts, a line of feedback, hints, and the box."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from gh_tui.agent.attachments import Oversize
from gh_tui.agent.command_list import COMMANDS, Command
from gh_tui.text import one_line, visible
from gh_tui.tui.commands import Mode, completed, enter_meaning, matching, other_keys
from gh_tui.tui.ink import DIM
from gh_tui.tui.widgets.input_box import InputBox, Way
from gh_tui.tui.widgets.receipts import Receipts

HINTS = 5
"""Commands listed at once; more where there is room for them."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A draft that is too large to be sent as it is, and what the user may do with it."""

    text: str
    way: Way
    """The key that would have sent it."""
    found: Oversize


class Composer(Vertical):
    """The pane at the bottom."""

    def __init__(self) -> None:
        super().__init__(id="composer")
        self.receipts = Receipts()
        self.feedback = Static(id="feedback")
        self.hints = Static(id="hints")
        self.box = InputBox()
        self.offer: Offer | None = None
        self._saving: str | None = None
        self._entered_again = False
        self._mode = Mode()
        self._inputs: list[str] = []
        self._recalled: int | None = None
        self._draft = ""
        self._hinted: tuple[Command, ...] = ()
        self._titles = ("", "")

    def compose(self) -> ComposeResult:
        """Top to bottom."""
        yield self.receipts
        yield self.feedback
        yield self.hints
        yield self.box

    def on_mount(self) -> None:
        """Empty lines take no room."""
        self.receipts.display = self.feedback.display = self.hints.display = False
        self.retitle()

    @property
    def saving(self) -> bool:
        """Whether a text is being accepted."""
        return self._saving is not None

    def show(self, mode: Mode) -> None:
        """Tell the box what Enter would do."""
        self._mode = mode
        self.retitle()

    def retitle(self) -> None:
        """The title says what Enter does, the subtitle what else can be done."""
        text = self.box.text
        if self.saving:
            title = "saving …"
        elif self.offer is not None:
            title = f"Enter: attach — {self.offer.found.words}"
        else:
            title = enter_meaning(text, self._mode)
        keys = other_keys(self._mode)
        if self.offer is not None:
            keys = ["Esc back", *(["Alt+W whole"] if self.offer.found.fits else [])]
        titles = (one_line(title, 120), " · ".join(keys))
        if titles != self._titles:
            self._titles = titles
            self.box.border_title, self.box.border_subtitle = map(Content, titles)
        self.box.set_class(self._mode.busy, "busy")

    def on_text_area_changed(self) -> None:
        """The draft decides the title and the hints; an old answer has been read."""
        if self.offer is not None and self.box.text != self.offer.text:
            self.offer = None
        if self.box.text and self.offer is None:
            self.feedback.display = False
        self.retitle()
        self._show_hints()

    def _show_hints(self) -> None:
        found = matching(self.box.text)
        if found == self._hinted:  # a drawing of the whole screen for each key would be felt
            return
        self._hinted = found
        self.hints.display = bool(found)
        room = max(HINTS, self.screen.size.height // 2 - 7)
        lines = [
            Content.assemble(
                (command.usage.ljust(18), "bold"),
                (command.help, DIM),
            )
            for command in found[:room]
        ]
        if len(found) > room:
            lines.append(Content.styled(f"{len(found) - room} more · Tab completes", DIM))
        self.hints.update(Content("\n").join(lines))

    def complete(self) -> bool:
        """Write out the command that the draft begins; says whether there was one."""
        whole = completed(self.box.text)
        if whole is not None:
            self.box.put(whole)
        return whole is not None

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a line above the box until the draft changes."""
        self.feedback.update(Content(visible(text)))
        self.feedback.set_class(is_error, "error")
        self.feedback.display = True

    def begin(self) -> str | None:
        """Start to hand over the draft: its text, or None when there is nothing to hand over."""
        text = self.box.text
        if self.saving:
            self._entered_again = text.strip() != (self._saving or "").strip()
            return None
        if not text.strip():
            return None
        self._saving, self._entered_again = text, False
        self.retitle()
        return text

    def make_offer(self, offer: Offer) -> bool:
        """Ask before a large text is handed over; it stays in the box until the user says.

        Returns:
            True if Enter came meanwhile for a changed text.
        """
        self._saving = None
        if self.box.text == offer.text:  # else it was edited meanwhile: not this text any more
            self.offer = offer
            self.say(
                f"This has {offer.found.words}. As an attachment the model sees its head, its tail "
                "and its IRI, and can read all of it."
            )
        self.retitle()
        return self._entered_again and self.offer is None

    def answered(self, way: Way) -> tuple[Way, bool | None]:
        """What a key says to an open offer: which way the text goes, and as what.

        Returns:
            `whole` where it cannot go so: nothing is to be done. What it goes as is None where
            nothing was offered.
        """
        offer = self.offer
        whole = way == "whole"
        if offer is None or (whole and not offer.found.fits):
            return way, None
        self.close_offer()
        return offer.way if way in ("send", "whole") else way, not whole

    def close_offer(self) -> None:
        """It was answered, or is not wanted: the draft is an ordinary one again."""
        if self.offer is not None:
            self.offer = None
            self.feedback.display = False
            self.retitle()

    def accepted(self) -> bool:
        """It is durable: take it out of the box, and only it.

        Returns:
            True if Enter came meanwhile for what was typed after it.
        """
        text, self._saving = self._saving, None
        self.feedback.display = False
        if text is not None:
            if not self._inputs or self._inputs[-1] != text:
                self._inputs.append(text)
            self._recalled = None
            if self.box.text.startswith(text):
                self.box.put(self.box.text[len(text) :])
        self.retitle()
        return self._entered_again

    def refused(self, why: str) -> None:
        """It was not accepted: the text stays."""
        self._saving = None
        self.say(f"not accepted: {why}", is_error=True)
        self.retitle()

    def hand_back(self, texts: list[str]) -> None:
        """Put texts in front of the draft."""
        draft = self.box.text
        parts = [text for text in texts if text.strip()]
        if parts:
            self.box.put("\n".join([*parts, draft] if draft.strip() else parts))

    def on_input_box_history(self, event: InputBox.History) -> None:
        """Walk through the inputs of this run; the draft waits at the end."""
        event.stop()
        last = len(self._inputs)
        index = last if self._recalled is None else self._recalled
        wanted = max(0, min(last, index + event.step))
        if wanted == index:
            return
        if index == last:
            self._draft = self.box.text
        self._recalled = None if wanted == last else wanted
        self.box.put(self._draft if wanted == last else self._inputs[wanted])


def command_lines() -> list[tuple[str, str]]:
    """Every command with what it does, for the help."""
    return [(command.usage, command.help) for command in COMMANDS]
