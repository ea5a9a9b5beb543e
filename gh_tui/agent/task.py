"""What a session is for, found in the first input by rules."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

from gh_tui.events.values import Task

_LONGEST = 2000
"""Characters of the input that are searched; a pasted file is not the task's frame."""
_TRIM = " \t\r\n,;:，、；：\"'`"


class TaskRules:
    """Finds why, who, when, where, how and how much in the first input of a session."""

    def __init__(self, rules: Mapping[str, Sequence[str]]) -> None:
        """Compile the rules.

        Args:
            rules: for each part of `Task` but `what`, patterns whose first group is the part.
        """
        self._rules = {
            name: tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
            for name, patterns in rules.items()
        }

    def from_input(self, text: str) -> Task:
        """The task an input states: `what` is the input verbatim, the rest may be empty.

        Only what a marker names is taken ("because …", "为了…", "paling lambat …").
        """
        head = text[:_LONGEST]
        return Task(
            what=text,
            why=self._find("why", head),
            who=self._find("who", head),
            when=self._find("when", head),
            where=self._find("where", head),
            how=self._find("how", head),
            how_much=self._find("how_much", head),
        )

    def _find(self, part: str, text: str) -> str:
        for pattern in self._rules.get(part, ()):
            match = pattern.search(text)
            if match is not None:
                return match.group(1).strip(_TRIM)
        return ""


def task_from_input(text: str) -> Task:
    """The task that the first input of a session states, by the rules of the program."""
    rules = resources.files("gh_tui.agent").joinpath("task_rules.toml").read_text("utf-8")
    return TaskRules(tomllib.loads(rules)).from_input(text)
