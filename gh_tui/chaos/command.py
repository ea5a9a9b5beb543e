"""`gh-tui chaos`: run the campaign and print what came of it."""

from __future__ import annotations

import sys

from gh_tui.chaos.campaign import Totals, campaign, kill_campaign
from gh_tui.events.codec import plain
from gh_tui.plain import json_line, say

_EVERY = 100


def run_chaos(runs: int, seed: int, *, kill: bool, as_json: bool) -> int:
    """Run faulted sessions with the seeds from `seed` on; the totals are the last line.

    Args:
        runs: how many.
        seed: the first seed; each run adds one, so a failing run is `--runs 1 --seed ITS_SEED`.
        kill: with real processes and SIGKILL.
        as_json: a line for each run as well.

    Returns:
        0 if every promise was kept, else 1.
    """
    totals = Totals()
    seeds = range(seed, seed + runs)
    for number, verdict in kill_campaign(seeds) if kill else campaign(seeds):
        totals.add(number, verdict)
        if as_json:
            _print({"seed": number, **plain(verdict), "lost": verdict.lost})
        elif verdict.faults:
            say(f"seed {number}: {'; '.join(verdict.faults)}")
        if not as_json and totals.runs % _EVERY == 0:
            say(f"{totals.runs} of {runs} runs, {totals.lost} lost")
    _print(plain(totals))
    return 0 if totals.clean else 1


def _print(value: object) -> None:
    sys.stdout.write(json_line(value) + "\n")
    sys.stdout.flush()
