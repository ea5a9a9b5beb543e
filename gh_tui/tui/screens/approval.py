"""The question whether a tool may run.

It can be allowed only after all of it has been seen, and only by a key pressed on purpose: keys
that were typed before it appeared, or while the user was still typing, never answer it. Letters
belong to the draft: the only one that can answer, `n`, does so while there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from gh_tui.events.entries import ToolState
from gh_tui.text import one_line, visible
from gh_tui.tui.screens.dialog import Dialog

GUARD_SECONDS = 0.4
"""How long the keyboard must have been quiet before a key can answer."""


class ApprovalScreen(Dialog[bool | None]):
    """Allow (True), deny (False), or answered elsewhere (None)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "answer(True)", "allow"),
        Binding("escape", "answer(False)", "deny"),
    ]

    def __init__(
        self, tool: ToolState, typed: Callable[[str], None], has_draft: Callable[[], bool]
    ) -> None:
        """A question about one call.

        Args:
            tool: the call.
            typed: gets the characters that were meant for the box.
            has_draft: whether there is something in the box.
        """
        super().__init__()
        self.tool = tool
        self._typed = typed
        self._has_draft = has_draft
        self._quiet_since = 0.0
        self._seen_to = 0
        """Lines from the top that have been on the screen without a gap."""
        self._seen = False
        self._is_fitted = False
        """Until then more of the text is laid out than can be seen."""
        self._shown_hint = ""

    def compose(self) -> ComposeResult:
        """What would run, all of it, then the answers."""
        name = one_line(self.tool.name, 60)
        with Vertical(classes="dialog", id="approval"):
            yield Static(Content(f"Allow {name}?"), classes="dialog-head")
            with VerticalScroll(id="preview"):
                yield Static(Content(self._text()), classes="dialog-text")
            yield Static(classes="dialog-keys", id="lock")
            with Horizontal(classes="buttons"):
                yield Button(Content("Deny · Esc"), id="deny", compact=True)
                yield Button(Content("Allow · Ctrl+Y"), id="allow", disabled=True, compact=True)

    def _text(self) -> str:
        preview = self.tool.preview
        parts = [preview] if preview else []
        for name, value in self.tool.arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if not text or text not in preview:  # nothing may be missing, little stand twice
                parts.append(f"{name}: {text}")
        return visible("\n\n".join(parts))

    def on_mount(self) -> None:
        """Nothing typed so far counts."""
        self._quiet_since = self._now()
        preview = self.query_one("#preview", VerticalScroll)
        self.watch(preview, "scroll_y", self._look, init=False)
        self.set_timer(GUARD_SECONDS, self._unlock)
        self._unlock()

    def on_resize(self) -> None:
        """Another size may show more, once the window has taken it."""
        self._is_fitted = False

    def fitted(self) -> None:
        """What is laid out now is what is seen."""
        self._is_fitted = True
        self._look()

    def _now(self) -> float:
        return events.Event().time

    def _look(self) -> None:
        if not self._is_fitted:
            return
        preview = self.query_one("#preview", VerticalScroll)
        top = round(preview.scroll_y)
        height = min(preview.size.height, self.find_widget(preview).visible_region.height)
        if height > 0 and top <= self._seen_to:  # a jump over the middle shows nothing of it
            self._seen_to = max(self._seen_to, top + height)
        self._seen = self._seen or (height > 0 and self._seen_to >= preview.virtual_size.height)
        self._unlock()

    @property
    def guarded(self) -> bool:
        """Whether keys are still not meant for this question."""
        return self._now() - self._quiet_since < GUARD_SECONDS

    def _unlock(self) -> None:
        self.query_one("#allow", Button).disabled = not self._seen or self.guarded
        hint = self._hint()
        if hint != self._shown_hint:
            self._shown_hint = hint
            self.query_one("#lock", Static).update(Content(hint))
            self.fit()

    def _hint(self) -> str:
        draft = self._has_draft()
        if not self._seen and self.low:
            return "There is more: PgDn."
        if not self._seen:
            return "There is more below: PgDn. It can be allowed when all of it was seen."
        if self.low:
            return "Letters go to the box." if draft else "n denies it, too."
        deny = "Esc denies it; letters go to the box" if draft else "Esc or n denies it"
        return f"Ctrl+Y allows it once · {deny}"

    def on_event_key(self, event: events.Key) -> bool:
        """Whether a key is done with: it came too early, or its character is the box's."""
        early = event.time - self._quiet_since < GUARD_SECONDS
        if early:
            self._quiet_since = event.time
            self.set_timer(GUARD_SECONDS + 0.05, self._unlock)
        if event.is_printable and event.character:
            if event.character == "n" and not early and not self._has_draft():
                self.action_answer(False)
            else:
                self._typed(event.character)
                self._unlock()
            return True
        return early

    async def on_event(self, event: events.Event) -> None:
        """Look at each key before anything else does."""
        if isinstance(event, events.Key) and self.on_event_key(event):
            return
        await super().on_event(event)

    def action_answer(self, allow: bool) -> None:
        """Answer, if it may be answered."""
        if self.guarded or (allow and not self._seen):
            return
        self.dismiss(allow)

    @on(Button.Pressed)
    def pressed(self, event: Button.Pressed) -> None:
        """A button is as good as its key."""
        event.stop()
        self.action_answer(event.button.id == "allow")
