"""Addresses of servers: read with care, shown without secrets."""

from __future__ import annotations

import ipaddress
import re

import httpx

from gh_tui.errors import SettingsError

_SPACE = re.compile(r"[\s\x00-\x1f]")
_ENDPOINT = "/chat/completions"


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def shown(url: httpx.URL) -> str:
    """The address as it may be shown: no user, password, query or fragment."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def normalise_base_url(text: str) -> httpx.URL:
    """The base address of an API from what a user writes.

    A path is taken as given, without a trailing slash and without `/chat/completions`; an empty
    path becomes `/v1`. Without a scheme it is http on this machine and https elsewhere.

    Raises:
        SettingsError: it is no http or https address with a host.
    """
    stripped = text.strip()
    written = stripped if "://" in stripped else f"https://{stripped}"
    try:
        url = httpx.URL(written)
        valid = url.scheme in ("http", "https") and bool(url.host) and not _SPACE.search(written)
    except (httpx.InvalidURL, ValueError):
        valid = False
    if not valid:
        raise SettingsError(
            f"provider.base_url is not an address: {_without_user(stripped)!r}; write it as "
            "http://host:port/v1 or https://host/v1"
        )
    if written != stripped and is_loopback(url.host):
        url = url.copy_with(scheme="http")
    path = url.path.rstrip("/").removesuffix(_ENDPOINT).rstrip("/")
    return url.copy_with(path=path or "/v1", fragment=None)


def _without_user(text: str) -> str:
    return text.rpartition("@")[2]
