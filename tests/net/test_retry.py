from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import ProviderError, ProviderUnavailable, StreamInterrupted
from gh_tui.net.retry import RetryPolicy, is_transient, retry_after

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("12", 12.0),
        (" 1.5 ", 1.5),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("inf", None),
        ("nan", None),
        ("1e9", None),
        ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ],
)
def test_retry_after_in_all_its_forms(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds


def test_milliseconds_are_more_exact() -> None:
    assert retry_after({"retry-after": "2", "retry-after-ms": "1500"}, NOW) == 1.5


@given(st.text(max_size=40))
def test_no_header_breaks_it(value: str) -> None:
    seconds = retry_after({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0


@given(
    failures=st.integers(1, 60),
    asked=st.one_of(st.none(), st.floats(0, allow_nan=False)),
    spread=st.floats(0, 1),
)
def test_the_wait_is_never_longer_than_the_cap(
    failures: int, asked: float | None, spread: float
) -> None:
    policy = RetryPolicy(cap=30.0)
    delay = policy.delay(failures, asked, spread)
    assert 0 <= delay <= 30.0
    if asked is not None:
        assert delay >= min(asked, 30.0)


def test_the_wait_doubles() -> None:
    policy = RetryPolicy(base=0.5)
    assert [policy.delay(n, None, 0.0) for n in (1, 2, 3)] == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (ProviderError("", kind="rate_limited", status=429), True),
        (ProviderError("", kind="http", status=503), True),
        (ProviderError("", kind="network"), True),
        (StreamInterrupted(""), True),
        (ProviderError("", kind="http", status=400), False),
        (ProviderError("", kind="http"), False),
        (ProviderError("", kind="timeout"), False),
        (ProviderError("", kind="refused", status=429), False),
        (ProviderError("", kind="overflow", status=500), False),
        (ProviderUnavailable(""), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: ProviderError, again: bool) -> None:
    assert is_transient(error) is again
