from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.memory import forms
from gh_tui.memory.summary import LIMIT, summarise, summarise_result, width

from .sessions import Talk

FILLER = {
    "en": "We talked for a while about how the day went and what there was for lunch. ",
    "zh": "我们聊了聊今天过得怎么样，午饭吃了什么，大家心情都很好。",
    "id": "Kami mengobrol sebentar tentang hari ini dan makan siang yang enak sekali. ",
}


@pytest.mark.parametrize(
    ("language", "fact", "kept"),
    [
        (
            "en",
            "Port 5433 must never be opened in /etc/pg/hba.conf.",
            ["5433", "never", "/etc/pg/"],
        ),
        ("en", "The import failed: permission denied for users_v2.", ["denied", "users_v2"]),
        ("zh", "不要连接生产库，改用 test-db:5433。", ["不要", "改用", "test-db:5433"]),
        ("zh", "迁移失败：权限被拒绝，表 users_v2。", ["失败", "拒绝", "users_v2"]),
        ("id", "Jangan pakai server produksi, gunakan db_uji di port 5433.", ["Jangan", "db_uji"]),
        ("id", "Impor gagal: akses ditolak untuk users_v2.", ["gagal", "ditolak", "users_v2"]),
    ],
)
@pytest.mark.parametrize("before", [0, 3, 6])
def test_what_must_not_be_lost_survives_among_filler(
    language: str, fact: str, kept: list[str], before: int
) -> None:
    text = FILLER[language] * before + fact + FILLER[language] * 6
    line = summarise(text)
    assert all(word in line for word in kept), line


def test_a_short_text_is_its_own_summary() -> None:
    assert summarise("Use  the\ntest database.") == "Use the test database."


@given(st.text(max_size=2000), st.integers(40, 400))
def test_a_summary_is_one_bounded_line(text: str, limit: int) -> None:
    line = summarise(text, limit)
    assert width(line) <= limit
    assert line.splitlines() in ([], [line])


@given(st.text(max_size=2000), st.sampled_from([True, False, None]))
def test_a_result_is_one_bounded_line(text: str, ok: bool | None) -> None:
    line = summarise_result(text, ok=ok)
    assert 0 < width(line) <= LIMIT
    assert line.splitlines() == [line]


def test_a_result_keeps_its_end_its_size_and_its_first_failure() -> None:
    text = "\n".join(["collecting", *["ok"] * 50, "E   ValueError: port 70000", "exit code 2"])
    line = summarise_result(text, ok=False)
    assert "exit 2" in line
    assert "53 lines" in line
    assert "ValueError: port 70000" in line


def test_failed_attempts_and_their_reason_survive_in_the_exchange_line() -> None:
    talk = Talk()
    head, *results = talk.exchange(
        "ok\n" * 200,
        "Traceback (most recent call last):\n  File x\nPermissionError: /srv/db is read-only",
        text=FILLER["en"] * 5,
    )
    line = forms.exchange_line(head, results)
    assert "PermissionError: /srv/db is read-only" in line
    assert head.calls[1].arguments["path"] in line
    assert line.endswith(head.iri)
    assert "\n" not in line


@pytest.mark.parametrize("unit", ["a", "a/", "-a", "_", "1,", "a.", "aB", "，", "不", "/", "`"])
def test_no_text_is_slow_to_summarise(unit: str) -> None:
    start = time.perf_counter()
    summarise(unit * 20_000)
    summarise_result(unit * 20_000, ok=False)
    assert time.perf_counter() - start < 3
