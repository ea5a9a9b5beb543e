"""What this machine has of what the program needs, and what to do about the rest."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gh_tui.errors import EmbeddingError, GhError
from gh_tui.settings.model import Settings
from gh_tui.settings.paths import Paths

Status = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    status: Status
    found: str
    todo: str = ""
    """What to do; empty if nothing."""


async def examine(
    settings: Settings,
    paths: Paths,
    environ: Mapping[str, str] = os.environ,
    *,
    fault: str = "",
) -> list[Finding]:
    """Look at Python, settings, provider, local model, embedder, folders and terminal.

    Args:
        settings: those in force; the defaults if they could not be read.
        paths: where things are kept.
        environ: the environment.
        fault: why the settings could not be read.
    """
    wrong = Finding("settings", "missing", "cannot be read: looked at with the defaults", fault)
    return [
        _python(),
        *([wrong] if fault else []),
        await _provider(settings, environ),
        _local(settings),
        await _embedder(),
        _folder("settings folder", paths.config),
        _folder("recordings", paths.sessions),
        _terminal(environ),
    ]


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} at {sys.prefix}")


async def _provider(settings: Settings, environ: Mapping[str, str]) -> Finding:
    from gh_tui.providers.select import open_provider

    try:
        opened = await open_provider(settings, environ)
    except GhError as error:
        return Finding("provider", "missing", "none", str(error))
    found = f"{opened.name}, {opened.provider.model} ({opened.reason})"
    await opened.aclose()
    return Finding("provider", "ok", found)


def _local(settings: Settings) -> Finding:
    from gh_tui.providers.local.machine import local_missing

    missing = local_missing(settings.provider.model_path)
    if missing:
        return Finding("local model", "warning", "cannot run here", "; ".join(missing))
    return Finding("local model", "ok", "can run here")


async def _embedder() -> Finding:
    from gh_tui.embedding.native import NativeEmbedder
    from gh_tui.embedding.service import EmbeddingService

    service = EmbeddingService(NativeEmbedder())
    try:
        await service.warm_up()
    except EmbeddingError as error:
        return Finding("embedder", "missing", str(error), "install the program again with pip")
    finally:
        service.close()
    return Finding("embedder", "ok", f"{service.name}, {service.dim} dimensions")


def _folder(name: str, folder: Path) -> Finding:
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not os.access(nearest, os.W_OK | os.X_OK):
        todo = "make it writable, or set GH_TUI_HOME to a folder of yours"
        return Finding(name, "warning", f"{folder} is not writable", todo)
    free = shutil.disk_usage(nearest).free
    if free < 100_000_000:
        return Finding(name, "warning", f"{folder}: {free / 1e6:.0f} MB free", "make space")
    return Finding(name, "ok", str(folder))


def _terminal(environ: Mapping[str, str]) -> Finding:
    kind = environ.get("TERM", "")
    if not sys.stdout.isatty():
        return Finding("terminal", "ok", "no terminal: only the headless commands work here")
    size = shutil.get_terminal_size()
    found = f"{kind}, {size.columns}x{size.lines}"
    if kind in ("", "dumb"):
        return Finding("terminal", "warning", found, "set TERM, for example to xterm-256color")
    if size.columns < 80 or size.lines < 24:
        return Finding("terminal", "warning", found, "80x24 or more is comfortable")
    return Finding("terminal", "ok", found)
