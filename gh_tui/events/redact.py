"""Keys of servers are taken out of events before anyone sees them."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Iterable
from typing import Any, Literal

from gh_tui.events.envelope import Envelope

LEAST_SECRET = 8
"""Characters; a shorter key is a placeholder (`none`, `x`) that may be part of any word."""
LONG_SECRET = 16
"""Characters from which a key without a digit is no ordinary word (`ollama`, `lm-studio`)."""
MARK = "[key]"
"""Stands where a key stood."""


class Redactor:
    """Replaces some texts in whatever an event says; its names and fixed words stay."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Placeholders are left alone: an input that holds such a word stays as it was typed."""
        self._secrets = tuple(secret for secret in secrets if _is_secret(secret))
        self._traces = tuple({trace for secret in self._secrets for trace in _encoded(secret)})

    def touches(self, line: bytes) -> bool:
        """Whether an encoded envelope may hold a secret; False is certain."""
        return any(trace in line for trace in self._traces)

    def clean(self, envelope: Envelope) -> Envelope:
        """The envelope with `MARK` for each secret in the values of its event."""
        return dataclasses.replace(envelope, event=self._clean(envelope.event))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, MARK)
            return value
        if isinstance(value, list | tuple):
            return type(value)(self._clean(item) for item in value)
        if isinstance(value, dict):
            return {self._clean(key): self._clean(item) for key, item in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            free = _free_fields(type(value))
            return dataclasses.replace(
                value, **{name: self._clean(getattr(value, name)) for name in free}
            )
        return value


def _is_secret(key: str) -> bool:
    return len(key) >= LONG_SECRET or (len(key) >= LEAST_SECRET and any(map(str.isdigit, key)))


def _encoded(secret: str) -> tuple[bytes, bytes]:
    """How a text looks inside a line, with and without characters beyond ASCII."""
    plain = json.dumps(secret, ensure_ascii=False)[1:-1]
    return plain.encode(errors="surrogatepass"), json.dumps(secret)[1:-1].encode()


@functools.cache
def _free_fields(kind: type) -> tuple[str, ...]:
    """The fields that may hold any text: a fixed word is part of the format."""
    hints = typing.get_type_hints(kind)
    return tuple(item.name for item in dataclasses.fields(kind) if not _is_fixed(hints[item.name]))


def _is_fixed(hint: Any) -> bool:
    if typing.get_origin(hint) is Literal:
        return True
    return any(_is_fixed(inner) for inner in typing.get_args(hint))
