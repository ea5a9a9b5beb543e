"""read_file, list_files and write_file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from gh_tui.agent.tools.base import parameters
from gh_tui.agent.tools.workspace import Workspace
from gh_tui.providers.base import ToolSpec
from gh_tui.text import counted

_RUNS_LATER = re.compile(
    r"(^|/)(\.git(/|$)|\.envrc$|\.(bash|zsh|ksh|tcsh|csh)rc$|\.(bash_)?(profile|login|logout)$|\.(zprofile|zshenv|zlogin)$"
    r"|\.gitconfig$|\.ssh/|\.config/|\.github/|makefile$|\.pre-commit)",
    re.IGNORECASE,
)


class ReadFile:
    """`read_file(path)`: the text of a file in the workspace."""

    spec = ToolSpec(
        "read_file",
        "Read a text file of the workspace.",
        parameters({"path": "path relative to the workspace"}),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def preview(self, arguments: Mapping[str, Any]) -> None:
        """Reading inside the workspace needs no approval."""

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """The file's text."""
        text = await asyncio.to_thread(self._workspace.read, arguments["path"])
        return text or "[the file is empty]"


class ListFiles:
    """`list_files(path)`: the names in a folder of the workspace."""

    spec = ToolSpec(
        "list_files",
        "List a folder of the workspace.",
        parameters({"path": "folder relative to the workspace; . is the workspace"}),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def preview(self, arguments: Mapping[str, Any]) -> None:
        """Listing inside the workspace needs no approval."""

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """One name a line."""
        names = await asyncio.to_thread(self._workspace.list, arguments["path"])
        return "\n".join(names) or "[the folder is empty]"


class WriteFile:
    """`write_file(path, content)`: asks first, then writes whole or not at all."""

    spec = ToolSpec(
        "write_file",
        "Create or replace a text file of the workspace. The user is asked first.",
        parameters({"path": "path relative to the workspace", "content": "the whole new text"}),
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """What would be written where; warns where the file could run by itself later."""
        path = str(self._workspace.relative(arguments["path"]))
        content: str = arguments["content"]
        verb = "Replace" if self._workspace.exists(path) else "Create"
        lines = content.count("\n") + (not content.endswith("\n"))
        warning = ""
        if _RUNS_LATER.search(path):
            warning = "\nCareful: programs run or obey files of this name by themselves."
        size = f"{counted(lines, 'line')}, {counted(len(content), 'character')}"
        return f"{verb} {path} ({size}){warning}\n\n{content}"

    async def run(self, arguments: Mapping[str, Any]) -> str:
        """Say what was written."""
        path, content = arguments["path"], arguments["content"]
        await asyncio.to_thread(self._workspace.write, path, content)
        return f"Wrote {counted(len(content), 'character')} to {path}."
