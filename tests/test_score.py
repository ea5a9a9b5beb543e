"""`gh-tui score` as a filter in a pipe."""

from __future__ import annotations

import json
import subprocess
import sys

from gh_tui.listing import BATCH

COMMAND = (sys.executable, "-m", "gh_tui.cli", "score", "--task", "Write tests for the parser")


def test_each_line_is_answered_while_the_next_is_awaited() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found = []
        for line in ("Add a test for empty input", "I am hungry", "continue"):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            found.append(json.loads(process.stdout.readline()))
        process.stdin.close()
    assert process.returncode == 0
    work, talk, on = (score["relevance_score"] for score in found)
    assert talk < 0.3 <= work == on


def test_many_lines_are_scored_as_one_session_whatever_their_form() -> None:
    words = b"Add a test for empty input\r\n\n  I am hungry\n" + b"continue\n" * (2 * BATCH)
    words += b"a line that is not UTF-8 \xff and \xe4\xb8" + b" long" * 40_000 + b"\n continue"
    done = subprocess.run(COMMAND, input=words, capture_output=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 2 + 2 * BATCH + 2
    on = [score for score in found if score["basis"].startswith("inherited")]
    assert {score["relevance_score"] for score in on[:-1]} == {found[0]["relevance_score"]}
