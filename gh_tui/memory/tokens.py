"""Token counts: estimated by script, corrected by what the server reports."""

from __future__ import annotations

import json
import re
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
_SHORT_UNLEARNED: Final = 0.5
_SHORT_LEARNED: Final = 0.75
"""A report below this share of what the prompt has at least is clearly short."""
_STALLED: Final = 0.9
"""So is one below this share, if the prompt has grown and the count has not."""
_GROWN: Final = 400
_NO_GROWTH: Final = 0.05
_IN_STEP: Final = 0.6
"""A count that follows the prompt by this share of the change is of a whole prompt."""
_CHANGED: Final = 50


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
        self._latest: tuple[int, int] | None = None
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
        """Whether the server seems to cut the prompt, by its latest report."""
        return self._cut

    def confirm(self, estimated: int, reported: int, least: int) -> None:
        """Learn from what the server counted for a request, unless it seems to cut the prompt.

        A report that is only somewhat below the estimate says that the estimate is too high.
        While the server is suspected nothing is learned; a count that follows the prompt up or
        down clears it, since one that ends at a limit does not move.

        Args:
            estimated: the corrected tokens of the request as it was sent.
            reported: the prompt tokens in the server's usage, cached ones included; 0 or
                less means that it gave none.
            least: `least_tokens` of all its texts.
        """
        if reported <= 0 or estimated < _LEAST_SENT:
            return
        was_cut, self._cut = self._cut, self._seems_cut(estimated, reported, least)
        self._latest = (least, reported)
        if self._cut:
            return
        observed = self.factor * reported / estimated
        average = bool(self._confirmed) and not was_cut
        self._target = (self._target + observed) / 2 if average else observed
        self._confirmed += 1
        if abs(self._target * _STEPS - self._steps) >= 1:
            self._steps = _clamp(round(self._target * _STEPS))

    def _seems_cut(self, estimated: int, reported: int, least: int) -> bool:
        if least < _LEAST_SENT:
            return False
        change, counted = 0, 0
        if self._latest is not None:
            change, counted = least - self._latest[0], reported - self._latest[1]
        if abs(change) >= _CHANGED and counted / change >= _IN_STEP:
            return False
        if change >= _GROWN and counted < _NO_GROWTH * change and reported < _STALLED * least:
            return True
        # Before the first report the estimate itself may be far off for a script.
        share = _SHORT_LEARNED if self._confirmed else _SHORT_UNLEARNED
        return reported < share * min(estimated, least)


def _clamp(steps: int) -> int:
    return max(_STEPS // 2, min(2 * _STEPS, steps))


def scale(tokens: int, factor: float) -> int:
    """Apply a factor of `TokenEstimator` to a count, rounding half up in whole numbers."""
    return (tokens * round(factor * _STEPS) + _STEPS // 2) // _STEPS


def scale_all(tokens: NDArray[np.int64], factor: float) -> NDArray[np.int64]:
    """`scale` for each number of an array."""
    steps = round(factor * _STEPS)
    return tokens if steps == _STEPS else (tokens * steps + _STEPS // 2) // _STEPS
