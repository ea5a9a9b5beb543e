"""`gh-tui run --json` as a program of its own: what it says, records and returns."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gh_tui.cli import main
from gh_tui.providers.scripted import Script, ScriptedServer


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run of the program left."""

    status: int
    events: list[dict[str, Any]]
    complaints: str
    recordings: list[Path]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a type, in order."""
        return [event for event in self.events if event["type"] == kind]


async def headless(home: Path, *words: str, lines: list[dict[str, Any]] | None = None) -> Ended:
    """Run `gh-tui run --json` in `home` with commands on stdin, then end of file."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gh_tui.cli", "run", "--json", *words),
        env={**os.environ, "GH_TUI_HOME": str(home)},
        cwd=home,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said = "".join(json.dumps(line) + "\n" for line in lines or [])
    async with asyncio.timeout(60):
        out, err = await process.communicate(said.encode())
    return Ended(
        process.returncode or 0,
        [json.loads(line) for line in out.splitlines()],
        err.decode(),
        sorted((home / "sessions").glob("*.jsonl")),
    )


def user(text: str, name: str) -> dict[str, Any]:
    return {"type": "user_input", "text": text, "id": name}


def test_unreadable_lines_are_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus_line = '{"v":1,"seq":%d,"time":"2026-01-01T00:00:00Z","session":"s","type":"CycleStarted"'
    good = [(bus_line % seq) + ',"cycle":1}' for seq in (1, 2)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([good[0], '{"v":9,"type":"Unknown","seq":11}', "{", good[1], ""]))
    for flags, lines in ((["--json"], good), (["--state"], None)):
        assert main(["replay", *flags, str(path)]) == 0
        out, err = capsys.readouterr()
        assert "2 lines could not be read and were left out" in err
        assert lines is None or out.splitlines() == lines


async def with_server(
    home: Path, script: Script, lines: list[dict[str, Any]], *words: str
) -> Ended:
    async with ScriptedServer(script) as server:
        address = server.base_url.replace("http://", "http://usr:SECRETPW9@")
        flags = ("--base-url", f"{address}?token=SECRETTOK9", "--model", "scripted")
        return await headless(home, *flags, *words, lines=lines)


async def test_after_a_failure_what_waits_is_told_with_the_way_on(tmp_path: Path) -> None:
    script: Script = [{"status": 400, "error": {"message": "no"}, "delay": 0.3}]
    said = [user("first", "c1"), user("second", "c2"), user("third", "c3")]
    done = await with_server(tmp_path, script, [*said, user("/pin iri://bogus", "c4")])
    assert done.status == 1
    session = done.recordings[0].stem
    told = [event["text"] for event in done.of("Notice") if "wait" in event["text"]]
    assert len(told) == 1
    assert "«second», «third»" in told[0]
    assert f"gh-tui resume {session}" in told[0]
    assert told[0] in done.complaints

    refused = [event for event in done.of("Notice") if event["client_id"] == "c4"]
    assert len(refused) == 1
    seqs = [event["seq"] for event in done.events if event["type"] != "ReplyDelta"]
    assert seqs == list(range(1, len(seqs) + 1)), "the answer to a command has its number"

    recorded = done.recordings[0].read_text()
    assert "SECRET" not in recorded + done.complaints + json.dumps(done.events)
    assert "http://127.0.0.1:" in recorded
