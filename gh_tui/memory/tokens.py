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
_FEWEST: Final = 0.48
"""No tokenizer makes a whole prompt of fewer tokens than this share of `least_tokens`."""
_USUAL: Final = 0.7
"""A count below this share of what is usual may be of a whole prompt, but is not trusted."""
_IN_STEP: Final = 0.45
"""A count that follows the prompt by this share of the change is of a whole prompt."""
_NO_GROWTH: Final = 0.02
_WAVERS: Final = 0.1
"""A count stands if it rises by less than that share of the growth, or falls by less than this
share: a server that drops whole messages stays below its limit by a little, now and then."""
_GROWN: Final = 400
"""Change of the prompt from which a count that stands, or comes again, is one of a limit."""
_MOVED: Final = 50
_WHOLE: Final = 0.9
_NEW_PART: Final = 1.5
"""New messages have fewer tokens than this share of their estimate."""
_NEARLY: Final = (0.8, 1.1)
"""The same where the estimate is close: from and to."""
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
class _Learned:
    """What reports have taught."""

    steps: int
    """The factor, in steps of 1 / `_STEPS`."""
    target: float
    """The factor before it is rounded and clamped."""
    confirmed: int = 0
    """Reports that were taken in."""
    usual: float = 1.0
    """The share of `least_tokens` that the first of them had, 1 at most."""


@dataclass(frozen=True, slots=True)
class _Report:
    """What a server counted for one request."""

    reported: int
    least: int
    fresh: int | None
    before: _Learned
    """What had been learned before it: it may be at a limit already."""
    again: int = 0
    """By how much the prompt has changed, in all, while the count was this one."""

    def follows(self, earlier: _Report) -> bool:
        """Whether the count has gone with the prompt since, up or down."""
        change, counted = self.least - earlier.least, self.reported - earlier.reported
        return counted <= _IN_STEP * change if change < 0 else counted >= _IN_STEP * change

    def stands(self, earlier: _Report) -> bool:
        """Whether the count has not moved since, though the prompt may have."""
        growth, counted = max(0, self.least - earlier.least), self.reported - earlier.reported
        return -_WAVERS * earlier.reported <= counted <= _NO_GROWTH * growth

    @property
    def of_new_part(self) -> bool:
        """Whether it may be of the new part of a request alone, the rest being cached."""
        if self.fresh is None or self.reported >= _WHOLE * self.least:
            return False
        return self.reported <= _NEW_PART * self.fresh + _BLOCK

    @property
    def nearly_new_part(self) -> bool:
        """Whether it is what the new part alone is estimated to have, as far as that is known."""
        if self.fresh is None or not self.before.confirmed:
            return self.of_new_part
        return _NEARLY[0] * self.fresh <= self.reported <= _NEARLY[1] * self.fresh + _BLOCK / 2

    @property
    def is_short(self) -> bool:
        """Whether it is less than can be trusted to be of a whole prompt."""
        return self.reported < _USUAL * self.before.usual * self.least

    @property
    def is_too_short(self) -> bool:
        """Whether it is less than a whole prompt can have."""
        return self.least >= _LEAST_SENT and self.reported < _FEWEST * self.least


class TokenEstimator:
    """The correction of `count` that is learned from reported usage, within [0.5, 2].

    The factor moves in steps of 0.05, so that numbers that are cached stay valid while it is
    at rest. Counts of turns are kept uncorrected; `scale` is applied when they are compared
    with a budget or shown as a total.
    """

    def __init__(self, steps: int = _STEPS) -> None:
        self._learned = _Learned(_clamp(steps), _clamp(steps) / _STEPS)
        self._last: _Report | None = None
        """The report with which the count last moved."""
        self._highest: _Report | None = None
        self._cut = False

    @property
    def factor(self) -> float:
        """The present correction, in [0.5, 2]."""
        return self._learned.steps / _STEPS

    @property
    def basis(self) -> Literal["estimated", "confirmed"]:
        """`confirmed` once a server's report has been taken into the factor."""
        return "confirmed" if self._learned.confirmed else "estimated"

    def scale(self, tokens: int) -> int:
        """Correct an estimate; whole numbers, so that every place rounds alike."""
        return scale(tokens, self.factor)

    @property
    def cut(self) -> bool:
        """Whether the server seems to cut the prompt, by its reports so far."""
        return self._cut

    def confirm(self, estimated: int, reported: int, least: int, fresh: int | None = None) -> None:
        """Learn from what the server counted for a request, unless it seems to cut the prompt.

        A prompt is cut if the count is too short for it, if the prompt goes on growing and the
        count stands, or if the highest count comes again and again, whatever the prompt. Then
        what was learned since that limit was met is forgotten. Nothing is learned from a count
        that stands or is short, and a first one that is short says nothing until the next. The
        suspicion ends with a count that follows the prompt above all earlier ones.

        Args:
            estimated: the corrected tokens of the request as it was sent.
            reported: the prompt tokens in the server's usage, cached ones included; 0 or
                less means that it gave none.
            least: `least_tokens` of all its texts. Suspicions rest on it alone, since
                `estimated` depends on what was learned.
            fresh: the corrected tokens of the messages that the request before did not have;
                None without one. Some servers count only these, which says nothing.
        """
        if reported <= 0 or estimated < _LEAST_SENT:
            return
        now = _Report(reported, least, fresh, self._learned)
        above, observed = self._rises(now), self.factor * reported / estimated
        if self._cut:
            if above and not now.is_short:
                self._cut, self._last = False, now
                self._learn(now, observed, afresh=True)
        elif self._highest is not None and self._highest.again >= _GROWN:
            self._suspect()
        elif not now.of_new_part:
            self._compare(now, observed)

    def _compare(self, now: _Report, observed: float) -> None:
        """Take in a report that may be of a whole prompt, by the one before it."""
        last = self._last
        if last is None:
            self._last = now
            if not now.is_short:
                self._learn(now, observed)
        elif now.follows(last):
            self._last = now
            # A language of few tokens is short from the first report on.
            if not (now.is_short if self._learned.confirmed else now.is_too_short):
                self._learn(now, observed)
        elif now.is_too_short:
            self._suspect()
        elif not now.stands(last):
            self._last = now
        elif now.least < last.least:
            self._last = replace(last, least=now.least)
        elif now.least - last.least >= _GROWN:
            self._suspect()

    def _rises(self, now: _Report) -> bool:
        """Keep the highest report; whether this one follows the prompt well above it."""
        top = self._highest
        if top is None:
            self._highest = now
        elif now.reported > top.reported:
            follows = now.follows(top)
            self._highest = now if follows else replace(now, before=top.before)
            return follows and now.reported - top.reported >= _MOVED
        # Of new messages that are alike a server may count the same, and no limit is met.
        elif now.reported == top.reported and (top.fresh is None or not now.nearly_new_part):
            again = top.again + abs(now.least - top.least)
            self._highest = replace(top, least=now.least, again=again)
        return False

    def _suspect(self) -> None:
        self._cut = True
        if self._highest is not None:
            self._learned = self._highest.before

    def _learn(self, now: _Report, observed: float, *, afresh: bool = False) -> None:
        """Take a report into the factor: the mean with what is known, unless that is doubtful."""
        old = self._learned
        target = observed if afresh or not old.confirmed else (old.target + observed) / 2
        steps = old.steps
        if abs(target * _STEPS - steps) >= 1:
            steps = _clamp(round(target * _STEPS))
        usual = old.usual if old.confirmed else min(1.0, now.reported / max(1, now.least))
        self._learned = _Learned(steps, target, old.confirmed + 1, usual)


def _clamp(steps: int) -> int:
    return max(_STEPS // 2, min(2 * _STEPS, steps))


def scale(tokens: int, factor: float) -> int:
    """Apply a factor of `TokenEstimator` to a count, rounding half up in whole numbers."""
    return (tokens * round(factor * _STEPS) + _STEPS // 2) // _STEPS


def scale_all(tokens: NDArray[np.int64], factor: float) -> NDArray[np.int64]:
    """`scale` for each number of an array."""
    steps = round(factor * _STEPS)
    return tokens if steps == _STEPS else (tokens * steps + _STEPS // 2) // _STEPS
