"""The default rule: what stands before a gap against what follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gh_tui.memory.coherence.types import CoherenceTurn, Floats, Shift, Vector

if TYPE_CHECKING:
    from gh_tui.memory.coherence.profile import Profile

_NEW = 3
_LIMIT = 0.12


class ContrastRule:
    """Weighs the inputs of the topic so far against the three that may open a new one."""

    def __init__(self, profile: Profile, *, quiet_inputs: int, certainty: float) -> None:
        self._profile = profile
        self._quiet = quiet_inputs
        self._certainty = certainty
        self._inputs: list[tuple[str, Floats]] = []
        self.provisional: str | None = None

    def restart(self, task: Vector | None = None) -> None:
        """Begin a new topic, with the vector of its task if it is known."""
        self._inputs = [] if task is None else [("", _unit(task))]
        self.provisional = None

    def observe(self, turn: CoherenceTurn) -> Shift | None:
        """Take the next turn; the shift it confirms, if any."""
        if not turn.is_input or turn.vector is None or not np.any(turn.vector):
            return None
        self._inputs.append((turn.iri, _unit(turn.vector)))
        self.provisional = None
        for back in range(_NEW, 0, -1):
            start = len(self._inputs) - back
            if start < self._quiet:
                continue
            old = _unit(sum(vector for _, vector in self._inputs[:start]))
            near = tuple(max(0.0, float(old @ v)) for _, v in self._inputs[start:])
            if max(near) >= _LIMIT:
                continue
            boundary = self._inputs[start][0]
            if back == _NEW:
                self._inputs = self._inputs[start:]
                return Shift(boundary, near, _LIMIT, "contrast")
            self.provisional = boundary
            break
        return None


def _unit(vector: object) -> Floats:
    wide = np.asarray(vector, dtype=np.float64)
    return wide / float(np.linalg.norm(wide))
