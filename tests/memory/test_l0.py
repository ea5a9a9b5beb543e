"""The archive of the live session."""

from __future__ import annotations

import numpy as np
import pytest

from gh_tui.errors import RecordingError
from gh_tui.events.types import TurnAdded
from gh_tui.memory.hits import best
from gh_tui.memory.l0 import L0
from gh_tui.memory.turn import iri_for


def turn(number: int, text: str, **fields: str) -> TurnAdded:
    iri = iri_for("s", number)
    name = fields.get("name")
    return TurnAdded(iri=iri, role="user", text=text, summary=text[:40], tokens=1, name=name)


def archive(*texts: str) -> L0:
    l0 = L0()
    for number, text in enumerate(texts, 1):
        l0.add(turn(number, text))
    return l0


def numbers(l0: L0, query: str, limit: int = 3) -> list[int]:
    return [int(hit.iri.rpartition("/")[2]) for hit in l0.search(query, None, limit)]


def test_a_turn_is_found_in_the_moment_it_is_added() -> None:
    l0 = archive("We cook on Friday.", "The recipe wants saffron.")
    assert numbers(l0, "which spice: saffron or basil?")[0] == 2
    l0.add(turn(3, "Basil is better than saffron, says Anna."))
    assert numbers(l0, "what does Anna say?")[0] == 3


def test_the_whole_text_comes_back_and_unknown_names_are_told() -> None:
    long = "x" * 100_000 + " end\n第二行"
    l0 = archive("first", long)
    assert l0.text(iri_for("s", 2)) == long
    for call in (l0.text, lambda iri: l0.add_vector(iri, np.ones(2, np.float32))):
        with pytest.raises(RecordingError, match="turn/9"):
            call(iri_for("s", 9))


def test_a_second_turn_of_the_same_name_changes_nothing() -> None:
    l0 = archive("alpha")
    l0.add(turn(1, "omega"))
    assert l0.text(iri_for("s", 1)) == "alpha"
    assert len(l0) == 1


def test_an_empty_archive_finds_nothing() -> None:
    assert L0().search("anything", np.ones(4, np.float32)) == []


def test_an_answer_counts_by_the_question_before_it() -> None:
    l0 = archive(
        "The garden needs water.",
        "Which port does PostgreSQL use on the test machine?",
        "It is 5433.",
        "The hedge is next.",
        "And then the roses, and the lawn.",
        "Then we are done.",
    )
    assert numbers(l0, "PostgreSQL port on the test machine", 2) in ([2, 3], [3, 2])


def test_a_statement_is_a_better_answer_than_a_question() -> None:
    filler = ["The weather stays fine all day."] * 12
    filler[3], filler[8] = "The key is under the mat?", "The key is under the mat."
    assert numbers(archive(*filler), "where is the key", 1) == [9]


def test_meaning_finds_what_words_do_not() -> None:
    l0 = archive("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    for number in range(1, 7):
        l0.add_vector(iri_for("s", number), np.eye(6, dtype=np.float32)[number - 1])
    hits = l0.search("unsaid", np.array([0, 0, 0.2, 0.9, 0, 0], np.float32), 1)
    assert hits[0].iri == iri_for("s", 4)


@pytest.mark.parametrize(
    "vector",
    [np.zeros(4, np.float32), np.full(4, np.nan, np.float32), np.ones(3, np.float32)],
    ids=["zero", "not finite", "another dimension"],
)
def test_a_vector_that_cannot_be_compared_is_unknown(vector: np.ndarray) -> None:
    l0 = archive("alpha", "beta", "gamma")
    l0.add_vector(iri_for("s", 2), np.array([1, 0, 0, 0], np.float32))
    l0.add_vector(iri_for("s", 1), vector)
    for query in (np.array([1, 0, 0, 0], np.float32), vector):
        assert all(np.isfinite(hit.score) for hit in l0.search("beta", query))
        assert l0.search("beta", query)[0].iri == iri_for("s", 2)


def test_answers_of_the_memory_tools_are_not_found_again() -> None:
    l0 = archive("The saffron is in the blue tin.", "Good.")
    l0.add(turn(3, "the saffron is in the blue tin", name="recall"))
    assert numbers(l0, "saffron tin", 9) == [1, 2]


def test_the_best_come_in_order_and_equal_ones_by_their_place() -> None:
    scores = np.array([1, 3, 2, 3, -np.inf, 3], np.float32)
    assert best(scores, 2) == [1, 3]
    assert best(scores, 4) == [1, 3, 5, 2]
    assert best(scores, 99) == [1, 3, 5, 2, 0]


def test_what_has_nothing_to_do_with_any_turn_finds_none() -> None:
    l0 = archive("alpha", "beta", "gamma 猫在睡觉", "delta")
    for number in range(1, 5):
        l0.add_vector(iri_for("s", number), np.eye(5, dtype=np.float32)[number - 1])
    nothing = np.array([0.1, 0.1, 0.1, 0.1, 1], np.float32)
    for query in ("", "?!", "unsaid"):
        assert l0.search(query, nothing) == []
        assert l0.search(query, None) == []
    assert numbers(l0, "猫", 1) == [3]
    near = np.array([0, 0.5, 0, 0, 1], np.float32)
    assert l0.search("unsaid", near)[0].iri == iri_for("s", 2)


def test_what_was_taken_back_neither_is_found_nor_finds_others() -> None:
    l0 = archive("the passphrase is orchid", "understood", "goodbye")
    l0.add_vector(iri_for("s", 1), np.array([1, 0], np.float32))
    l0.withdraw(iri_for("s", 1))
    assert l0.search("orchid", np.array([1, 0], np.float32)) == []
    assert numbers(l0, "understood", 9) == [2, 3]
