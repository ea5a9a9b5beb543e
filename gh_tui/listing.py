"""What the headless commands print besides a session: records, states, scores, lists."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gh_tui.doctor import Finding
from gh_tui.errors import UsageError
from gh_tui.events.codec import plain
from gh_tui.events.state import SessionState, state_to_wire
from gh_tui.journal.reader import read_records
from gh_tui.plain import json_line, say
from gh_tui.session.catalog import list_sessions
from gh_tui.text import counted, visible

BATCH = 64
"""Lines that are scored at a time."""
LONGEST_LINE = 65_536
"""Bytes of a line that are read; the embedder takes less."""


def print_records(path: Path) -> int:
    """Print every readable record of a recording at once, in file order. The exit status."""
    good = bad = 0
    for record in read_records(path):
        if record.envelope is None:
            bad += 1
            continue
        good += 1
        print(json_line(json.loads(record.line)))
    _tell_skipped(path, bad)
    if not good:
        say(f"{path} holds no readable record")
    return 0 if good else 1


def _tell_skipped(path: Path, bad: int) -> None:
    if bad:
        lines = counted(bad, "line")
        say(f"{path}: {lines} could not be read and {'was' if bad == 1 else 'were'} left out")


def print_state(path: Path, to: int | None) -> int:
    """Print the state after a recording, or after record `to`, as one JSON object."""
    state = SessionState()
    seen = False
    bad = 0
    for record in read_records(path):
        if record.envelope is None:
            bad += 1
            continue
        if to is not None and (record.envelope.seq or 0) > to:
            break
        state.apply(record.envelope)
        seen = True
    _tell_skipped(path, bad)
    if not seen:
        say(f"{path} holds no readable record" + ("" if to is None else f" up to {to}"))
        return 1
    print(json_line(state_to_wire(state)))
    return 0


def print_scores(task: str, why: str, descriptor: int) -> int:
    """Score the non-empty lines that can be read as the inputs of one session.

    A JSON line each, as soon as the line is there; at most `BATCH` lines are held at a time.

    Args:
        task: what the session is for.
        why: may be empty.
        descriptor: where the lines come from.
    """
    from gh_tui.embedding.calibration import NATIVE
    from gh_tui.embedding.native import NativeEmbedder
    from gh_tui.embedding.service import EmbeddingService
    from gh_tui.memory.relevance import score_lines, tracker_of

    if not task.strip():
        raise UsageError("--task is empty")
    service = EmbeddingService(NativeEmbedder())
    try:
        # Read between the runs of the loop: there Ctrl+C ends a read at once.
        with asyncio.Runner() as runner:
            tracker = runner.run(tracker_of(service, NATIVE, task, why))
            for lines in _batches(descriptor):
                for score in runner.run(score_lines(service, tracker, lines)):
                    print(json_line(plain(score)))
                sys.stdout.flush()
    finally:
        service.close()
    return 0


def _batches(descriptor: int) -> Iterator[list[str]]:
    """The non-empty lines that have come, at most `BATCH` at a time."""
    rest, piece = b"", b"-"
    while piece:
        piece = os.read(descriptor, LONGEST_LINE)
        *lines, rest = (rest + piece).split(b"\n")
        if not piece:
            lines.append(rest)
        rest = rest[:LONGEST_LINE]
        texts = (line[:LONGEST_LINE].decode(errors="replace").strip() for line in lines)
        filled = (text for text in texts if text)
        while batch := list(itertools.islice(filled, BATCH)):
            yield batch


def print_sessions(folder: Path, *, as_json: bool) -> int:
    """List the recordings of a folder, newest first."""
    for info in list_sessions(folder):
        if as_json:
            fields = {"id": info.id, "path": str(info.path), "title": info.title}
            print(json_line({**fields, "pending": info.pending}))
        else:
            waiting = f"  ({info.pending} waiting)" if info.pending else ""
            print(f"{info.id}  {visible(info.title, keep_newlines=False)[:80]}{waiting}")
    return 0


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> int:
    """Print what the doctor found; 1 if something is missing."""
    for finding in findings:
        if as_json:
            print(json_line(plain(finding)))
            continue
        print(visible(f"{finding.status:8} {finding.name:12} {finding.found}"))
        if finding.todo:
            print(visible(f"{'':8} → {finding.todo}"))
    return 1 if any(finding.status == "missing" for finding in findings) else 0
