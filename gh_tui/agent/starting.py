"""What a session says of itself when it starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gh_tui.context.window import Budget
from gh_tui.events import types as ev
from gh_tui.events.codec import plain
from gh_tui.net.address import normalise_base_url, shown
from gh_tui.providers.select import Opened
from gh_tui.settings.model import Settings


def session_started(
    settings: Settings, opened: Opened, budget: Budget, embedder: str
) -> ev.SessionStarted:
    """The event that opens a recording.

    Args:
        settings: all settings; of an address, what may be shown is kept.
        opened: the chosen provider.
        budget: names the window and its source.
        embedder: the embedder's name.
    """
    return ev.SessionStarted(
        provider=opened.name,
        model=opened.provider.model,
        window=budget.window,
        window_source=budget.source,
        embedder=embedder,
        settings=_on_wire(settings),
        reason=opened.reason,
    )


def _on_wire(settings: Settings) -> dict[str, Any]:
    """Settings as JSON types: paths as text, addresses without user, password and query."""
    if settings.provider.base_url:
        address = shown(normalise_base_url(settings.provider.base_url))
        settings = replace(settings, provider=replace(settings.provider, base_url=address))
    return {
        section: {
            name: str(value) if isinstance(value, Path) else value for name, value in fields.items()
        }
        for section, fields in plain(settings).items()
    }
