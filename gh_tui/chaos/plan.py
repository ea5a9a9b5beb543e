"""The plan of one faulted session: a pure function of its seed."""

from __future__ import annotations

import functools
import random
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from gh_tui.providers.scripted import Reply

Kind = Literal[
    "supplement",
    "submit",
    "queue",
    "now",
    "cancel",
    "escape",
    "pause",
    "compact",
    "withdraw",
    "pin",
    "undo",
    "recall",
    "class",
    "approve",
    "crash",
]
Ending = Literal["drain", "close", "crash"]

LEAST = 3
"""Supplements of a run."""

_MOMENTS = (
    ("ReplyFinished", 6, 5),
    ("ReplyDelta", 6, 40),
    ("TaskFinished", 3, 3),
    ("RequestSent", 4, 6),
    ("TurnScored", 3, 12),
    ("TurnAdded", 3, 12),
    ("ToolRequested", 2, 5),
    ("ToolFinished", 3, 5),
    ("CycleStarted", 2, 5),
    ("SupplementScored", 2, 3),
    ("SupplementInjected", 2, 3),
    ("USER_SUPPLEMENTARY_INPUT", 1, 3),
    ("PassStarted", 1, 3),
    ("PassFinished", 1, 3),
    ("ProviderFailed", 1, 2),
    ("*", 3, 60),
)
"""Events after which something may happen: name, weight, and the highest count."""

_SOON = {"retry-after-ms": "4"}
_FAULTS = (
    (Reply(status=500, error={"message": "internal error"}, headers=_SOON), 5),
    (Reply(status=503, error={"message": "overloaded"}, headers=_SOON, delay=0.004), 2),
    (Reply(status=429, error={"message": "slow down"}, headers=_SOON), 2),
    (
        Reply(
            status=400,
            error={"message": "maximum context length", "code": "context_length_exceeded"},
        ),
        3,
    ),
    (Reply(text="Half of an answer that was", ending="cut", after=4), 4),
    (Reply(ending="cut", after=0), 2),
    (Reply(text="It ends too early", ending="no_marker"), 2),
    (Reply(text="And then the line is reset by", ending="reset", after=3), 2),
    (Reply(text="Silence follows here", ending="stall", after=3), 2),
    (Reply(text="An error inside", error={"message": "broken", "code": 500}), 2),
    (Reply(body="<html>proxy</html>", content_type="text/html"), 1),
)


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user, or fate, does at a moment that is tied to an event."""

    kind: Kind
    event: str
    """Wire name of the event that it follows; `*` for any."""
    count: int
    """The how-manieth such event of the whole run, from 1."""
    delay: float
    """Seconds after that event."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    seed: int
    inputs: tuple[str, ...]
    """The task, then what is said when the agent is idle."""
    actions: tuple[Action, ...]
    replies: tuple[Reply, ...]
    """What the server says, request by request; afterwards it answers plainly."""
    settings: tuple[str, ...]
    alternating: bool
    """The server refuses adjacent user messages."""
    ending: Ending


@functools.cache
def _said() -> dict[str, list[str]]:
    text = (resources.files("gh_tui.chaos") / "texts.toml").read_text(encoding="utf-8")
    said: dict[str, list[str]] = tomllib.loads(text)
    return said


def make_plan(seed: int, *, kill: bool = False) -> Plan:
    """The plan of a run.

    Args:
        seed: determines it.
        kill: for real processes: fewer kinds of actions, and always a crash.
    """
    chance = random.Random(seed)  # noqa: S311
    said = _said()
    texts = _supplements(chance)
    actions = [_at(chance, "supplement", text) for text in texts[:LEAST]]
    actions += [_speak(chance, text) for text in texts[LEAST:]]
    actions += _disturbances(chance, kill=kill)
    chance.shuffle(actions)
    retries = chance.random() < 0.2
    return Plan(
        seed=seed,
        inputs=(
            chance.choice(said["tasks"]),
            *chance.sample(said["follow_ups"], chance.choice((0, 1, 1, 2))),
        ),
        actions=tuple(actions),
        replies=tuple(_reply(chance, retries=retries) for _ in range(chance.randint(3, 9))),
        settings=_settings(chance, retries=retries, idle=1.0 if kill else 0.1),
        alternating=chance.random() < 0.15,
        ending=chance.choices(("drain", "close", "crash"), (8, 1, 1))[0],
    )


def answer(number: int) -> str:
    """A plain answer to a request."""
    answers = _said()["answers"]
    return answers[number % len(answers)]


def _supplements(chance: random.Random) -> list[str]:
    pool = _said()["supplements"]
    texts = chance.sample(pool, chance.choice((3, 4, 5, 6, 8)))
    if chance.random() < 0.1:
        texts[1] = texts[0]  # said twice
    if chance.random() < 0.1:
        texts[2] = f"{texts[2]} · " * 15
    return texts


def _speak(chance: random.Random, text: str) -> Action:
    kind: Kind = chance.choices(("supplement", "submit", "queue", "now"), (5, 3, 1, 1))[0]
    return _at(chance, kind, text)


def _disturbances(chance: random.Random, *, kill: bool) -> list[Action]:
    kinds: list[Kind] = ["cancel", "escape", "pause", "compact", "withdraw"]
    if not kill:
        kinds += ["pin", "undo", "recall", "class"]
    chosen = [kind for kind in kinds if chance.random() < 0.25]
    crashes = chance.choices((1, 2) if kill else (0, 1, 2), (4, 1) if kill else (3, 4, 1))[0]
    chosen += ["crash"] * crashes
    return [_at(chance, kind) for kind in chosen]


def _at(chance: random.Random, kind: Kind, text: str = "") -> Action:
    event, _, most = chance.choices(_MOMENTS, [weight for _, weight, _ in _MOMENTS])[0]
    delay = chance.choice((0.0, 0.0, 0.001, 0.002, chance.random() * 0.01))
    return Action(kind, event, chance.randint(1, most), delay, text)


def _reply(chance: random.Random, *, retries: bool) -> Reply:
    if chance.random() < 0.25:
        faults = [fault for fault in _FAULTS if not retries or fault[0].ending == "done"]
        return chance.choices([reply for reply, _ in faults], [weight for _, weight in faults])[0]
    pace: dict[str, Any] = {
        "delay": chance.choice((0.0, 0.0, 0.003, 0.01)),
        "first_delay": chance.choice((0.0, 0.0, 0.004)),
        "chunk_delay": chance.choice((0.0, 0.0, 0.001, 0.003)),
        "split": chance.choice((0, 0, 7)),
    }
    text = chance.choice(_said()["answers"])
    if chance.random() < 0.15:
        text = f"{text} " * 12
    if chance.random() < 0.45:
        return Reply(text=text, **pace)
    calls = [_call(chance, number) for number in range(chance.choice((1, 2, 2, 3, 5)))]
    return Reply(text=text if chance.random() < 0.5 else "", calls=calls, **pace)


def _call(chance: random.Random, number: int) -> dict[str, Any]:
    call = chance.choice(
        (
            ("list_files", {"path": "."}),
            ("read_file", {"path": "notes.txt"}),
            ("read_file", {"path": "../outside"}),
            ("calculator", {"expression": f"{number} * 17 + 2"}),
            ("now", {}),
            ("search_memory", {"query": "orders"}),
            ("recall", {"iri": "iri://session/none/turn/1"}),
            ("write_file", {"path": f"out{number}.txt", "content": "x\n"}),
            ("teleport", {}),
            ("read_file", '{"path": '),
        )
    )
    named = {"name": call[0], "arguments": call[1]}
    # Some servers count the calls of each reply anew, some name them apart.
    return named if chance.random() < 0.5 else {**named, "id": f"c{chance.randrange(10**9)}"}


def _settings(chance: random.Random, *, retries: bool, idle: float) -> tuple[str, ...]:
    chosen = [
        f"provider.retries={2 if retries else 0}",
        f"provider.idle_seconds={idle}",
        "provider.first_byte_seconds=5",
        "tools.approval_seconds=0.02",
        f"coherence.interval_seconds={chance.choice(('0.01', '0.05', '120'))}",
        f"coherence.each_input={chance.choice(('true', 'true', 'false'))}",
    ]
    if chance.random() < 0.3:
        chosen.append(f"context.budget={chance.choice((1200, 1600, 2400))}")
    if chance.random() < 0.2:
        chosen.append("eviction.eager=true")
    if chance.random() < 0.2:
        chosen.append("eviction.safe_window_seconds=0.02")
    if chance.random() < 0.15:
        chosen.append(f"eviction.max_messages={chance.choice((6, 10))}")
    if chance.random() < 0.15:
        chosen.append("standing.max=2")
    return tuple(chosen)
