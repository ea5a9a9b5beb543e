from __future__ import annotations

import httpx
import pytest

from gh_tui.errors import SettingsError
from gh_tui.net.address import is_loopback, normalise_base_url, shown


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://host/api/v3", "http://host/api/v3"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/openai?api-version=1", "https://host/openai?api-version=1"),
        ("localhost:1234", "http://localhost:1234/v1"),
        ("api.example.com", "https://api.example.com/v1"),
        ("  http://[::1]:8080 ", "http://[::1]:8080/v1"),
    ],
)
def test_what_users_write_becomes_an_address(written: str, used: str) -> None:
    assert str(normalise_base_url(written)) == used


@pytest.mark.parametrize("written", ["", "ftp://host/v1", "http://", "http://ho st", "file:///v1"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match=r"provider\.base_url"):
        normalise_base_url(written)


def test_a_password_in_an_address_is_never_shown() -> None:
    assert shown(httpx.URL("https://me:secret@host/v1?key=secret#x")) == "https://host/v1"
    with pytest.raises(SettingsError) as caught:
        normalise_base_url("ftp://me:secret@host")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("app.localhost", True),
        ("127.8.8.8", True),
        ("[::1]", True),
        ("0.0.0.0", True),  # noqa: S104
        ("10.0.0.1", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, own: bool) -> None:
    assert is_loopback(host) is own
