"""The program as it is started: Ctrl+C while it loads, and a doctor for broken settings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gh_tui.cli import main

INTERRUPTED = """
import os, signal, sys

wanted = sys.argv.pop(1)

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run, it may be ignored
sys.meta_path.insert(0, Interrupt())
from gh_tui.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["gh_tui.cli", "gh_tui.settings.load", "gh_tui.listing"])
def test_ctrl_c_while_it_loads_leaves_no_trace(module: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, "sessions"],
        env={**os.environ, "GH_TUI_HOME": str(tmp_path)},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGINT
    assert done.stdout + done.stderr == b""


def test_a_doctor_looks_at_everything_when_the_settings_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GH_TUI_HOME", str(tmp_path))
    (tmp_path / "settings.toml").write_text("[provider\n", encoding="utf-8")
    assert main(["doctor", "--json"]) == 1
    out = capsys.readouterr().out
    findings = {item["name"]: item for item in map(json.loads, out.splitlines())}
    assert findings["settings"]["status"] == "missing"
    assert "settings.toml" in findings["settings"]["todo"]
    assert {"python", "provider", "embedder", "recordings"} <= set(findings)
