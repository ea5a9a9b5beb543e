"""Terms, packed vectors and the hybrid ranking, on which eviction and search both stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.memory.hybrid import hybrid, standardise
from gh_tui.memory.packed import PackedFile, PackedVectors, pack_row
from gh_tui.memory.terms import query_words, stem, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "run"),
        ("parties", "party"),
        ("Caroline's", "caroline"),
        ("Anna’s", "anna"),
        ("boxes", "box"),
        ("moved", "move"),
        ("quickly", "quick"),
        ("bukunya", "buku"),
        ("settings", "setting"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize("pair", [("bus", "bu"), ("class", "clas"), ("v2", "v"), ("sing", "s")])
def test_different_words_stay_apart(pair: tuple[str, str]) -> None:
    assert words_of(pair[0]) != words_of(pair[1])


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=80))
def test_a_stem_is_never_empty_and_begins_the_word(word: str) -> None:
    cut = stem(word)
    assert cut
    assert word.startswith(cut[:-1])


@given(st.text(max_size=200))
def test_words_are_whole_for_a_database(text: str) -> None:
    for word in words_of(text):
        assert word
        assert not any(c.isspace() or c in '"*():^-+' for c in word)
        word.encode()
    assert set(query_words(text)) <= set(words_of(text))


@pytest.mark.parametrize(
    ("mixed", "words"),
    [
        ("修复database连接", "databases"),
        ("把user_name改成login", "user_name logins"),
        ("ใช้databaseใหม่", "database"),
        ("カフェ・ルーム", "カフェ"),
        ("กรุณาปิดเครื่อง", "ปิด"),
        ("มีน้ำดื่ม", "น้ำ"),
    ],
)
def test_words_meet_whatever_script_they_stand_in(mixed: str, words: str) -> None:
    assert set(words_of(words)) <= set(words_of(mixed))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ハンカク", "ﾊﾝｶｸ"),
        ("ガラス", "ｶﾞﾗｽ"),
        ("ガラス", "カ\u3099ラス"),
        ("ｄａｔａｂａｓｅ", "Database"),
        ("cafe", "CAFÉ"),
        ("resume", "re\u0301sume\u0301"),
        ("istanbul", "İstanbul"),
        ("strasse", "Straße"),
        ("Αθηνα", "ΑΘΉΝΑ"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
    ],
)
def test_a_word_is_found_in_any_case_width_and_accent(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize("pair", [("かき", "かぎ"), ("ハハ", "パパ"), ("ปิด", "ปืด"), ("มา", "ม้า")])
def test_marks_that_make_another_word_stay(pair: tuple[str, str]) -> None:
    assert words_of(pair[0]) != words_of(pair[1])


@pytest.mark.parametrize("text", ["ปิด", "数据库", "ニホン"])
def test_scripts_without_spaces_are_read_in_pairs(text: str) -> None:
    assert words_of(text) == [text[:2], text[1:]]


def test_a_query_is_its_telling_words_or_all_of_them() -> None:
    assert query_words("What did the Caroline research?") == words_of("Caroline research")
    assert query_words("who are you") == words_of("who are you")
    assert query_words("数据库在哪里") == ["数据", "据库", "库在", "在哪"]


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_packed_cosines_are_near_the_true_ones(seed: int, dim: int) -> None:
    source = np.random.default_rng(seed)
    rows = source.standard_normal((5, dim)).astype(np.float32)
    query = source.standard_normal(dim).astype(np.float32)
    packed = PackedVectors()
    for number, row in enumerate(rows):
        packed.put(number, row)
    true = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
    assert packed.cosines(query, 5) == pytest.approx(true, abs=0.02)


def test_rows_that_are_not_there_are_unknown(tmp_path: Path) -> None:
    query = np.array([1, 0], np.float32)
    packed = PackedVectors()
    packed.put(5000, np.array([1, 0], np.float32))
    packed.put(1, np.zeros(2, np.float32))
    got = packed.cosines(query, 5002)
    assert np.flatnonzero(np.isfinite(got)).tolist() == [5000]
    file = PackedFile(tmp_path / "v", 2)
    row = pack_row(np.array([3, 4], np.float32))
    assert row is not None
    file.put(2, row)
    assert np.isnan(file.cosines(query, 2)).all()
    assert file.cosines(query, 4)[2] == pytest.approx(0.6, abs=0.01)
    assert np.isnan(file.cosines(query, 4)[[0, 1, 3]]).all()
    file.put(3, row)
    assert file.cosines(query, 4)[3] == pytest.approx(0.6, abs=0.01)
    file.close()


def test_memory_for_vectors_is_a_byte_a_number() -> None:
    packed = PackedVectors()
    for number in range(4096):
        packed.put(number, np.ones(512, np.float32))
    assert packed.nbytes <= 4096 * 520


def test_neighbours_lift_each_other_within_a_session_only() -> None:
    bm25 = np.zeros(8, np.float32)
    bm25[3] = 1.0
    unknown = np.full(8, np.nan, np.float32)
    sessions = np.array([1, 1, 1, 1, 2, 2, 2, 2], np.int32)
    joined, parted = hybrid(bm25, unknown), hybrid(bm25, unknown, sessions=sessions)
    assert joined[4] > joined[5] > joined[6]
    assert parted[4:].max() < 0 < parted[2]
    assert parted[2] > parted[0] > parted[4:].max()


def test_a_question_is_a_weaker_answer_than_a_statement() -> None:
    bm25 = np.zeros(9, np.float32)
    bm25[[2, 6]] = 1.0
    unknown = np.full(9, np.nan, np.float32)
    asks = np.zeros(9, np.bool_)
    asks[2] = True
    scores = hybrid(bm25, unknown, asks=asks)
    assert int(scores.argmax()) == 6
    assert scores[2] > scores[4]


def test_what_is_not_known_is_average() -> None:
    values = np.array([1, np.nan, 3], np.float32)
    assert standardise(values) == pytest.approx([-1, 0, 1])
    assert standardise(np.full(4, np.nan, np.float32)) == pytest.approx([0] * 4)
    assert standardise(np.full(4, 0.3, np.float32)) == pytest.approx([0] * 4)


@pytest.mark.parametrize(
    "values", [[1, np.inf, 1], [3e38, 3e38, np.nan], [3e38, 3e38, -3e38], [-np.inf, np.nan]]
)
def test_no_value_is_too_large_for_a_ranking(values: list[float]) -> None:
    scores = standardise(np.array(values, np.float32))
    assert scores.tolist() == [0] * len(values)
