"""The default rule: what stands before a gap against what follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gh_tui.memory.coherence.departure import departure
from gh_tui.memory.coherence.gaps import LOOK_AHEAD, GapWindow
from gh_tui.memory.coherence.types import CoherenceTurn, Floats, Shift, Vector

if TYPE_CHECKING:
    from gh_tui.memory.coherence.profile import Profile

_NEW_INPUTS = LOOK_AHEAD + 1


class SessionContrast:
    """Decides by certainty: an agent session, in which most inputs serve one task.

    The inputs of the topic so far are weighed against the one, two and three latest. With one
    or two a boundary is provisional; only three confirm it. Agent turns are not weighed: they
    follow the input, and many are the same two words.
    """

    def __init__(
        self, profile: Profile, *, certainty: float, quiet_inputs: int, cooldown_inputs: int
    ) -> None:
        self._profile = profile
        self._limit = certainty
        self._quiet = quiet_inputs
        self._cooldown = cooldown_inputs
        self._least = quiet_inputs
        self._iris: list[str] = []
        self._vectors: list[Floats] = []
        self.provisional: str | None = None

    def restart(self, task: Floats | None) -> None:
        """Begin a new topic, with the vector of its task if it is known."""
        self._iris = [] if task is None else [""]
        self._vectors = [] if task is None else [task]
        self._least = self._quiet
        self.provisional = None

    def observe(self, turn: CoherenceTurn, vector: Floats) -> Shift | None:
        """Take the next turn; the shift it confirms, if any."""
        if not turn.is_input:
            return None
        self._iris.append(turn.iri)
        self._vectors.append(vector)
        self.provisional = None
        for new in range(min(_NEW_INPUTS, len(self._iris) - self._least), 0, -1):
            head = len(self._iris) - new
            if self._certainty(head, new) < self._limit or self._begins_later(head, new):
                continue
            if new == _NEW_INPUTS:
                return self._confirm(head)
            self.provisional = self._iris[head]
            break
        return None

    def _begins_later(self, head: int, new: int) -> bool:
        """Whether the next input is the better boundary, judged with as many inputs each."""
        later = self._certainty(head + 1, new - 1) if new > 1 else 0.0
        return later >= self._limit and later > self._certainty(head, new - 1)

    def _certainty(self, head: int, new: int) -> float:
        return departure(self._profile, self._vectors[: head + new], new)

    def _confirm(self, head: int) -> Shift:
        boundary = self._iris[head]
        coherences = tuple(1.0 - self._certainty(head, new) for new in range(1, _NEW_INPUTS + 1))
        del self._iris[:head], self._vectors[:head]
        self._least = self._cooldown
        return Shift(boundary, coherences, 1.0 - self._limit, "contrast")


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

    def observe(self, turn: CoherenceTurn, vector: Floats) -> Shift | None:
        """Take the next turn; the shift it confirms, if any."""
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
        return None if vector is None else self._decision.observe(turn, vector)

    def _usable(self, vector: Vector | None) -> Floats | None:
        if vector is None or vector.shape != (self._profile.dim,):
            return None
        wide = vector.astype(np.float64)
        norm = float(np.linalg.norm(wide))
        return wide / norm if np.isfinite(norm) and norm > 0 else None
