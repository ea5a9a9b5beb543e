"""The commands of the box, and what Enter will do with a given text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the hint list."""

    name: str
    arguments: str
    help: str


COMMANDS = (
    Command("/compact", "", "run a pass over the memory now"),
    Command("/now", "TEXT", "stop the running step and tell the agent at once"),
    Command("/queue", "TEXT", "an input for after this task"),
    Command("/pin", "IRI", "protect an entry; its number will do"),
    Command("/unpin", "IRI", "make it an ordinary entry"),
    Command("/recall", "IRI", "bring an entry back in full"),
    Command("/undo", "", "take back the last pass"),
    Command("/pause", "", "hold the agent between two cycles"),
    Command("/resume", "", "let it go on"),
    Command("/task", "TEXT", "refine the task"),
    Command("/rebase", "IRI", "make an input the task: the talk has moved on"),
    Command("/replaces", "ID", "this instruction replaces the older one it is close to"),
    Command("/adds", "ID", "it adds to the older one, or has nothing to do with it"),
    Command("/withdraw", "ID", "take a pending supplement back"),
    Command("/class", "ID CLASS", "change how an input was classified"),
    Command("/help", "", "every key and command"),
    Command("/exit", "", "end the session"),
)
"""What can be typed; `//` at the start escapes."""


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
