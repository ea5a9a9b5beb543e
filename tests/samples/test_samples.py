"""The shipped recordings: real runs that replay to the state that they had."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gh_tui.events import types as ev
from gh_tui.events.state import fold
from gh_tui.journal.reader import read_records
from gh_tui.session.catalog import describe, samples
from gh_tui.session.player import Player

SAMPLES = samples()


def events(path: Path) -> list[ev.Event]:
    return [record.envelope.event for record in read_records(path) if record.envelope]


def test_there_are_at_least_three() -> None:
    assert len(SAMPLES) >= 3


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
async def test_a_sample_replays_to_the_state_of_the_run(path: Path) -> None:
    records = list(read_records(path))
    assert all(record.envelope for record in records)
    assert [r.envelope.seq for r in records if r.envelope] == list(range(1, len(records) + 1))
    player = Player(path)
    player.set_speed(64)
    while not player.finished:
        await player.step()
    assert player.state == fold(r.envelope for r in records if r.envelope)
    assert player.state.ended
    assert player.position == player.total == len(records)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_of_a_real_model_and_tells_nothing_of_the_machine(path: Path) -> None:
    started = next(e for e in events(path) if isinstance(e, ev.SessionStarted))
    assert started.provider == "local"
    assert describe(path).title
    assert not re.search(rb"/(home|root|tmp|work|Users)/", path.read_bytes())


def test_the_correction_is_obeyed_in_the_first() -> None:
    state = fold(r.envelope for r in read_records(SAMPLES[0]) if r.envelope)
    supplement = next(iter(state.supplements.values()))
    assert supplement.status == "injected"
    assert "pipx" in state.answer


def test_the_samples_show_every_movement_of_the_memory() -> None:
    seen = [event for path in SAMPLES for event in events(path)]
    changes = [event for event in seen if isinstance(event, ev.TurnFidelityChanged)]
    assert {change.after for change in changes} == {"full", "masked", "summary", "archived"}
    assert {"mask", "fusion", "topic", "recall", "undo"} <= {change.phase for change in changes}
    assert any(isinstance(event, ev.TopicShiftDetected) for event in seen)
