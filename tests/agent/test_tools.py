"""The agent's tools: confined to the workspace, bounded, and honest about failures."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.agent.tools.base import check_arguments
from gh_tui.agent.tools.calculator import calculate
from gh_tui.agent.tools.files import ListFiles, ReadFile, WriteFile
from gh_tui.agent.tools.workspace import MAX_READ, Workspace
from gh_tui.errors import ToolError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.txt").write_text("inside\n")
    (tmp_path / "secret.txt").write_text("outside\n")
    return Workspace(root)


def link_out(root: Path) -> str:
    (root / "link").symlink_to(root.parent / "secret.txt")
    return "link"


def link_folder_out(root: Path) -> str:
    (root / "folder").symlink_to(root.parent)
    return "folder/secret.txt"


def absolute(root: Path) -> str:
    return str(root.parent / "secret.txt")


ESCAPES = [lambda root: "../secret.txt", absolute, link_out, link_folder_out, lambda root: "a\0b"]


@pytest.mark.parametrize("escape", ESCAPES)
async def test_nothing_outside_is_read_or_written(
    workspace: Workspace, escape: Callable[[Path], str]
) -> None:
    path = escape(workspace.root)
    with pytest.raises(ToolError):
        await ReadFile(workspace).run({"path": path})
    with pytest.raises(ToolError):
        WriteFile(workspace).preview({"path": path, "content": "x"})
    with pytest.raises(ToolError):
        await WriteFile(workspace).run({"path": path, "content": "x"})
    assert (workspace.root.parent / "secret.txt").read_text() == "outside\n"


async def test_links_inside_are_followed(workspace: Workspace) -> None:
    (workspace.root / "same").symlink_to("a.txt")
    assert await ReadFile(workspace).run({"path": "same"}) == "inside\n"


async def test_a_link_swapped_in_after_the_check_is_not_followed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    relative = workspace.relative

    def swapped(path: str) -> Path:
        checked = relative(path)
        (workspace.root / "a.txt").unlink()
        (workspace.root / "a.txt").symlink_to(workspace.root.parent / "secret.txt")
        return checked

    monkeypatch.setattr(workspace, "relative", swapped)
    with pytest.raises(ToolError):
        workspace.read("a.txt")


@pytest.mark.parametrize("path", ["fifo", "folder", "missing", "."])
async def test_what_is_no_regular_file_is_refused_at_once(workspace: Workspace, path: str) -> None:
    os.mkfifo(workspace.root / "fifo")
    (workspace.root / "folder").mkdir()
    with pytest.raises(ToolError):
        await ReadFile(workspace).run({"path": path})


def test_devices_are_refused() -> None:
    with pytest.raises(ToolError, match="regular"):
        Workspace(Path("/dev")).read("zero")


async def test_a_huge_file_is_read_in_part_and_says_so(workspace: Workspace) -> None:
    (workspace.root / "big").write_bytes(b"x" * (MAX_READ + 5))
    text = await ReadFile(workspace).run({"path": "big"})
    assert len(text) < MAX_READ + 100
    assert "goes on" in text


async def test_writing_is_whole_or_not_at_all_and_keeps_the_mode(workspace: Workspace) -> None:
    tool = WriteFile(workspace)
    (workspace.root / "run.sh").write_text("old")
    (workspace.root / "run.sh").chmod(0o755)
    await tool.run({"path": "run.sh", "content": "new\n"})
    assert (workspace.root / "run.sh").read_text() == "new\n"
    assert (workspace.root / "run.sh").stat().st_mode & 0o777 == 0o755
    await tool.run({"path": "deep/er/new.txt", "content": "终\n"})
    assert (workspace.root / "deep/er/new.txt").read_text(encoding="utf-8") == "终\n"
    with pytest.raises(ToolError):
        await tool.run({"path": "bad.txt", "content": "\ud800"})
    assert not (workspace.root / "bad.txt").exists()
    names = await ListFiles(workspace).run({"path": "."})
    assert names.splitlines() == ["a.txt", "deep/", "run.sh"]


def test_a_write_shows_the_whole_effect_and_warns_of_files_that_run(workspace: Workspace) -> None:
    tool = WriteFile(workspace)
    assert tool.preview({"path": "a.txt", "content": "x\ny"}).startswith("Replace a.txt (2 lines")
    for path in (".git/hooks/pre-commit", ".GIT/HOOKS/x", ".bashrc", "sub/.zshrc", ".profile"):
        assert "Careful" in tool.preview({"path": path, "content": "rm -rf /"})
    assert "Careful" not in tool.preview({"path": "notes.md", "content": "x"})


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [({}, "needs"), ({"path": 3}, "type string"), ({"path": "a", "mode": "w"}, "no argument")],
)
def test_arguments_are_held_against_the_schema(arguments: dict[str, object], hint: str) -> None:
    with pytest.raises(ToolError, match=hint):
        check_arguments(ReadFile.spec, arguments)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(3 + 4) ** 2 / 7", 7.0),
        ("2^10", 1024),
        ("-7 // 2", -4),
        ("sqrt(16) + max(1, 2)", 6.0),
        ("3 × 4 ÷ 2", 6.0),
        ("10 % 4", 2),
    ],
)
def test_arithmetic(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('id')",
        "9 ** 9 ** 9",
        "1 / 0",
        "(-8) ** 0.5",
        "open('x')",
        "[1]*9**9",
        "x",
        "",
        "1 if 1 else 2",
        "'a' * 100",
        "(" * 300,
        "1+" * 400 + "1",
        "True + 1",
    ],
)
def test_what_is_not_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ToolError):
        calculate(expression)


@given(st.text("0123456789+-*/%()., e", max_size=60))
def test_any_text_is_a_number_or_a_tool_error(expression: str) -> None:
    try:
        assert isinstance(calculate(expression), int | float)
    except ToolError:
        return
