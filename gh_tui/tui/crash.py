"""The one adapter to private parts of Textual: what a crash prints, and how a hang-up ends.

Textual prints the traceback with all local variables, which may hold keys and foreign text. A
person gets one line instead; the trace goes to a file only when asked for by `GH_TUI_TRACE`.
"""

from __future__ import annotations

import os
import sys
import termios
import traceback
from pathlib import Path

from rich.text import Text
from textual.app import App

from gh_tui.text import one_line


class QuietCrash(App[int]):
    """Ends a crashed app with one line and status 1."""

    def _fatal_error(self) -> None:
        error = sys.exception()
        words = one_line(f"{type(error).__name__}: {error}", 500)
        where = _write_trace(error)
        self.panic(
            Text(
                f"gh-tui crashed ({words}). What you sent is in the recording: "
                f"gh-tui sessions lists it.{where}"
            )
        )


def end_if_the_terminal_is_gone(status: int) -> None:
    """End the process at once when its terminal no longer exists.

    Textual's threads would wait for that terminal for ever, and the interpreter for them.
    """
    try:
        termios.tcgetattr(sys.__stdin__ or 0)
    except (OSError, termios.error):
        os._exit(status)


def _write_trace(error: BaseException | None) -> str:
    wanted = os.environ.get("GH_TUI_TRACE")
    if not wanted or error is None:
        return " Set GH_TUI_TRACE=FILE to get a trace of the next crash."
    try:
        Path(wanted).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return ""
    return f" The trace is in {wanted}."
