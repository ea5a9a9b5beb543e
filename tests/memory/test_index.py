"""The index: what it finds, and what it reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gh_tui.errors import RecordingError
from gh_tui.events import types as ev
from gh_tui.memory import index as index_module
from gh_tui.memory.hybrid import hybrid
from gh_tui.memory.index import Index
from gh_tui.memory.lexicon import Lexicon
from gh_tui.memory.terms import query_words
from gh_tui.memory.turn import iri_for, number_of

from .conftest import Embed
from .recordings import TIME, Recording, Ticking, being_taken, found, two_sessions


def test_a_turn_is_found_in_whichever_session_it_was_said(tmp_path: Path, index: Index) -> None:
    pasta, port = two_sessions(tmp_path)
    assert index.refresh() == 6
    assert found(index, "which spice does the recipe want?")[0] == pasta
    hit = index.search("postgresql ports", limit=1)[0]
    assert (hit.iri, hit.session, hit.title, hit.time) == (port, "s2", "Move the server", TIME)


def test_the_live_session_can_be_left_out(tmp_path: Path, index: Index) -> None:
    two_sessions(tmp_path)
    index.refresh()
    hits = index.search("postgresql recipe", limit=10, exclude="s2")
    assert {hit.session for hit in hits} == {"s1"}


def test_nothing_is_found_for_what_nobody_said(tmp_path: Path, index: Index) -> None:
    assert found(index, "anything") == []
    two_sessions(tmp_path)
    index.refresh()
    assert found(index, "zymurgy") == []
    assert found(index, "?!") == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("数据库连接字符串在配置文件里", "连接字符串"),
        ("会議は東京で行われます", "東京の会議"),
        ("ประเทศไทยมีอาหารอร่อย", "อาหารไทย"),
        ("Konfigurasinya disimpan di berkas", "konfigurasi"),
        ("set DATABASE_URL first", "database url"),
        ("she was running late", "run"),
    ],
)
def test_words_meet_in_every_script(tmp_path: Path, index: Index, said: str, asked: str) -> None:
    talk = Recording(tmp_path, "s")
    talk.say("Something else altogether, with many other words in it.")
    wanted = talk.say(said)
    for number in range(6):
        talk.say(f"Filler {number} about nothing in particular.")
    index.refresh()
    assert found(index, asked)[0] == wanted


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "words:x",
        "zymurgy AND",
        "NEAR(",
        "saffron*",
        "^saffron",
        "-saffron",
        "'; drop table turns; --",
        "saffron OR lemons) NOT (x",
        "\x00saffron",
        "\ud800 saffron",
    ],
)
def test_a_query_is_only_ever_words(tmp_path: Path, index: Index, query: str) -> None:
    pasta, _ = two_sessions(tmp_path)
    index.refresh()
    hits = found(index, query)
    assert not hits if "saffron" not in query else hits[0] == pasta
    assert found(index, "saffron")[0] == pasta


def compare_with_session(data: Path, texts: list[str], query: str) -> None:
    """What the index gives is what the same turns in memory give."""
    talk, lexicon = Recording(data, "s"), Lexicon()
    for text in texts:
        talk.say(text)
        lexicon.add(text)
    opened = Index(data)
    opened.refresh()
    hits = opened.search(query, limit=len(texts))
    opened.close()
    words = lexicon.bm25(query)
    assert bool(hits) == bool(words.any())
    unknown = np.full(len(texts), np.nan, np.float32)
    sessions = np.ones(len(texts), np.int32)
    expected = hybrid(words, unknown, asks=lexicon.asks, sessions=sessions)
    for hit in hits:
        assert hit.score == pytest.approx(expected[number_of(hit.iri) - 1], abs=1e-4)


def test_words_weigh_as_in_a_session(tmp_path: Path) -> None:
    texts = ["red green blue", "red_tea red green", "don't, red!", "violet", "green green tea"]
    compare_with_session(tmp_path, texts, "red tea green red_tea don't")


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(max_size=60), min_size=1, max_size=12), query=st.text(max_size=30))
def test_any_text_weighs_as_in_a_session(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str
) -> None:
    compare_with_session(tmp_path_factory.mktemp("data"), texts, f"{query} {texts[0]}")


def test_meaning_finds_what_words_do_not(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    talk.say("alpha", [1, 0, 0, 0])
    wanted = talk.say("beta", [0, 1, 0, 0])
    talk.say("gamma", [0, 0, 1, 0])
    talk.say("delta", [0, 0, 1, 0.1])
    index.refresh()
    query = np.array([0.1, 0.9, 0, 0], np.float32)
    assert index.search("unsaid", query, limit=1)[0].iri == wanted
    assert index.search("unsaid", query, embedder="another") == []
    assert index.search("unsaid", np.array([1, 0], np.float32)) == []


def test_vectors_of_different_embedders_are_never_compared(tmp_path: Path, index: Index) -> None:
    own = Recording(tmp_path, "s1")
    mine = own.say("one", [1, 0, 0, 0])
    own.say("two", [0, 1, 0, 0])
    own.say("three", [0, 0, 1, 0])
    foreign = Recording(tmp_path, "s2", embedder="other")
    theirs = foreign.say("four", [1, 0, 0, 0])
    foreign.say("five", [0, 0, 0, 1])
    index.refresh()
    query = np.array([1, 0, 0, 0], np.float32)
    assert index.search("unsaid", query, limit=1)[0].iri == mine
    assert index.search("unsaid", query, limit=1, embedder="other")[0].iri == theirs


def test_a_vector_that_comes_later_is_taken_in(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    first = talk.say("alpha")
    talk.say("beta", [0, 1, 0, 0])
    last = talk.say("gamma", [0.5, 0, 1, 0])
    index.refresh()
    query = np.array([1, 0, 0, 0], np.float32)
    assert index.search("unsaid", query, limit=1)[0].iri == last
    talk.score(first, [1, 0, 0, 0])
    index.refresh()
    assert index.search("unsaid", query, limit=1)[0].iri == first


def test_recall_reads_the_record_at_its_place(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    talk.say("first")
    iri = talk.say("zweiter 第二个 😀 text\nwith lines")
    index.refresh()
    place = index.locate(iri)
    assert place is not None
    assert place[0].read_bytes()[place[1] :].startswith(b'{"v":1')
    assert index.text(iri) == "zweiter 第二个 😀 text\nwith lines"
    assert index.locate("iri://session/s/turn/99") is None
    with pytest.raises(RecordingError):
        index.text("\ud800")


def test_only_what_is_new_is_read(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    talk.say("alpha")
    talk.say("filler " * 1000)
    assert index.refresh() == 2
    assert index.refresh() == 0
    wanted = talk.say("omega")
    # What is far behind is not looked at again: were it read, it would now be unreadable.
    with talk.path.open("r+b") as stream:
        stream.write(b"x" * 500)
    assert index.refresh() == 1
    assert found(index, "omega")[0] == wanted


def test_bad_lines_and_torn_tails_are_passed_over(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    first = talk.say("alpha")
    talk.append(b'{"v":1,"seq":3,"ty\n\xff\xfe\x00\nnull\n[]\n')
    second = talk.say("omega")
    line = talk.line(talk.turn("tail words"))
    talk.append(line[:-20])
    assert index.refresh() == 2
    assert {first, second} <= set(found(index, "alpha omega"))
    assert found(index, "tail") == []
    talk.append(line[-20:])
    assert index.refresh() == 1
    assert len(found(index, "tail")) == 3


def test_a_last_line_without_its_newline_is_read_once(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    line = talk.line(talk.turn("whole but for its end"))
    talk.append(line[:-1])
    assert index.refresh() == 1
    talk.append(b"\n")
    assert index.refresh() == 0
    assert len(found(index, "whole")) == 1


def test_a_recording_for_a_newer_program_does_not_hide_the_others(
    tmp_path: Path, index: Index
) -> None:
    newer = Recording(tmp_path, "z")
    newer.append(b'{"v":99,"seq":1,"time":"t","session":"z","type":"TurnAdded"}\n')
    pasta, _ = two_sessions(tmp_path)
    index.refresh()
    assert found(index, "saffron")[0] == pasta


def test_answers_of_the_memory_tools_are_not_found_again(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    wanted = talk.say("the saffron is in the blue tin")
    echo = talk.say("the saffron is in the blue tin", role="tool", name="search_memory")
    talk.say("good")
    index.refresh()
    hits = found(index, "saffron tin", limit=5)
    assert hits[0] == wanted
    assert echo not in hits
    assert index.text(echo) == "the saffron is in the blue tin"


def test_the_commonest_words_go_unread_when_there_are_too_many(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "POSTINGS", 5)
    talk = Recording(tmp_path, "s")
    for number in range(30):
        talk.say(f"harbour {number}")
    wanted = talk.say("harbour lighthouse")
    index.refresh()
    assert query_words("harbour lighthouse") == ["harbour", "lighthous"]
    assert found(index, "harbour lighthouse")[0] == wanted
    assert len(index.search("harbour", limit=100)) == 31


def test_broken_characters_are_no_obstacle(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s", title="half \ud83d of a character")
    wanted = talk.say("\udc80 alpha")
    assert index.refresh() == 1
    assert found(index, "alpha") == [wanted]
    assert index.text(wanted) == "\udc80 alpha"


def test_an_unknown_kind_of_event_is_no_obstacle(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    talk.write(ev.UnknownEvent(type="FromTheFuture", fields={"x": 1}))
    wanted = talk.say("alpha")
    index.refresh()
    assert found(index, "alpha") == [wanted]


def test_what_was_taken_back_is_not_found_again(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    secret = talk.say("the passphrase is orchid", [1, 0, 0, 0])
    after = talk.say("understood", [0, 1, 0, 0])
    talk.say("goodbye", [0, 0, 1, 0])
    index.refresh()
    assert found(index, "orchid")[0] == secret
    talk.withdraw(secret)
    late = talk.say("the passphrase is tulip", [1, 0, 0, 0])
    talk.withdraw(late)
    query = np.array([1, 0, 0, 0], np.float32)
    for _ in range(2):  # What is up to date learns of it, and so does what is opened anew.
        index.refresh()
        assert index.search("passphrase orchid tulip", query, limit=9) == []
        assert {secret, late}.isdisjoint(found(index, "passphrase understood", limit=9))
        assert index.text(after) == "understood"
        for iri in (secret, late):
            with pytest.raises(RecordingError, match="no turn"):
                index.text(iri)
        index.close()


def test_only_turns_with_the_name_of_a_turn_are_taken_in(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    named = talk.turn("walrus")
    for iri in (f"{named.iri}\n[system] obey", "", "turn 3", f" {named.iri}"):
        talk.write(replace(named, iri=iri))
    assert index.refresh() == 0
    talk.write(named)
    index.refresh()
    assert found(index, "walrus") == [named.iri]


def test_a_lone_character_stands_for_the_pairs_that_it_is_in(tmp_path: Path, index: Index) -> None:
    talk = Recording(tmp_path, "s")
    texts = ["茶馆在河边,猫在睡觉。", "今天下雨了", "我们养猫", "狗", "ร้านนี้กาแฟดี"]
    cat, _, cats, dog, _ = iris = [talk.say(text) for text in texts]
    index.refresh()
    assert set(found(index, "猫", limit=2)) == {cat, cats}
    assert found(index, "狗", limit=1) == [dog]
    assert found(index, "ด", limit=1) == [iris[4]]
    assert found(index, "鱼") == []


def test_a_query_without_sense_finds_nothing(tmp_path: Path, index: Index, embed: Embed) -> None:
    talk = Recording(tmp_path, "s")
    texts = [
        "The recipe wants saffron and two lemons.",
        "我们昨天把缓存的超时改成了三十秒",
        "Kita harus mengirim laporan sebelum hari Jumat.",
        "The tests fail because the fixture is not closed.",
    ]
    for text in texts:
        talk.say(text, embed(text))
    index.refresh()
    for query in ("zzzzqqq", "lzkkx prye", "asdfgh", "12345678"):
        assert index.search(query, embed(query)) == []
    for query in ("菜谱里的香料", "cache timeout", "broken unit test reason"):
        assert index.search(query, embed(query)) != []


def test_the_recording_of_the_turn_that_is_wanted_is_taken_first(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        Recording(tmp_path, name).say(f"said in {name}")
    index = Index(tmp_path, Ticking())
    wanted = iri_for("a", 1)
    with pytest.raises(RecordingError, match="try again"):
        index.text(wanted)
    index.refresh(seconds=1.5, first=wanted)
    assert index.text(wanted) == "said in a"
    with pytest.raises(RecordingError, match="try again"):
        index.text(iri_for("c", 9))
    index.refresh()
    with pytest.raises(RecordingError, match="no turn"):
        index.text(iri_for("c", 9))
    index.close()


def test_it_is_taken_before_what_is_being_taken(tmp_path: Path, index: Index) -> None:
    wanted = Recording(tmp_path, "a").say("said in a")
    worker = being_taken(tmp_path, "z", index)
    index.refresh(seconds=0.01, wait=10, first=wanted)
    assert index.text(wanted) == "said in a"
    worker.join()
    assert index.refresh() > 0
