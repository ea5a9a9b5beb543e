from datetime import timedelta

import pytest

from gh_tui.clock import timestamp
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import fold
from gh_tui.events.values import Fidelity, Phase, ToolCall
from gh_tui.tui.theme_files import DEFAULT_DARK, DEFAULT_LIGHT
from gh_tui.tui.widgets.entry import EntryScreen
from tests.tui.panes import Panes, lines, poor_segments, segments, widths
from tests.tui.sessions import START, Story, iri, long_session, migration, pass_started, states


def play(app: Panes, envelopes: list[Envelope]) -> None:
    for state, envelope in states(envelopes):
        app.timeline.show(state, envelope)


def row_of(app: Panes, words: str) -> str:
    found = [line for line in lines(app.timeline)[2:-2] if words in line]
    assert found, lines(app.timeline)
    return found[0]


async def test_changes_are_shown_with_their_reasons_in_words() -> None:
    app = Panes()
    async with app.run_test(size=(170, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        expected = {
            "[database]": "masked: tool result older than the newest 2 · pass 1",
            "今天天气真不错": "archived: relevance 0.04 < 0.30, idle 6 min · pass 1",
            "TINYINT(1)": "summary: lowest retention 0.18 · pass 2",
            "good editor": "archived: topic before the shift, idle 5 min · pass 2",
            "适合出门走走": "recalled by you",
        }
        for words, reason in expected.items():
            assert reason in row_of(app, words)


async def test_a_narrow_pane_still_says_why() -> None:
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        assert "0.04<0.30 p1" in row_of(app, "今天天气真不错")
        assert "archived: old topic p2  What" in row_of(app, "What is a good")
        assert "summary: lowest 0.18 p2  TINYINT" in row_of(app, "0.34")


async def test_a_row_has_number_and_bar_and_unknown_is_not_zero() -> None:
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        task, plan = row_of(app, "★"), row_of(app, "先列出表和依赖")
        assert "–" in task
        assert "0.0" not in task
        assert "0.81 ━━━━" in plan
        assert "F●" in plan
        assert "agent" in plan
        assert plan.endswith("38 11 min")


async def test_passes_are_lines_where_they_happened() -> None:
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        shown = lines(app.timeline)
        first = next(i for i, line in enumerate(shown) if "pass 1 ·" in line and "──" in line)
        assert "watermark · 1,342 → 620 tok · 2 masked, 2 archived" in shown[first]
        assert "要继续迁移吗" in shown[first - 1]
        assert "test-db" in shown[first + 1]


def previewed() -> list[Envelope]:
    """The migration, and a look at what the next pass would take of it."""
    story = migration()
    changes = (
        change(20, "full", "summary", "fusion", 9, retention=0.21),
        change(17, "full", "archived", "threshold", 26, relevance_score=0.27, threshold=0.3),
    )
    event = ev.PassPreviewed(
        policy="fusion", budget=1500, tokens_before=912, tokens_after=877, changes=changes
    )
    return [*story, Envelope(len(story) + 1, story[-1].time, story[-1].session, event)]


def change(
    number: int, before: Fidelity, after: Fidelity, phase: Phase, freed: int, **terms: float | None
) -> ev.TurnFidelityChanged:
    return ev.TurnFidelityChanged(
        iri=iri(number), before=before, after=after, phase=phase, terms=terms, tokens_freed=freed
    )


async def test_what_the_next_pass_would_take_is_marked_until_something_changes() -> None:
    app = Panes()
    async with app.run_test(size=(170, 40)) as pilot:
        play(app, previewed())
        await pilot.pause()
        assert "→ 2 would go" in lines(app.timeline)[0]
        row = row_of(app, "DataGrip")
        assert "F→A" in row
        assert "would be archived: relevance 0.27 < 0.30" in row
        assert "F→S" in row_of(app, "Skrip uji sudah")
        assert "would be" not in row_of(app, "Pantai dan kuliner")
        await pilot.resize_terminal(60, 40)
        await pilot.pause()
        assert "0.27<0.30" in row_of(app, "F→A")
        await pilot.resize_terminal(170, 40)
        state, then = fold(previewed()), previewed()[-1]
        app.timeline.show(state, None)
        pinned = Envelope(None, then.time, then.session, ev.TurnPinned(iri=iri(17)))
        state.apply(pinned)
        app.timeline.show(state, pinned)
        await pilot.pause()
        assert not [line for line in lines(app.timeline) if "→A" in line or "would" in line]


async def test_the_preview_can_be_asked_for_with_a_key() -> None:
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        app.timeline.focus()
        await pilot.press("v")
        assert app.posted == [("preview", "")]


async def test_a_narrow_pass_line_says_what_it_did() -> None:
    app = Panes()
    async with app.run_test(size=(44, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        assert "pass 2 · 1,288→884 tok · S1 A2" in "\n".join(lines(app.timeline))


async def test_the_header_counts_what_is_in_view() -> None:
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        state = fold(migration())
        seen = [turn for turn in state.turns.values() if turn.fidelity == "full"]
        tokens = sum(turn.tokens for turn in seen) + (292 - 268) + (140 - 118)
        total = sum(turn.tokens for turn in state.turns.values())
        assert f"{tokens:,} of {total:,} tok in view" in lines(app.timeline)[0]
        assert f"F● full {len(seen)}  M◐ masked 1" in lines(app.timeline)[0]
        await pilot.resize_terminal(80, 40)
        await pilot.pause()
        assert f"{tokens:,}/{total:,} tok confirmed" in lines(app.timeline)[0]


async def test_a_rebuild_shows_what_the_events_showed() -> None:
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        by_events = lines(app.timeline)
        app.timeline.show(fold(migration()), None)
        app.timeline.tick(migration()[-1].time)
        await pilot.pause()
        assert lines(app.timeline) == by_events


async def test_every_line_fills_the_pane_exactly() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        app.timeline.focus()
        play(app, migration())
        for width in (1, 9, 20, 40, 41, 59, 60, 80, 109, 110, 129, 130, 200, 40):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert widths(app.timeline) == {max(0, width - 1)}


async def test_a_low_pane_shows_the_newest_turn() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        play(app, migration())
        for height in (13, 12, 8, 6, 5, 4, 3, 24):
            await pilot.resize_terminal(80, height + 2)
            await pilot.pause()
            assert any("◂" in line and "▌" in line for line in lines(app.timeline))


async def test_it_follows_the_newest_until_the_user_looks_back() -> None:
    app = Panes()
    envelopes = long_session(200)
    async with app.run_test(size=(80, 24)) as pilot:
        app.timeline.focus()
        half = len(envelopes) // 2
        stream = states(envelopes)
        for _ in range(half):
            app.timeline.show(*next(stream))
        await pilot.pause()
        assert app.timeline.following
        assert any("◂" in line for line in lines(app.timeline))
        await pilot.press("pageup")
        kept, looked_at = app.timeline.selected_iri, app.timeline.scroll_offset.y
        for _ in range(100):
            app.timeline.show(*next(stream))
        await pilot.pause()
        assert app.timeline.selected_iri == kept
        assert app.timeline.scroll_offset.y == looked_at
        await pilot.press("end")
        for state, envelope in stream:
            app.timeline.show(state, envelope)
        await pilot.pause()
        assert app.timeline.selected_iri == iri(200)
        assert any("turn 200" in line for line in lines(app.timeline))


async def test_scrolling_back_with_the_mouse_stops_following() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        play(app, long_session(100))
        await pilot.pause()
        app.timeline.scroll_to(y=10, animate=False)
        assert not app.timeline.following
        app.timeline.scroll_to(y=app.timeline.max_scroll_y, animate=False)
        assert app.timeline.following


async def test_keys_ask_for_actions() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        app.timeline.focus()
        play(app, migration())
        await pilot.pause()
        await pilot.press("home", "p", "r", "u", "enter")
        assert app.posted == [
            ("pin", iri(1)),
            ("recall", iri(1)),
            ("undo", iri(1)),
            ("open", iri(1)),
        ]


async def test_p_lifts_a_pin_that_is_there() -> None:
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        app.timeline.focus()
        play(app, migration())
        await pilot.pause()
        await pilot.press("home", *["down"] * 10, "p")
        assert app.posted[-1] == ("unpin", iri(11))
        assert "◆" in row_of(app, "postgres://")


async def test_up_and_down_step_over_passes() -> None:
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        app.timeline.focus()
        play(app, migration())
        await pilot.pause()
        await pilot.press("home", *["down"] * 9)
        assert app.timeline.selected_iri == iri(10)
        await pilot.press("up")
        assert app.timeline.selected_iri == iri(9)


async def test_a_click_selects_and_a_second_opens() -> None:
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        play(app, migration())
        await pilot.pause()
        await pilot.click(app.timeline, offset=(30, 4))
        assert app.timeline.selected_iri == iri(3)
        assert app.posted == []
        await pilot.click(app.timeline, offset=(30, 4), times=2)
        assert app.posted[-1] == ("open", iri(3))
        await pilot.click(app.timeline, offset=(30, 0))
        assert app.timeline.selected_iri == iri(3)


async def test_the_filter_goes_round() -> None:
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        app.timeline.focus()
        play(app, migration())
        await pilot.pause()
        await pilot.press("f")
        shown = "\n".join(lines(app.timeline))
        assert "only changed" in shown
        assert "recalled by you" in shown
        assert "Keep the ids" not in shown
        await pilot.press("f")
        shown = "\n".join(lines(app.timeline))
        assert "only protected" in shown
        assert "Keep the ids" in shown
        assert "TINYINT" not in shown
        await pilot.press("f", "f")
        assert "only" not in lines(app.timeline)[0]


async def test_a_filtered_view_takes_in_new_events() -> None:
    app = Panes()
    envelopes = migration()
    async with app.run_test(size=(100, 40)) as pilot:
        app.timeline.focus()
        await pilot.press("f")
        play(app, envelopes)
        await pilot.pause()
        assert "recalled by you" in "\n".join(lines(app.timeline))


async def test_newest_changes_stand_out_until_the_next_pass() -> None:
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        envelopes = migration()
        cut = next(
            index
            for index, envelope in enumerate(envelopes)
            if isinstance(envelope.event, ev.PassStarted) and envelope.event.pass_ == 2
        )
        stream = states(envelopes)
        for _ in range(cut):
            app.timeline.show(*next(stream))
        await pilot.pause()
        assert row_of(app, "0.04").startswith("▎")
        app.timeline.show(*next(stream))
        await pilot.pause()
        assert not row_of(app, "0.04").startswith("▎")


async def test_drawn_lines_do_not_go_stale() -> None:
    """What is drawn event by event equals a fresh drawing, colours included."""
    app = Panes()
    async with app.run_test(size=(100, 40)) as pilot:
        for state, envelope in states(migration()):
            app.timeline.show(state, envelope)
            await pilot.pause()
            by_events = list(segments(app.timeline))
            app.timeline.notify_style_update()
            assert list(segments(app.timeline)) == by_events, envelope.event


async def test_ten_thousand_turns_and_one_more() -> None:
    app = Panes()
    state = fold(long_session(10_000))
    async with app.run_test(size=(120, 40)) as pilot:
        app.timeline.focus()
        app.timeline.show(state, None)
        await pilot.pause()
        assert any("turn 10000" in line for line in lines(app.timeline))
        added = ev.TurnAdded(iri="x", role="user", text="one more", summary="one more", tokens=3)
        state.apply(envelope := Envelope(99_999, state.turns[iri(1)].time, "s", added))
        app.timeline.show(state, envelope)
        await pilot.pause()
        assert any("one more" in line for line in lines(app.timeline))


HOSTILE = "[/x] [b [@click=app.quit]go[/] \x1b]52;c;cm0=\x07 \x9b31m \u202egnp\u200b"


async def test_foreign_text_is_literal() -> None:
    app = Panes()
    story = Story()
    where = story.turn("tool", HOSTILE, 5, 0.4, name="[red]\x1b[0m")
    story.say(
        ev.TurnFidelityChanged(
            iri=where,
            before="full",
            after="masked",
            phase="mask",
            terms={"[/x]\x1b": 1.0},
            tokens_freed=1,
        )
    )
    async with app.run_test(size=(200, 24)) as pilot:
        play(app, story.envelopes)
        await pilot.pause()
        shown = "\n".join(lines(app.timeline))
        assert "[/x] [b [@click=app.quit]go[/] ␛]52;c;cm0=␇" in shown
        assert not set(shown) & set("\x1b\x07\x9b\u202e\u200b")
        await app.push_screen(EntryScreen(fold(story.envelopes), where))
        await pilot.pause()
        svg = app.export_screenshot()
        assert not set(svg) & set("\x1b\x07\x9b\u202e\u200b")


async def test_a_turn_that_only_calls_says_what() -> None:
    app = Panes()
    story = Story()
    call = ToolCall(id="c1", name="list_files\x1b[0m", arguments={})
    story.say(
        ev.TurnAdded(iri=iri(1), role="assistant", text="", summary="", tokens=9, calls=(call,))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        play(app, story.envelopes)
        await pilot.pause()
        assert "→ list_files␛[0m" in row_of(app, "agent")


async def test_a_damaged_time_is_a_dash() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        state = fold(migration())
        state.turns[iri(24)].time = "yesterday"
        app.timeline.show(state, None)
        await pilot.pause()
        assert row_of(app, "◂").endswith("–")


async def test_ages_grow_while_nothing_happens() -> None:
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        play(app, migration())
        app.timeline.tick(timestamp(START + timedelta(hours=3)))
        await pilot.pause()
        assert row_of(app, "◂").endswith("2 h")


@pytest.mark.parametrize("theme", [DEFAULT_DARK, DEFAULT_LIGHT])
async def test_every_word_is_readable(theme: str) -> None:
    app = Panes(theme)
    async with app.run_test(size=(100, 40)) as pilot:
        app.timeline.focus()
        play(app, previewed())
        await pilot.press("home", "f")
        for _ in range(8):
            await pilot.press("down")
            assert poor_segments(app.timeline) == []


async def test_a_turn_that_changed_twice_in_a_pass_is_counted_once() -> None:
    app = Panes()
    story = Story()
    story.turn("tool", "a result", 300, 0.4, name="read_file")
    story.say(pass_started(1, "watermark", 1342))
    story.change(1, "full", "masked", "mask", 200, 1)
    story.change(1, "masked", "archived", "fusion", 100, 1, retention=0.2)
    async with app.run_test(size=(100, 20)) as pilot:
        play(app, story.envelopes)
        await pilot.pause()
        assert "tok · 1 archived ─" in row_of(app, "pass 1 · watermark")
