import pytest

from gh_tui.memory.continuations import is_answer, is_continuation

CHOICE = "There are two ways:\n1. Keep SQLite and add an index\n2. Move to PostgreSQL\nWhich one?"


@pytest.mark.parametrize(
    "text",
    [
        "继续",
        "好的，继续。",
        "OK",
        "ok!",
        " Go ahead… ",
        "Yes, please",
        "lanjutkan",
        "Oke, lanjut",
        "ＯＫ",
        "that’s right",
    ],
)
def test_whole_inputs_on_the_list_are_continuations(text: str) -> None:
    assert is_continuation(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "继续聊聊天气",
        "ok but what about lunch",
        "the weather",
        "天气",
        "makan",
        "lanjut makan dulu",
        "🙂",
    ],
)
def test_anything_more_or_else_is_not(text: str) -> None:
    assert not is_continuation(text)


@pytest.mark.parametrize(
    "text", ["2", "the second", "b)", "move to postgresql", "PostgreSQL", "option 1 please", "both"]
)
def test_naming_an_option_answers(text: str) -> None:
    assert is_answer(text, CHOICE.replace("2.", "b)") if text == "b)" else CHOICE)


@pytest.mark.parametrize("text", ["第二个", "用第二个", "kedua", "yang pertama", "测试库"])
def test_answers_in_other_languages(text: str) -> None:
    assert is_answer(text, "Pilih yang mana?\n- pertama\n- kedua\n用哪个库？")


@pytest.mark.parametrize(
    "text",
    [
        "what's for lunch?",
        "今天天气怎么样",
        "天气好吗",
        "I went to the cinema on the second of May with my sister",
        "",
    ],
)
def test_a_new_question_or_a_long_remark_does_not_answer(text: str) -> None:
    assert not is_answer(text, CHOICE)


FILES = "The folder has two files:\n- big.txt, 400 lines\n- notes.md\n\nBoth are plain text."
STEPS = "I did this:\n1. read the schema\n2. wrote the migration"


@pytest.mark.parametrize(
    "text", ["Read big.txt", "notes.md", "run all tests", "the second", "测试库"]
)
@pytest.mark.parametrize("agent", [FILES, STEPS])
def test_a_list_that_offers_nothing_is_not_answered(text: str, agent: str) -> None:
    assert not is_answer(text, agent)


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("2", STEPS),
        ("notes.md", FILES.replace("The folder has two files", "You can choose one of these")),
        ("第二个", "有两个方案：\n- 测试库\n- 备份库"),
        ("yang kedua", "Ini opsinya:\n- basis uji\n- cadangan\n\nPilih salah satu."),
        ("the second", f"{STEPS}\n\nLet me know which to go on with."),
    ],
)
def test_a_list_that_offers_a_choice_is_answered(text: str, agent: str) -> None:
    assert is_answer(text, agent)


@pytest.mark.parametrize("agent", ["", "Done. The index is there.", "- one thing I did"])
def test_short_inputs_do_not_answer_a_turn_that_did_not_ask(agent: str) -> None:
    assert not is_answer("the blue one", agent)


def test_blank_lines_without_end_are_read_in_one_go() -> None:
    assert not is_answer("1", "\n" * 1_000_000)
    assert is_answer("1", CHOICE + "\n" * 1_000_000)
