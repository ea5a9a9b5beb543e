"""The footer: the keys that work now, as one node."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static


class KeyBar(Static):
    """Shows the bindings of the focused pane and of the screen, as many as fit."""

    def __init__(self) -> None:
        super().__init__(id="keys")

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.redraw()

    def _changed(self, _screen: Screen[object]) -> None:
        self.redraw()

    def on_resize(self) -> None:
        """As many keys as fit."""
        self.redraw()

    def redraw(self) -> None:
        """Draw the keys."""
        parts: list[Content] = []
        room = (self.size.width or 80) - 2
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not binding.show or binding.action in seen:
                continue
            seen.add(binding.action)
            part = Content.assemble((self._key(binding), "$footer-key-foreground bold"), " ")
            part = Content.assemble(part, (binding.description, "$footer-description-foreground"))
            if part.cell_length + 2 > room:
                break
            room -= part.cell_length + 2
            parts.append(part)
        self.update(Content("  ").join(parts))

    def _key(self, binding: Binding) -> str:
        return self.app.get_key_display(binding)
