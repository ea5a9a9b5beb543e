"""What stands at the top of a new conversation: how the start goes, and what to try."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from gh_tui.events.types import SessionStarted
from gh_tui.text import one_line
from gh_tui.tui.ink import DIM

READY = " is ready"
SHOWN = 6
"""Progress lines that are kept."""


class StartPanel(Static):
    """Progress of the start, and the offer of a recorded sample."""

    def __init__(self) -> None:
        super().__init__(id="start")
        self._lines: list[str] = []
        self._chosen = False

    def on_mount(self) -> None:
        """Something to read at once."""
        self.redraw()

    @property
    def latest(self) -> str | None:
        """The step that goes on now; None when there is none."""
        if not self._lines:
            return "starting"
        return next((line for line in reversed(self._lines) if not _is_end(line)), None)

    def progress(self, line: str) -> None:
        """One step of the start.

        A step that begins like the last one replaces it, and `the model is ready` replaces all
        that went on with the model.
        """
        line = one_line(line, 300)
        if line.endswith(READY):
            subject = line.removesuffix(READY).split()[-1:]
            self._lines = [
                old for old in self._lines if _is_end(old) or not set(subject) & set(old.split())
            ]
        head, colon, _ = line.partition(":")
        if colon and self._lines and self._lines[-1].startswith(head):
            self._lines[-1] = line
        elif line not in self._lines:
            self._lines.append(line)
        self.redraw()

    def chosen(self, event: SessionStarted) -> None:
        """What answers, and why."""
        self._chosen = True
        self.progress(f"{event.provider} · {event.model} ({event.reason or 'as configured'})")

    def redraw(self) -> None:
        """Draw all of it."""
        parts: list[Content] = [
            Content.assemble(
                ("Gliding Horse", "$primary bold"),
                ("  an agent whose memory you can watch", DIM),
            ),
            Content(""),
        ]
        for line in self._lines[-SHOWN:] or ["starting"]:
            mark = "✓" if _is_end(line) else "·"
            parts.append(Content.styled(f"  {mark} {line}", DIM))
        if not self._chosen:
            parts.append(Content("  You can type already: what you send runs when it is ready."))
        parts += [
            Content(""),
            Content.assemble(
                ("  F2", "bold $accent"),
                "  replay a session that drifts and is corrected, and try",
            ),
            Content.assemble(
                ("      p", "bold $accent"),
                " pin an entry   ",
                ("r", "bold $accent"),
                " recall it   ",
                ("u", "bold $accent"),
                " undo a pass",
            ),
        ]
        self.update(Content("\n").join(parts))


def _is_end(line: str) -> bool:
    """Whether a line tells of something that is done."""
    return line.endswith((READY, ")"))
