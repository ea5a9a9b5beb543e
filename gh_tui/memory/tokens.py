"""Token counts: estimated by script, corrected by what the server reports."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from gh_tui.events.values import ToolCall

MESSAGE_OVERHEAD: Final = 4
"""Tokens that a chat template spends on the frame of one message."""

_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)
_STEPS: Final = 20
_LEAST_SENT: Final = 200
_SHORT: Final = 0.48
"""A report below this share of the fewest tokens a prompt is likely to have is clearly short."""
_IN_STEP: Final = 0.45
"""A count that follows the prompt by this share of the change is of a whole prompt."""
_NO_GROWTH: Final = 0.02
_WAVERS: Final = 0.1
"""A count stands if it rises by less than that share of the growth, or falls by less than this
share: a server that drops whole messages stays below its limit by a little, now and then."""
_GROWN: Final = 400
"""Growth of the prompt from which a count that stands is one that has met a limit."""
_MOVED: Final = 50
_WHOLE: Final = 0.9
_NEW_PART: Final = 1.5
_BLOCK: Final = 256
"""Tokens up to which a server's cache may lag behind what was sent before."""


def count(text: str) -> int:
    """Estimate the tokens of a text: 1 per CJK character, other text by UTF-8 bytes / 4.

    Pure, so that a recorded number can be computed again.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    other = _CJK.sub("", text)
    octets = len(other.encode("utf-8", "surrogatepass"))
    return len(text) - len(other) + (octets + 3) // 4


def start_within(text: str, tokens: int) -> str:
    """The longest start of a text that `count` puts at no more than `tokens`."""
    part = text[: 4 * max(0, tokens)]  # a character takes a quarter of a token at least
    if part.isascii():
        return part
    room = 4 * tokens
    for place, char in enumerate(part):
        room -= 4 if _CJK.match(char) else len(char.encode("utf-8", "surrogatepass"))
        if room < 0:
            return part[:place]
    return part


def end_within(text: str, tokens: int) -> str:
    """The longest end of a text that `count` puts at no more than `tokens`."""
    part = text[-4 * tokens :] if tokens > 0 else ""
    return start_within(part[::-1], tokens)[::-1]


def least_tokens(text: str) -> int:
    """The fewest tokens that a text of its length is likely to have: its UTF-8 bytes / 4."""
    return len(text.encode("utf-8", "surrogatepass")) // 4


def count_message(
    text: str, calls: Sequence[ToolCall] = (), blocks: Sequence[dict[str, Any]] = ()
) -> int:
    """Estimate the tokens of one message with its frame, calls and provider blocks.

    Blocks that repeat the text (a raw reply) replace it on the wire, so the larger one counts.
    """
    body = count(text) + sum(
        MESSAGE_OVERHEAD + count(call.name) + count(_dump(call.arguments)) for call in calls
    )
    if blocks:
        body = max(body, count(_dump(list(blocks))))
    return MESSAGE_OVERHEAD + body


def count_schemas(schemas: Sequence[dict[str, Any]]) -> int:
    """Estimate the tokens of tool schemas that are sent beside the messages."""
    return sum(MESSAGE_OVERHEAD + count(_dump(schema)) for schema in schemas)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


@dataclass(frozen=True, slots=True)
class _Mark:
    """The report with which the count last moved."""

    least: int
    reported: int
    steps: int
    target: float
    confirmed: int
    """What had been learned before it: it may be at the limit already."""

    def follows(self, least: int, reported: int) -> bool:
        """Whether the count has gone with the prompt since, up or down."""
        change, counted = least - self.least, reported - self.reported
        if change < 0:
            return counted <= _IN_STEP * change
        return counted >= _IN_STEP * change

    def stands(self, least: int, reported: int) -> bool:
        """Whether the count has not moved since, though the prompt may have."""
        growth, counted = max(0, least - self.least), reported - self.reported
        return -_WAVERS * self.reported <= counted <= _NO_GROWTH * growth


class TokenEstimator:
    """The correction of `count` that is learned from reported usage, within [0.5, 2].

    The factor moves in steps of 0.05, so that numbers that are cached stay valid while it is
    at rest. Counts of turns are kept uncorrected; `scale` is applied when they are compared
    with a budget or shown as a total.
    """

    def __init__(self, steps: int = _STEPS) -> None:
        self._steps = _clamp(steps)
        self._target = self._steps / _STEPS
        self._confirmed = 0
        self._mark: _Mark | None = None
        self._cut = False

    @property
    def factor(self) -> float:
        """The present correction, in [0.5, 2]."""
        return self._steps / _STEPS

    @property
    def basis(self) -> Literal["estimated", "confirmed"]:
        """`confirmed` once a server's report has been taken into the factor."""
        return "confirmed" if self._confirmed else "estimated"

    def scale(self, tokens: int) -> int:
        """Correct an estimate; whole numbers, so that every place rounds alike."""
        return scale(tokens, self.factor)

    @property
    def cut(self) -> bool:
        """Whether the server seems to cut the prompt, by its reports so far."""
        return self._cut

    def confirm(self, estimated: int, reported: int, least: int, fresh: int | None = None) -> None:
        """Learn from what the server counted for a request, unless it seems to cut the prompt.

        A prompt is cut if the count is clearly short, or if the prompt goes on growing, by
        small steps or large ones, and the count has met a limit. Nothing is learned from a
        count that stands, and what was learned from the one that met the limit is forgotten. A
        count that follows the prompt up or down ends the suspicion.

        Args:
            estimated: the corrected tokens of the request as it was sent.
            reported: the prompt tokens in the server's usage, cached ones included; 0 or
                less means that it gave none.
            least: `least_tokens` of all its texts. Suspicions rest on it alone, since
                `estimated` depends on what was learned.
            fresh: the corrected tokens of the messages that the request before did not have;
                None without one. Some servers count only these, which says nothing.
        """
        mark, now = self._mark, self._at(least, reported)
        if reported <= 0 or estimated < _LEAST_SENT:
            return
        # The same count again is one that has met a limit, whatever is new.
        if (mark is None or reported != mark.reported) and _of_new_part(reported, least, fresh):
            return
        follows = mark is not None and mark.follows(least, reported)
        if mark is not None and self._cut:
            if not follows or abs(reported - mark.reported) < _MOVED:
                self._mark = now if least < mark.least else mark
                return
        elif mark is not None and not follows and mark.stands(least, reported):
            self._stand(mark, least)
            return
        elif not follows and least >= _LEAST_SENT and reported < _SHORT * least:
            self._mark, self._cut = now, True
            return
        self._learn(self.factor * reported / estimated, afresh=self._cut)
        self._mark, self._cut = now, False

    def _at(self, least: int, reported: int) -> _Mark:
        return _Mark(least, reported, self._steps, self._target, self._confirmed)

    def _stand(self, mark: _Mark, least: int) -> None:
        """The count has not moved: by itself that says nothing, until the prompt has grown."""
        if least < mark.least:
            self._mark = replace(mark, least=least)
        elif least - mark.least >= _GROWN:
            self._steps, self._target, self._confirmed = mark.steps, mark.target, mark.confirmed
            self._cut = True

    def _learn(self, observed: float, *, afresh: bool) -> None:
        average = bool(self._confirmed) and not afresh
        self._target = (self._target + observed) / 2 if average else observed
        self._confirmed += 1
        if abs(self._target * _STEPS - self._steps) >= 1:
            self._steps = _clamp(round(self._target * _STEPS))


def _of_new_part(reported: int, least: int, fresh: int | None) -> bool:
    """Whether a report may be of the new part of a request alone, the rest being cached."""
    if fresh is None:
        return False
    return reported < _WHOLE * least and reported <= _NEW_PART * fresh + _BLOCK


def _clamp(steps: int) -> int:
    return max(_STEPS // 2, min(2 * _STEPS, steps))


def scale(tokens: int, factor: float) -> int:
    """Apply a factor of `TokenEstimator` to a count, rounding half up in whole numbers."""
    return (tokens * round(factor * _STEPS) + _STEPS // 2) // _STEPS


def scale_all(tokens: NDArray[np.int64], factor: float) -> NDArray[np.int64]:
    """`scale` for each number of an array."""
    steps = round(factor * _STEPS)
    return tokens if steps == _STEPS else (tokens * steps + _STEPS // 2) // _STEPS
