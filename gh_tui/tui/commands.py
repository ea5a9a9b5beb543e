"""The commands of the box, and what Enter will do with a given text."""

from __future__ import annotations

from gh_tui.agent.command_list import COMMANDS, Command


def is_command(text: str) -> bool:
    """Whether Enter would run `text` as a command."""
    stripped = text.lstrip()
    return stripped.startswith("/") and not stripped.startswith("//")


def matching(text: str) -> tuple[Command, ...]:
    """The commands that the first word of a draft may become, at most all of them."""
    if not is_command(text) or "\n" in text:
        return ()
    word, space, _ = text.lstrip().partition(" ")
    if space:
        return tuple(c for c in COMMANDS if c.name == word)
    return tuple(c for c in COMMANDS if c.name.startswith(word))


def completed(text: str) -> str | None:
    """The draft with its command written out, if the first word begins just one; else None."""
    found = matching(text)
    if len(found) != 1 or text.lstrip() != text.strip() or " " in text.strip():
        return None
    name = found[0].name + (" " if found[0].arguments else "")
    return name if name != text else None


def enter_meaning(text: str, *, busy: bool, ready: bool, has_task: bool) -> str:
    """What Enter will do right now, as the title of the box."""
    if is_command(text):
        word = text.split()[0]
        known = any(command.name == word for command in COMMANDS)
        return f"Enter: run command {word}" if known else "Enter: run command"
    if busy:
        return "Enter: supplement — the agent reads it at its next step"
    start = "Enter: send" if has_task else "Enter: start a task"
    return start if ready else f"{start} — it runs when the model is ready"
