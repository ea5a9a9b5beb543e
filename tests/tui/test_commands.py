from __future__ import annotations

import pytest

from gh_tui.tui.commands import (
    Mode,
    completed,
    enter_meaning,
    is_command,
    matching,
    other_keys,
)


@pytest.mark.parametrize(
    ("text", "busy", "ready", "has_task", "wanted"),
    [
        ("", False, True, False, "Enter: start a task"),
        ("hello", False, True, True, "Enter: send"),
        ("hello", False, False, False, "Enter: start a task — it runs when the model is ready"),
        ("hello", True, True, True, "Enter: supplement — the agent reads it at its next step"),
        ("/pin 3", True, True, True, "Enter: run command /pin"),
        ("/whatever", False, True, True, "Enter: run command"),
        ("//etc/hosts", False, True, True, "Enter: send"),
        ("  /undo", False, True, True, "Enter: run command /undo"),
    ],
)
def test_the_title_says_what_enter_does(
    text: str, busy: bool, ready: bool, has_task: bool, wanted: str
) -> None:
    assert enter_meaning(text, Mode(busy=busy, ready=ready, has_task=has_task)) == wanted


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        (Mode(busy=True, paused=True), "the agent reads it when you resume (F8)"),
        (Mode(has_task=True, paused=True), "Enter: send — it waits until you resume (F8)"),
        (Mode(has_task=True, waiting=1), "it runs after 1 input that waits; Esc takes that back"),
        (Mode(has_task=True, deferred=1), "Enter: send — what was not delivered goes with it"),
        (Mode(has_task=True, waiting=3), "it runs after 3 inputs that wait; Esc takes them back"),
    ],
)
def test_the_title_and_the_keys_know_of_a_pause_and_of_what_waits(mode: Mode, wanted: str) -> None:
    assert wanted in enter_meaning("text", mode)
    assert other_keys(mode)[0].startswith("F8")
    assert "Alt+N at once" not in other_keys(mode)


def test_hints_follow_the_first_word() -> None:
    assert [c.name for c in matching("/p")] == ["/preview", "/pin", "/pause"]
    assert [c.name for c in matching("/pin 3")] == ["/pin"]
    assert matching("hello") == ()
    assert matching("//p") == ()
    assert not is_command("//p")


def test_completion_only_of_a_single_match() -> None:
    assert completed("/pi") == "/pin "
    assert completed("/und") == "/undo"
    assert completed("/p") is None
    assert completed("/undo") is None
    assert completed("hello") is None
