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


@given(st.text(max_size=2000), st.integers(20, 400))
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


LOG = "".join(f"12:00:{i % 60:02d} step ok, nothing special here\n" for i in range(900))


@pytest.mark.parametrize("ok", [True, False, None])
def test_a_failure_at_the_end_of_a_long_result_is_kept(ok: bool | None) -> None:
    text = f"{LOG}FATAL: migration of users_v2 failed at row 17: duplicate key\nexit code 2\n"
    assert summarise_result(text, ok=ok) == (
        "exit 2, 902 lines: FATAL: migration of users_v2 failed at row 17: duplicate key"
    )


def test_a_failure_at_either_end_of_a_longer_result_is_kept() -> None:
    text = f"ERROR: no space on /dev/sdb1\n{LOG * 4}ERROR: users_v2 is half written\n"
    line = summarise_result(text, ok=False)
    assert line == (
        "failed, 3602 lines: ERROR: no space on /dev/sdb1 … ERROR: users_v2 is half written"
    )


def test_a_failure_at_the_end_of_a_long_text_is_kept() -> None:
    text = FILLER["en"] * 900 + "The migration FAILED: table users_v2 is locked by pid 4411."
    assert "FAILED: table users_v2 is locked by pid 4411" in summarise(text)


def test_the_line_that_says_what_failed_is_told_before_those_that_mention_failures() -> None:
    lines = [
        "running 40 tests, fail fast is on",
        "0 failed so far, no errors",
        "retry after a failure",
        "test_pay FAILED: expected 17 got 19 in ledger/sum.py:88",
        "1 failed, 39 passed",
    ]
    line = summarise_result("\n".join(lines), ok=False)
    assert line == "failed, 5 lines: test_pay FAILED: expected 17 got 19 in ledger/sum.py:88"


def test_lines_that_close_a_report_are_not_told_in_place_of_it() -> None:
    lines = [
        "error[E0308]: mismatched types",
        "error: aborting due to 1 previous error",
        "error: could not compile `ledger` (lib) due to 1 previous error",
    ]
    line = summarise_result("\n".join(lines), ok=False)
    assert line == "failed, 3 lines: error[E0308]: mismatched types"


def test_without_any_failure_the_end_of_a_failed_result_is_told_and_the_start_of_another() -> None:
    text = "\n".join(["collecting", *["ok"] * 50, "the ledger is shut", "exit code 2"])
    assert summarise_result(text, ok=False).endswith(": the ledger is shut")
    assert summarise_result("0 errors\nno failures\nall done", ok=True).endswith(": 0 errors")


def test_a_traceback_is_told_by_the_line_in_which_it_ends() -> None:
    text = (
        "start\nTraceback (most recent call last):\n  File 'x.py', line 3, in f\n    g()\n"
        "ledger.Shut: the ledger is shut\ncleaning up\n"
    )
    assert summarise_result(text, ok=False) == "failed, 6 lines: ledger.Shut: the ledger is shut"


def test_a_failure_without_an_exit_status_is_no_success() -> None:
    assert summarise_result("step 1: exit code 0\nstep 2\n", ok=False).startswith("failed")
    assert summarise_result("HTTP status: 404\nnothing here\n", ok=True).startswith("ok")


def test_a_sentence_that_is_too_long_is_cut_around_its_failure_at_blanks() -> None:
    text = f"A start. {'word ' * 60}then the export to users_v2 failed with 5433 {'word ' * 60}."
    line = summarise(text)
    assert "export to users_v2 failed with 5433" in line
    assert set(line.replace("…", " ").split()) <= set(text.split())


def test_only_the_ends_of_a_huge_text_are_read() -> None:
    text = LOG * 300
    start = time.process_time()
    summarise(text)
    summarise_result(text, ok=False)
    assert time.process_time() - start < 0.5
