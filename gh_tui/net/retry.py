"""When to try a request again, and how long to wait before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gh_tui.errors import ProviderError

_SECONDS = re.compile(r"\d+(\.\d+)?")
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently; times in seconds."""

    attempts: int = 4
    """Requests in all, the first included."""
    base: float = 0.5
    """The wait after the first failure; each later one is twice as long."""
    cap: float = 60.0
    """The longest wait, whatever the server asks for."""

    def delay(self, failures: int, retry_after: float | None, spread: float) -> float:
        """Seconds to wait after `failures` failed attempts (from 1).

        Args:
            failures: how many attempts have failed.
            retry_after: what the server asked for, honoured up to the cap.
            spread: in [0, 1]; adds up to a quarter, so that clients do not return together.
        """
        wanted = self.base * 2.0 ** (failures - 1) if retry_after is None else retry_after
        return min(max(wanted, 0.0) * (1 + spread / 4), self.cap)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the server asked to wait (RFC 9110, section 10.2.3), or None.

    Understands whole and decimal seconds, an HTTP date (0 if past) and the header
    `retry-after-ms`; anything else is no wish at all.

    Args:
        headers: with a case-insensitive `get`, or lower-case names.
        now: aware; what a date is measured against.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max((moment - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def is_transient(error: ProviderError) -> bool:
    """Whether the same request may succeed a little later."""
    match error.kind:
        case "network" | "rate_limited" | "interrupted":
            return True
        case "http":
            return error.status in _TRANSIENT_STATUS
        case _:
            return False
