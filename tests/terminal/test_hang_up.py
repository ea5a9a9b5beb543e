"""A real terminal that goes away: the program ends, and what was typed is on disk."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

SCRIPT = {"replies": [{"text": "one two three four five six", "chunk_delay": 1.0}]}


def spawn(home: Path, *task: str) -> tuple[int, int]:
    """The app on a pty of its own: process and terminal."""
    script = home / "script.json"
    script.write_text(json.dumps(SCRIPT))
    words = ["-m", "gh_tui.cli", "--provider", "scripted", "--script", str(script), *task]
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"GH_TUI_HOME": str(home), "TERM": "xterm-256color"}
        os.execv(sys.executable, [sys.executable, *words])
    return process, terminal


def read_until(terminal: int, home: Path, wanted: bytes, seconds: float = 60.0) -> None:
    """Keep the terminal flowing until the recording holds `wanted`."""
    end = time.monotonic() + seconds
    os.set_blocking(terminal, False)
    while time.monotonic() < end:
        try:
            os.read(terminal, 1 << 16)
        except BlockingIOError:
            time.sleep(0.05)
        recordings = list((home / "sessions").glob("*.jsonl"))
        if recordings and wanted in recordings[0].read_bytes():
            return
    raise AssertionError(f"{wanted!r} was never recorded")


def ended(process: int, seconds: float = 20.0, terminal: int | None = None) -> int:
    """The exit status, or the test fails; what is written to an open terminal is read."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if terminal is not None:
            with contextlib.suppress(OSError):
                os.read(terminal, 1 << 16)
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    raise AssertionError("the program outlived its terminal")


def test_what_is_typed_before_the_first_paint_is_in_the_box(tmp_path: Path) -> None:
    process, terminal = spawn(tmp_path)
    os.write(terminal, b"early words")
    read_until(terminal, tmp_path, b'"SessionStarted"')
    os.write(terminal, b"\r")
    read_until(terminal, tmp_path, b'"text":"early words"', seconds=20.0)
    os.kill(process, signal.SIGTERM)
    assert ended(process, terminal=terminal) == 128 + signal.SIGTERM
    os.close(terminal)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_session_and_is_the_status(
    number: signal.Signals, tmp_path: Path
) -> None:
    process, terminal = spawn(tmp_path, "Count")
    read_until(terminal, tmp_path, b'"ReplyProgress"')
    os.kill(process, number)
    assert ended(process, terminal=terminal) == 128 + number
    os.close(terminal)
    recording = next((tmp_path / "sessions").glob("*.jsonl")).read_bytes()
    assert b'"SessionEnded"' in recording.splitlines()[-1]


@pytest.mark.parametrize("way", ["close", "hang up"])
def test_a_terminal_that_goes_away_ends_the_program_and_loses_nothing(
    way: str, tmp_path: Path
) -> None:
    process, terminal = spawn(tmp_path, "Count")
    read_until(terminal, tmp_path, b'"ReplyProgress"')
    if way == "hang up":
        os.kill(process, signal.SIGHUP)
    os.close(terminal)
    assert ended(process) in (129, -signal.SIGHUP)
    recording = next((tmp_path / "sessions").glob("*.jsonl")).read_bytes()
    assert b'"ReplyFinished"' in recording
    assert b"one" in recording.rpartition(b'"ReplyFinished"')[2]
