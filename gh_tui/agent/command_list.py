"""The slash commands by name: one list for the session, the hints and the help."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the list."""

    name: str
    arguments: str
    """Words in capitals; one in brackets may be left out."""
    help: str

    @property
    def usage(self) -> str:
        """As it is written, such as `/pin IRI`."""
        return f"{self.name} {self.arguments}".strip()

    @property
    def needs_arguments(self) -> bool:
        """Whether it cannot be written alone."""
        return bool(self.arguments) and not self.arguments.startswith("[")


COMMANDS = (
    Command("/compact", "", "run a pass over the memory now"),
    Command("/preview", "", "what the next pass would take, and what stays"),
    Command("/now", "TEXT", "tell the agent TEXT at once: stops the running step, ends a pause"),
    Command("/queue", "TEXT", "run TEXT after this task"),
    Command("/pin", "IRI", "protect a turn; its number will do"),
    Command("/unpin", "IRI", "make a pinned turn or an instruction an ordinary turn"),
    Command("/recall", "IRI", "bring a turn back in full"),
    Command("/attach", "IRI", "show a large input of yours by head, tail and IRI"),
    Command("/undo", "", "undo the latest pass"),
    Command("/pause", "", "wait before the next cycle"),
    Command("/resume", "", "go on, or try again after a failure"),
    Command("/task", "TEXT", "refine the task; its first wording stays in the session"),
    Command("/rebase", "[IRI]", "make an input the task: the talk has moved on"),
    Command("/replaces", "ID", "this instruction replaces the older one that it is close to"),
    Command("/adds", "ID", "it adds to the older one"),
    Command("/unrelated", "ID", "it has nothing to do with the older one"),
    Command("/withdraw", "ID", "take back an input that no request has carried"),
    Command("/class", "ID CLASS", "change how an input was understood"),
    Command("/help", "", "every command"),
    Command("/exit", "", "leave"),
)
"""What can be typed; `//` at the start escapes."""
SPEAKING = ("/now", "/queue")
"""Those whose argument is said to the agent."""
