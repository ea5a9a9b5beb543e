"""Random sessions: what users, models and passes may do in any order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from gh_tui.errors import MemoryFullError
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.settings.model import PolicyName

from .sessions import Talk

LONG = "The parser reads the file line by line and keeps the state of each open block. " * 4
KINDS = (
    *("user", "standing", "supplement", "assistant", "exchange", "open"),
    *("pass", "overflow", "recall", "undo", "pin", "demote", "topic", "replace"),
    *("task", "class"),
)
Story = list[tuple[str, int]]

stories: st.SearchStrategy[Story] = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 40)), max_size=40
)


def play(story: Story, check: Callable[[Talk], None], policy: PolicyName = "fusion") -> Talk:
    """Act a story out; `check` is called after each step."""
    talk = Talk(EvictionConfig(policy=policy, keep_tool_results=2, preserve_recent=2))
    talk.say("user", "Fix the parser.", is_task=True)
    for kind, number in story:
        if not _speak(talk, kind, number):
            _act(talk, kind, number)
        check(talk)
    return talk


def _speak(talk: Talk, kind: str, number: int) -> bool:
    score = None if number % 10 == 7 else (number % 10) / 10
    text = f"{number} {LONG}"[: 20 + 10 * number]
    match kind:
        case "user" | "standing" | "supplement":
            talk.say(
                "user",
                text,
                score=score,
                standing=kind == "standing",
                is_supplement=kind == "supplement",
            )
        case "assistant":
            talk.say("assistant", text, score=score)
        case "exchange":
            talk.exchange(*[text * 3] * (1 + number % 3), score=score)
        case "open":
            talk.call(1 + number % 2, text, score=score)
        case _:
            return False
    return True


def _act(talk: Talk, kind: str, number: int) -> None:
    iri = talk.l1.turns[number % len(talk.l1)].iri
    now = talk.now + 50 * number
    match kind:
        case "pass":
            talk.run("command", budget=50 + 30 * number, now=now)
        case "overflow":
            talk.run("overflow", budget=50 + 30 * number, fits=50 + 30 * number, now=now)
        case "topic":
            talk.run("topic", proposed=(iri,), budget=10_000, now=now)
        case "recall":
            talk.l1.recall(iri, now)
        case "undo":
            talk.undo(now)
        case "pin":
            try:
                talk.l1.pin(iri, now, budget=400)
            except MemoryFullError:
                assert talk.l1.protected_tokens() <= 100 or not talk.l1.turn(iri).pinned
        case _:
            _say_of(talk, kind, iri, number)


def _say_of(talk: Talk, kind: str, iri: str, number: int) -> None:
    """What the user says of a turn: what it is, or what it is no more."""
    turn, latest = talk.l1.turn(iri), talk.l1.latest_input
    match kind:
        case "demote" if not turn.is_task:
            talk.l1.demote(iri)
        case "task" if turn.role == "user":
            talk.l1.set_task(iri)
        case "class" if turn.role == "user":
            talk.l1.set_standing(iri, number % 2 == 0)
        case "replace" if latest is not None and latest.iri != iri and turn.instructs:
            talk.l1.replace_instruction(iri, latest.iri)
        case _:
            pass
