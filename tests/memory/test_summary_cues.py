"""What a summary keeps among neutral sentences, and what it does not mistake for that."""

from __future__ import annotations

import time

import pytest

from gh_tui.memory import cues
from gh_tui.memory.summary import summarise, summarise_result, width

from .summary_neutral import NEUTRAL
from .summary_sentences import FILLER, KEPT

LANGUAGES = sorted(FILLER)


def among(language: str, sentence: str) -> str:
    """The sentence in the middle of the neutral ones."""
    filler = FILLER[language]
    half = len(filler) // 2
    blank = "" if language == "zh" else " "
    return blank.join([*filler[:half], sentence, *filler[half:]])


def in_summary(language: str, sentence: str) -> bool:
    return sentence in summarise(among(language, sentence))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_matters_stays_among_neutral_sentences(language: str) -> None:
    lost = [sentence for sentence in KEPT[language] if not in_summary(language, sentence)]
    assert len(lost) <= 0.06 * len(KEPT[language]), lost


@pytest.mark.parametrize("language", LANGUAGES)
def test_neutral_sentences_go(language: str) -> None:
    taken = [sentence for sentence in NEUTRAL[language] if in_summary(language, sentence)]
    assert len(taken) <= 0.05 * len(NEUTRAL[language]), taken


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Don’t merge on Friday."),
        ("en", "It isn’t safe to merge here."),
        ("en", "You mustn’t touch the archive."),
        ("en", "Nobody may restart the queue."),
        ("en", "Neither the staging nor the backup host may be used."),
        ("en", "The build crashes with a stack overflow."),
        ("en", "The process was killed, out of memory."),
        ("en", "The server runs v2.3.1 now."),
        ("en", "The limit is twenty-five requests."),
        ("en", "Please, then, revert the last commit."),
        ("zh", "测试完成后，把缓存关掉。"),
        ("zh", "端口是５４３３号。"),
        ("zh", "上限是三百五十个请求。"),
        ("zh", "请勿打扰，ＦＡＴＡＬ。"),
        ("id", "Tak boleh menyentuh arsip."),
        ("id", "Kemudian jalankan ulang pengujian."),
        ("id", "Batasnya dua puluh lima permintaan."),
        ("id", "Tolong, matiin server cadangan."),
    ],
)
def test_forms_that_writers_use(language: str, sentence: str) -> None:
    assert in_summary(language, sentence)


@pytest.mark.parametrize(
    ("language", "neutral", "command"),
    [
        ("en", "The run along the river was fine.", "Run along the river."),
        ("en", "Open windows let in the air.", "Open the windows."),
        ("en", "While the kettle boiled we talked.", "Boil the kettle."),
        ("zh", "打开窗户很舒服。", "打开窗户。"),
        ("zh", "关掉了旧电视。", "关掉旧电视。"),
        ("zh", "他把书放在窗台上。", "把书放在窗台上。"),
        ("id", "Kunci itu berkilau.", "Kunci pintu depan."),
        ("id", "Ikan bakar itu enak.", "Bakarkan ikan itu."),
    ],
)
def test_a_command_is_told_from_what_looks_like_one(
    language: str, neutral: str, command: str
) -> None:
    assert not in_summary(language, neutral)
    assert in_summary(language, command)


@pytest.mark.parametrize(
    ("calm", "alarming"),
    [
        ("0 failed, 12 passed", "10 failed, 2 passed"),
        ("no errors", "errors"),
        ("fail-fast is on", "fail"),
        ("errors: 0", "errors: 3"),
        ("it did not fail", "it did fail"),
        ('{"error": null}', '{"error": "full"}'),
        ("没有错误", "有错误"),
        ("salah satu tamu datang", "jawabannya salah"),
        ("0 errors, fail fast is on", "0 errors, 1 failed"),
    ],
)
def test_speaking_of_failures_is_no_failure(calm: str, alarming: str) -> None:
    assert cues.failure_rank(calm) == 0
    assert cues.failure_rank(alarming) > 0


@pytest.mark.parametrize(
    ("filler", "sentence", "mark"),
    [
        (
            "庭の木がきれいで、みんなが静かに歩いていました。",
            "本番に接続しないでください。",
            "しない",
        ),
        ("庭の木がきれいで、みんなが静かに歩いていました。", "移行が失敗しました。", "失敗"),
        ("สวนริมแม่น้ำสวยมากและทุกคนเดินเล่นอย่างมีความสุข ", "ห้ามลบตารางนี้ ", "ห้ามลบ"),
        ("สวนริมแม่น้ำสวยมากและทุกคนเดินเล่นอย่างมีความสุข ", "การย้ายข้อมูลล้มเหลว ", "ล้มเหลว"),
    ],
)
def test_japanese_and_thai_keep_their_commonest_forms(
    filler: str, sentence: str, mark: str
) -> None:
    line = summarise(filler * 5 + sentence + filler * 5)
    assert mark in line
    assert width(line) <= 180


def test_what_is_found_stands_where_it_stands_in_the_text() -> None:
    text = "ＡＢＣ　isn’t ５４３３ İ"
    found = cues.find(text)
    assert [text[start:][:5] for start in found["negation"]] == ["isn’t"]
    assert [text[start:][:4] for start in found["number"]] == ["５４３３"]


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "a/", "-a", "_", "1,", "a.", "aB", "，", "不", "/", "`", "'", "a'", "n't", "0 "),
        *("no ", "no a", "error", "aError", "fail:", "v1.", "(", '"', "把", "除", "被", "只有"),
        *("要", "等", "ไม่", "’", "无不", "exit ", "\u3000", "İ"),
    ],
)
def test_no_text_is_slow_to_summarise(unit: str) -> None:
    text = (unit * 50_000)[:50_000]
    start = time.process_time()
    summarise(text)
    summarise_result(text, ok=False)
    assert time.process_time() - start < 0.6
