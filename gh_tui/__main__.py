"""The entry point: while modules are loaded, Ctrl+C ends the program without a trace."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line; returns the exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from gh_tui.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
