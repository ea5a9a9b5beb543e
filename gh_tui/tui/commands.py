"""The commands of the box, and what Enter will do with a given text."""

from __future__ import annotations

from dataclasses import dataclass

from gh_tui.agent.command_list import COMMANDS, Command

PAUSE_KEY = "F8"
"""Pauses and resumes."""


@dataclass(frozen=True, slots=True)
class Mode:
    """What decides what becomes of a text."""

    busy: bool = False
    """A task runs or is about to."""
    ready: bool = False
    """A model can be asked."""
    has_task: bool = False
    paused: bool = False
    """No further cycle begins until the user resumes."""
    waiting: int = 0
    """Accepted inputs that run before the next one, though nothing runs now."""
    deferred: int = 0
    """Inputs that the agent has and no request has carried."""


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


def enter_meaning(text: str, mode: Mode) -> str:
    """What Enter will do right now, as the title of the box."""
    if is_command(text):
        word = text.split()[0]
        known = any(command.name == word for command in COMMANDS)
        return f"Enter: run command {word}" if known else "Enter: run command"
    if mode.busy:
        when = f"you resume ({PAUSE_KEY})" if mode.paused else "its next step"
        word = "when" if mode.paused else "at"
        return f"Enter: supplement — the agent reads it {word} {when}"
    start = "Enter: send" if mode.has_task else "Enter: start a task"
    if mode.waiting == 1:
        return f"{start} — it runs after 1 input that waits; Esc takes that back"
    if mode.waiting:
        return f"{start} — it runs after {mode.waiting} inputs that wait; Esc takes them back"
    if mode.paused:
        return f"{start} — it waits until you resume ({PAUSE_KEY})"
    if mode.deferred:
        return f"{start} — what was not delivered goes with it"
    return start if mode.ready else f"{start} — it runs when the model is ready"


def other_keys(mode: Mode) -> list[str]:
    """What else can be done with a draft right now."""
    if mode.busy and mode.paused:
        return [
            f"{PAUSE_KEY} resumes",
            "Alt+N resumes and sends",
            "Alt+Q after this task",
            "Esc stops",
        ]
    if mode.busy:
        return ["Esc stops", "Alt+N at once", "Alt+Q after this task", "Ctrl+J newline"]
    if mode.paused:
        return [f"{PAUSE_KEY} resumes", "Alt+N resumes and sends", "Ctrl+J newline"]
    if mode.waiting or mode.deferred:
        return [f"{PAUSE_KEY} goes on with what waits", "Ctrl+J newline"]
    return ["Ctrl+J newline"]
