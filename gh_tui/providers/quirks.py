"""What one server does not accept, learned from its own error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gh_tui.errors import ProviderError

_ALTERNATE = re.compile(r"\broles?\b.{0,60}\balternat|\balternat\w*.{0,60}\broles?\b", re.I | re.S)
_STATUSES = (400, 422, 500, 501)


@dataclass(slots=True)
class Quirks:
    """Each is learned at most once, so that a request is repeated at most once for it."""

    alternating_roles: bool = False
    """Adjacent user messages are refused."""
    no_stream_options: bool = False
    """`stream_options` is refused, so usage may be missing."""
    max_completion_tokens: bool = False
    """The limit goes by its newer name."""
    no_temperature: bool = False
    """Only the default temperature is allowed."""

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request as this server accepts it."""
        body = {**body, "stream": True}
        if not self.no_stream_options:
            body["stream_options"] = {"include_usage": True}
        if self.max_completion_tokens and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        if self.no_temperature:
            body.pop("temperature", None)
        return body

    def learn(self, error: ProviderError, body: dict[str, Any], *, adjacent: bool) -> bool:
        """Whether `error` names something in `body` that can be left out from now on.

        Args:
            error: what the server said.
            body: the request that it refused.
            adjacent: the request has user messages that follow one another.
        """
        text = str(error)
        if error.status not in _STATUSES:
            return False
        if not self.alternating_roles and adjacent and _ALTERNATE.search(text):
            self.alternating_roles = True
        elif "stream_options" in body and "stream_options" in text:
            self.no_stream_options = True
        elif "max_tokens" in body and "max_completion_tokens" in text:
            self.max_completion_tokens = True
        elif "temperature" in body and "temperature" in text:
            self.no_temperature = True
        else:
            return False
        return True
