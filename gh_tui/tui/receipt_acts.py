"""What the keys on a receipt ask of the session."""

from __future__ import annotations

from gh_tui.events.entries import SupplementState
from gh_tui.tui.ports import LiveSession
from gh_tui.tui.widgets.receipt_words import Receipt


async def take_back(session: LiveSession, entry: Receipt) -> str:
    """Withdraw an entry; its text.

    Raises:
        UsageError: if a request has carried it.
    """
    if isinstance(entry, SupplementState):
        return await session.withdraw(entry.id)
    await session.submit(f"/withdraw {entry.id}")
    return entry.text


def command_for(action: str, entry: Receipt) -> str | None:
    """The command that does what a key on a receipt means; None if there is nothing to do."""
    if not isinstance(entry, SupplementState):
        return None
    match action:
        case "accept" if entry.suggested:
            return f"/class {entry.id} {entry.suggested}"
        case "pin" | "unpin" if entry.iri is not None:
            return f"/{action} {entry.iri}"
        case "replaces" | "adds" | "unrelated" if entry.related is not None:
            return f"/{action} {entry.id}"
        case _:
            return None
