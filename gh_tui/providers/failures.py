"""What a server says when it refuses, as one error in its own words."""

from __future__ import annotations

import json
import re
from typing import Any

from gh_tui.errors import ProviderError

MAX_WORDS = 600
"""Characters of a server's text that are shown."""

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (window|size)"
    r".{0,80}exceed|exceed\w* .{0,80}context|context length|(prompt|input) is too long"
    r"|too many (input )?tokens|reduce the length of the (messages|prompt)",
    re.IGNORECASE | re.DOTALL,
)
_FILTERED = re.compile(r"content[ _-]?(filter|policy|management policy)|safety system", re.I)
_LIMITED = re.compile(r"rate[ _-]?limit|too many requests|overloaded", re.I)
_QUOTA = re.compile(r"insufficient[ _](quota|balance|credits?)|exceeded your current quota", re.I)
_DETAIL_KEYS = ("message", "detail", "error", "errors", "msg", "title", "error_description")
_TAG = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)


def from_response(
    status: int, body: bytes, *, where: str, key_hint: str, retry_after: float | None
) -> ProviderError:
    """The error for a status of 400 or more.

    Args:
        status: the HTTP status.
        body: its beginning; JSON, a page, or plain text.
        where: the address, as it may be shown.
        key_hint: what to check when the key is refused.
        retry_after: seconds the server asked to wait.
    """
    text = body.decode("utf-8", "replace")
    words, codes = _told(text)
    said = f": {words}" if words else ""
    kind = _kind(status, f"{codes} {words}")
    match kind, status:
        case "overflow", _:
            message = f"the request is too long for the model{said}"
        case _, 401 | 403:
            message = f"{where} refused the key (HTTP {status}){said}; check {key_hint}"
        case _, 404:
            message = (
                f"{where} was not found (HTTP 404){said}; check provider.base_url and "
                "provider.model"
            )
        case "rate_limited", _:
            message = f"the server asks to slow down (HTTP {status}){said}"
        case _:
            message = f"the server answered HTTP {status}{said}"
    return ProviderError(message, kind=kind, status=status, retry_after=retry_after)


def from_error_object(value: Any) -> ProviderError:
    """The error for an error object that came inside a 200 answer."""
    words, codes = _told(value if isinstance(value, str) else json.dumps({"error": value}))
    code = re.search(r"\b[45]\d\d\b", codes)
    status = int(code[0]) if code else None
    kind = _kind(status or 0, f"{codes} {words}")
    return ProviderError(
        f"the server reported an error: {words or 'no text was given'}", kind=kind, status=status
    )


def not_a_stream(content_type: str, beginning: bytes) -> ProviderError:
    """The error for a 200 answer that is no chat completion: a page, or other JSON."""
    words = _squeeze(_TAG.sub(" ", beginning.decode("utf-8", "replace")))
    shown = f"it begins: {words}" if words else "it is empty"
    return ProviderError(
        f"the server answered with {content_type or 'no content type'} instead of a chat "
        f"completion; {shown}. Check that provider.base_url is the address of an API, usually "
        "ending in /v1",
        kind="protocol",
    )


def _kind(status: int, text: str) -> str:
    if _OVERFLOW.search(text) and status in (0, 400, 413, 422, 500):
        return "overflow"
    if status in (401, 403) or _FILTERED.search(text) or _QUOTA.search(text):
        return "refused"
    if status in (429, 529) or (status in (0, 503) and _LIMITED.search(text)):
        return "rate_limited"
    return "http"


def _told(text: str) -> tuple[str, str]:
    """The server's sentence, and its codes and types as one string."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _squeeze(_TAG.sub(" ", text)), ""
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        value = value["error"]
    codes = ""
    if isinstance(value, dict):
        codes = " ".join(str(value[key]) for key in ("code", "type", "status") if value.get(key))
        codes = codes.replace("None", "")
    return _squeeze(_sentence(value)), codes


def _sentence(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if depth < 4:
        if isinstance(value, list) and value:
            return "; ".join(_sentence(item, depth + 1) for item in value[:3])
        if isinstance(value, dict):
            for key in _DETAIL_KEYS:
                if value.get(key):
                    return _sentence(value[key], depth + 1)
    return json.dumps(value, ensure_ascii=False) if value else ""


def _squeeze(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= MAX_WORDS else short[: MAX_WORDS - 1] + "…"
