from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.memory import forms
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.names import MOST, digest, names_in
from gh_tui.memory.tokens import count

from .sessions import Talk, changes

SOURCE = """\
import { useTeam } from "./hooks/useTeam.ts";
export function TeamSheet(props) {
  const team_id = useTeam(props);
  return loadRows(team_id);
}
"""


def test_paths_and_identifiers_are_names_and_words_are_not() -> None:
    text = "The parser reads src/app/main.py, calls parse_line(x) and returns HTTP2 or a TokenList."
    assert list(names_in(text)) == ["src/app/main.py", "parse_line", "HTTP2", "TokenList"]


def test_a_name_does_not_end_with_the_sentence() -> None:
    assert list(names_in("See docs/guide.md. Then run ./build.sh, or (~/bin/tool).")) == [
        "docs/guide.md",
        "./build.sh",
        "~/bin/tool",
    ]


def test_names_that_repeat_come_first_and_known_ones_are_left_out() -> None:
    assert digest(SOURCE, (), 100)[:2] == ("useTeam", "team_id")
    assert digest(SOURCE, {"useTeam"}, 100)[0] == "team_id"
    assert digest(SOURCE, set(names_in(SOURCE)), 100) == ()


@given(st.text(max_size=3000), st.integers(0, 200))
def test_a_digest_keeps_to_its_room(text: str, room: int) -> None:
    names = digest(text, (), room)
    assert count(", ".join(names)) <= room + 1
    assert set(names) <= set(names_in(text))


@pytest.mark.parametrize("unit", ["a", "1", "a/", "-a", "_", ".", "a.", "aB", "/", "a-b-"])
def test_no_text_is_slow_to_read(unit: str) -> None:
    start = time.perf_counter()
    digest(unit * 20_000, (), MOST)
    assert time.perf_counter() - start < 1


def talk_of(*results: str) -> Talk:
    talk = Talk(EvictionConfig(keep_tool_results=0))
    talk.say("user", "Fix the team page.", is_task=True)
    for result in results:
        talk.exchange(result)
    talk.exchange("ok")
    return talk


def test_a_masked_result_still_shows_the_names_that_only_it_had() -> None:
    talk = talk_of(SOURCE * 8)
    (change,) = changes(talk.run(budget=10_000))
    row = talk.l1.row(change.iri)
    shown = talk.shown(row)
    assert change.after == "masked"
    assert all(name in shown for name in ("useTeam", "team_id", "TeamSheet", "loadRows"))
    assert shown.endswith(change.iri)
    assert shown.splitlines() == [shown]
    assert int(talk.l1.table.line[row]) < int(talk.l1.table.full[row]) // 2


def test_a_second_reading_of_the_same_text_adds_no_names() -> None:
    talk = talk_of(SOURCE * 8, SOURCE * 8)
    talk.run(budget=10_000)
    first, second, _ = (
        talk.shown(row) for row, turn in enumerate(talk.l1.turns) if turn.role == "tool"
    )
    assert "loadRows" in first
    assert "loadRows" not in second


def test_the_line_of_an_exchange_keeps_the_names_of_its_results() -> None:
    talk = Talk()
    head, result = talk.exchange(SOURCE * 8)
    line = forms.exchange_line(head, [result], ("loadRows", "team_id"))
    assert line.endswith(f" · names: loadRows, team_id · {head.iri}")
    assert talk.l1.turn(head.iri).iri in line


def test_a_restored_session_shows_the_same_lines() -> None:
    talk = talk_of(SOURCE * 8, SOURCE * 8)
    again = Talk(EvictionConfig(keep_tool_results=0))
    again.l1.restore(talk.l1.turns)
    for session in (talk, again):
        session.now = talk.now
        session.run(budget=10_000)
    rows = range(len(talk.l1))
    assert [again.shown(row) for row in rows] == [talk.shown(row) for row in rows]
