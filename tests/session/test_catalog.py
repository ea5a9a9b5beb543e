"""What a list of sessions says of each recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gh_tui.events import types as ev
from gh_tui.events.codec import to_line
from gh_tui.events.envelope import Envelope
from gh_tui.events.values import Task
from gh_tui.session.catalog import list_sessions

TASK = ev.TaskStarted(task=Task(what="Write\nthe parser"), by="rules")


def record(path: Path, events: Iterable[ev.Event]) -> None:
    lines = (
        to_line(Envelope(number, "2026-01-01T00:00:00Z", path.stem, event))
        for number, event in enumerate(events, 1)
    )
    path.write_bytes(b"".join(lines))


def added(iri: str, supplement: str | None = None) -> ev.TurnAdded:
    return ev.TurnAdded(
        iri=iri, role="user", text="x", summary="x", tokens=1, supplement=supplement
    )


def test_sessions_are_told_newest_first_with_their_task_and_what_waits(tmp_path: Path) -> None:
    record(
        tmp_path / "20260101.jsonl",
        [
            ev.UserInputReceived(iri="i1", text="Write\nthe parser"),
            TASK,
            added("i1"),
            ev.UserInputReceived(iri="i2", text="waits for its turn"),
            *(ev.CycleStarted(cycle=number) for number in range(500)),
            ev.SupplementaryInputReceived(id="s1", text="was sent"),
            ev.SupplementInjected(id="s1", iri="i3", cycle=1, request=1),
            ev.SupplementaryInputReceived(id="s2", text="was given back"),
            ev.SupplementReturned(id="s2", text="was given back", reason="escape"),
            ev.SupplementaryInputReceived(id="s3", text="never reached a model"),
        ],
    )
    record(tmp_path / "20260102.jsonl", [TASK])
    (tmp_path / "20260103.jsonl").write_bytes(b"\x00 no record\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "20260102.jsonl")
    found = [(info.id, info.title, info.pending) for info in list_sessions(tmp_path)]
    assert found == [
        ("20260103", "", 0),
        ("20260102", "Write the parser", 0),
        ("20260101", "Write the parser", 2),
    ]
