"""Drift in agent sessions of our own: is a change of topic found where it is, and nothing else?

    python -m tests.benchmarks.drift

The 108 sessions in `drift_sessions.json` were written by people who did not know the rules: a
drift after some inputs, after one or two, to a neighbouring task of the same trade; and none,
with work that evolves, with one or two remarks on the weather or lunch, with short follow-ups.
They are fed as the program would, with its default settings. The certainty that a shift needs
was chosen with them in view; no weight was fitted on them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from gh_tui.memory.coherence import CoherenceTurn, TopicCoherence, first_sentence
from gh_tui.memory.coherence.types import RuleName
from gh_tui.memory.continuations import is_slight
from tests.benchmarks.report import Kind, Row, Table, mean, render
from tests.benchmarks.topic_shift import Vectors

DRIFTS: Final = ("drift", "early drift", "near drift")
QUIET: Final = ("steady", "remarks", "followups")
_SESSIONS = Path(__file__).with_name("drift_sessions.json")


@dataclass(frozen=True, slots=True)
class Written:
    """One session: what the user says with the agent's answers."""

    name: str
    kind: str
    boundary: int | None
    """The index of the first input of another topic."""
    turns: tuple[tuple[str, str], ...]

    def texts(self) -> list[str]:
        """All whose vectors a rule wants."""
        said = [text for turn in self.turns for text in turn]
        return [*said, *(first_sentence(asked) for asked, _ in self.turns)]


def load() -> tuple[Written, ...]:
    """The sessions in the order in which they were written."""
    return tuple(
        Written(
            one["id"],
            one["kind"],
            one["boundary"],
            tuple((said, told) for said, told in one["turns"]),
        )
        for one in json.loads(_SESSIONS.read_text("utf-8"))
    )


def boundaries(session: Written, rule: RuleName, vectors: Vectors) -> list[int]:
    """The inputs at which the rule confirmed that a topic began."""
    watch, found = TopicCoherence(rule), []
    for index, (said, answer) in enumerate(session.turns):
        if not is_slight(said):
            head = vectors[first_sentence(said)]
            asked = CoherenceTurn(f"{index}", "user", said, vectors[said], True, head)
            if (shift := watch.observe(asked).shift) is not None:
                found.append(int(shift.boundary_iri))
        watch.observe(CoherenceTurn(f"a{index}", "assistant", answer, vectors[answer], False))
    return found


def measure() -> list[Table]:
    """The share of drifts found at their input, and of quiet sessions with a false alarm."""
    sessions, vectors = load(), Vectors()
    vectors.learn(text for one in sessions for text in one.texts())
    kinds: dict[bool, Kind] = {True: "baseline", False: "also"}
    rows = tuple(
        Row(rule, kinds[rule == "adjacent"], len(sessions), _figures(sessions, rule, vectors))
        for rule in get_args(RuleName)
    )
    heads = (*(f"{kind} found" for kind in DRIFTS), *(f"alarms, {kind}" for kind in QUIET))
    return [Table("Drift in sessions of our own", heads, rows, items="sessions")]


def _figures(
    sessions: Sequence[Written], rule: RuleName, vectors: Vectors
) -> tuple[float | None, ...]:
    hits: dict[str, list[bool]] = {kind: [] for kind in (*DRIFTS, *QUIET)}
    for one in sessions:
        found = boundaries(one, rule, vectors)
        hits[one.kind].append(bool(found) if one.boundary is None else one.boundary in found)
    return tuple(mean(values) for values in hits.values())


if __name__ == "__main__":
    print("\n\n".join(render(table) for table in measure()))
