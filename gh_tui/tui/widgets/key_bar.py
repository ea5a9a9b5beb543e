"""The footer: the keys that work now, as one node."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

ORDER = ("escape", "f8", "f1", "f3", "f5", "ctrl+o", "f2", "f4", "ctrl+q")
"""General keys from the most to the least needed; those of a pane come before them."""
LAST = "ctrl+q"


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
        """Draw the keys of the focused pane, then the general ones; quit stands at the end."""
        shown: dict[str, Binding] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled:
                shown.setdefault(binding.action, binding)
        ordered = sorted(shown.values(), key=_place)
        last = [self._part(binding) for binding in ordered if binding.key == LAST]
        room = self.size.width - 2 - sum(part.cell_length + 2 for part in last)
        parts: list[Content] = []
        for binding in ordered:
            part = self._part(binding)
            if binding.key != LAST and part.cell_length <= room:
                room -= part.cell_length + 2
                parts.append(part)
        if last and room >= 0:
            last[0] = Content.assemble(" " * room, last[0])
        self.update(Content("  ").join([*parts, *last]), layout=False)

    def _part(self, binding: Binding) -> Content:
        return Content.assemble(
            (self.app.get_key_display(binding), "$footer-key-foreground bold"),
            " ",
            (binding.description.lower(), "$footer-description-foreground"),
        )


def _place(binding: Binding) -> int:
    return ORDER.index(binding.key) if binding.key in ORDER else -1
