"""The default rule: what stands before a gap against what follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gh_tui.memory.coherence.departure import (
    Exchange,
    SmallTalk,
    belongs_later,
    departure,
    is_filler,
)
from gh_tui.memory.coherence.gaps import LOOK_AHEAD, GapWindow
from gh_tui.memory.coherence.types import CoherenceTurn, Floats, Shift, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gh_tui.memory.coherence.profile import Profile

_NEW_INPUTS = LOOK_AHEAD + 1
_REACH = 24
_SAME = 0.9
_EARLY = 0.7
"""How sure it must be while the topic has few inputs: the first ones are often far apart."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A turn of the topic; `head` is the vector of its first sentence."""

    iri: str
    vector: Floats
    head: Floats
    is_input: bool


class SessionContrast:
    """Decides by certainty: an agent session, in which most inputs serve one task.

    The turns of the topic so far are weighed against the one, two and three latest inputs and
    the agent's answers to them. With one or two a boundary is provisional; only the third
    confirms it. Small talk with its answers, and agent turns that are filler or say the same again,
    are left out.
    """

    def __init__(
        self, profile: Profile, *, certainty: float, quiet_inputs: int, cooldown_inputs: int
    ) -> None:
        self._profile = profile
        self._talk = SmallTalk(profile)
        self._limit = certainty
        self._quiet = quiet_inputs
        self._cooldown = cooldown_inputs
        self._least = 1
        self._turns: list[_Kept] = []
        self.provisional: str | None = None

    def restart(self, task: Floats | None) -> None:
        """Begin a new topic, with the vector of its task if it is known."""
        self._turns = [] if task is None else [_Kept("", task, task, is_input=True)]
        self._least = 1
        self.provisional = None

    def observe(self, turn: CoherenceTurn, vector: Floats, head: Floats) -> Shift | None:
        """Take the next turn; the shift it confirms, if any."""
        if self._talk.covers(vector, is_input=turn.is_input):
            return None
        if not turn.is_input and not self._says_something(vector):
            return None
        self._turns.append(_Kept(turn.iri, vector, head, turn.is_input))
        self.provisional = None
        places = [i for i, kept in enumerate(self._turns) if kept.is_input]
        for new in range(min(_NEW_INPUTS, len(places) - self._least), 0, -1):
            latest = places[-new:]
            limit = self._limit if len(places) - new >= self._quiet else max(self._limit, _EARLY)
            if self._certainty(latest) < limit or self._begins_later(latest):
                continue
            if new == _NEW_INPUTS and turn.is_input:
                return self._confirm(self._from_its_start(places, latest), limit)
            self.provisional = self._turns[latest[0]].iri
            break
        return None

    def _says_something(self, vector: Floats) -> bool:
        if is_filler(self._profile, vector):
            return False
        agent = [kept.vector for kept in self._turns if not kept.is_input]
        return not agent or float((np.array(agent) @ vector).max()) < _SAME

    def _begins_later(self, places: list[int]) -> bool:
        """Whether the next input is the better boundary, judged with as many inputs each."""
        later = self._certainty(places[1:]) if len(places) > 1 else 0.0
        return later >= self._limit and later > self._certainty(places[:-1])

    def _from_its_start(self, places: list[int], latest: list[int]) -> list[int]:
        """The same inputs with those before them that belong to them rather than to the topic."""
        first = len(places) - len(latest)
        while first > 1:
            start, end = places[first - 1], places[first]
            before, after = _exchanges(self._turns[:start]), _exchanges(self._turns[end:])
            here = _exchanges(self._turns[start:end])[0]
            if not belongs_later(self._profile, here, before, after):
                break
            first -= 1
        return places[first:]

    def _certainty(self, places: list[int]) -> float:
        """That a topic begins at the first of these turns; the last are its inputs so far."""
        first = places[0]
        before = [self._turns[0], *self._turns[max(1, first - _REACH) : first]]
        after = self._turns[first : self._end(places[-1])]
        return departure(self._profile, _exchanges(before), _exchanges(after))

    def _end(self, place: int) -> int:
        """Where the next input stands, or would."""
        later = (i for i in range(place + 1, len(self._turns)) if self._turns[i].is_input)
        return next(later, len(self._turns))

    def _confirm(self, places: list[int], limit: float) -> Shift:
        boundary = self._turns[places[0]].iri
        coherences = tuple(1.0 - self._certainty(places[:new]) for new in range(1, _NEW_INPUTS + 1))
        del self._turns[: places[0]]
        self._least = self._cooldown
        return Shift(boundary, coherences, 1.0 - limit, "contrast")


def _exchanges(turns: Sequence[_Kept]) -> list[Exchange]:
    """Inputs with the agent's turns that follow each; turns before the first go to it."""
    places = [i for i, kept in enumerate(turns) if kept.is_input]
    found: list[Exchange] = []
    for place, end in zip(places, [*places[1:], len(turns)], strict=True):
        start = place if found else 0
        answers = tuple(kept.vector for kept in turns[start:end] if not kept.is_input)
        found.append(Exchange(turns[place].vector, turns[place].head, answers))
    return found


class DialogueContrast:
    """Decides by rank: a dialogue that wanders from topic to topic.

    A gap is a boundary when the closeness of its two sides is below a percentile of the
    closeness at this dialogue's gaps so far, and lower than at both neighbouring gaps.
    """

    def __init__(self, profile: Profile, *, percentile: float) -> None:
        self._window = GapWindow(profile)
        self._percentile = percentile
        self._prior = profile.quantiles
        self._known: list[float] = []
        self._inputs: list[CoherenceTurn] = []
        self._before: float | None = None
        self.provisional: str | None = None

    def restart(self, task: Floats | None) -> None:
        """Forget open gaps; what is usual in this dialogue stays known."""
        del task
        self._inputs = []
        self._before = None
        self.provisional = None

    def observe(self, turn: CoherenceTurn, vector: Floats, head: Floats) -> Shift | None:
        """Take the next turn; the shift it confirms, if any."""
        del head
        self._window.add(turn, vector)
        self._inputs = [*self._inputs, turn][-(LOOK_AHEAD + 2) :]
        shift = None
        if len(self._inputs) > LOOK_AHEAD + 1:
            shift = self._decide(LOOK_AHEAD + 1)
        self.provisional = self._candidate()
        return shift

    def _decide(self, after: int) -> Shift | None:
        here = self._window.closeness(after)
        head = self._inputs[-after]
        if head.is_input:
            self._known.append(here)
        threshold = self._threshold()
        before, self._before = self._before, here
        if not head.is_input or here >= threshold:
            return None
        if before is not None and here > before:
            return None
        if here >= self._window.closeness(after - 1):
            return None
        return Shift(head.iri, (here,), threshold, "contrast")

    def _candidate(self) -> str | None:
        """The lowest of the gaps that are still open, if it would pass by what is known."""
        spans = range(1, min(LOOK_AHEAD, len(self._inputs) - 1) + 1)
        values = {after: self._window.closeness(after) for after in spans}
        if not values:
            return None
        after = min(values, key=values.__getitem__)
        head = self._inputs[-after]
        if not head.is_input or values[after] >= self._threshold():
            return None
        falls = self._before is None or values[after] <= self._before
        return head.iri if falls else None

    def _threshold(self) -> float:
        return float(np.percentile([*self._prior, *self._known], self._percentile))


class ContrastRule:
    """Checks vectors and hands turns to the decision that fits the kind of conversation."""

    def __init__(
        self,
        profile: Profile,
        decision: SessionContrast | DialogueContrast,
    ) -> None:
        self._profile = profile
        self._decision = decision

    @property
    def provisional(self) -> str | None:
        """The input that may have opened a new topic."""
        return self._decision.provisional

    def restart(self, task: Vector | None = None) -> None:
        """Begin a new topic, with the vector of its task if it is known."""
        self._decision.restart(None if task is None else self._usable(task))

    def observe(self, turn: CoherenceTurn) -> Shift | None:
        """Take the next turn; one without a usable vector is passed over."""
        vector = self._usable(turn.vector)
        if vector is None:
            return None
        head = self._usable(turn.head)
        return self._decision.observe(turn, vector, vector if head is None else head)

    def _usable(self, vector: Vector | None) -> Floats | None:
        if vector is None or vector.shape != (self._profile.dim,):
            return None
        wide = vector.astype(np.float64)
        norm = float(np.linalg.norm(wide))
        return wide / norm if np.isfinite(norm) and norm > 0 else None
