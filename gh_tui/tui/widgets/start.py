"""What stands at the top of a new conversation: how the start goes, and what to try."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from gh_tui.tui.sanitize import one_line, visible

SHOWN = 6
"""Progress lines that are kept."""


class StartPanel(Static):
    """Progress of the start, and the offer of a recorded sample."""

    def __init__(self) -> None:
        super().__init__(id="start")
        self._lines: list[str] = []
        self._ready: str | None = None

    def on_mount(self) -> None:
        """Something to read at once."""
        self.redraw()

    @property
    def latest(self) -> str:
        """The step that goes on now."""
        return self._lines[-1] if self._lines else "starting"

    def progress(self, line: str) -> None:
        """One step of the start; a step that begins like the last one replaces it."""
        line = one_line(line, 300)
        head = line.split(":")[0].rstrip("0123456789/ .%")
        if self._lines and self._lines[-1].startswith(head) and len(head) > 8:
            self._lines[-1] = line
        else:
            self._lines.append(line)
        self.redraw()

    def ready(self, line: str) -> None:
        """The start is over: what was chosen, and why."""
        self._ready = visible(line)
        self.redraw()

    def redraw(self) -> None:
        """Draw all of it."""
        parts: list[Content] = [
            Content.assemble(
                ("Gliding Horse", "$text-primary bold"),
                ("  an agent whose memory you can watch", "$text-muted"),
            ),
            Content(""),
        ]
        if self._ready is None:
            lines = self._lines[-SHOWN:] or ["starting"]
            parts += [Content.styled(f"  ✓ {line}", "$text-muted") for line in lines[:-1]]
            parts.append(Content(f"  · {lines[-1]}"))
            parts.append(
                Content.styled("  You can type already: what you send runs when it is ready.", "")
            )
        else:
            parts.append(Content.styled(f"  ✓ {self._ready}", "$text-muted"))
        parts += [
            Content(""),
            Content.assemble(
                ("  F2", "bold $text-accent"),
                "  watch a recorded session drift and be corrected; there try, in the timeline,",
            ),
            Content.assemble(
                ("      p", "bold $text-accent"),
                " pin   ",
                ("r", "bold $text-accent"),
                " recall   ",
                ("u", "bold $text-accent"),
                " undo a pass",
            ),
        ]
        self.update(Content("\n").join(parts))
