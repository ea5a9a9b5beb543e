from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gh_tui.clock import timestamp
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState, fold
from gh_tui.tui.theme_files import DEFAULT_DARK, DEFAULT_LIGHT
from gh_tui.tui.widgets.status_words import Part, ReplayInfo, activity, arrange
from tests.tui.panes import Panes, lines, poor_segments, widths
from tests.tui.sessions import SESSION, migration, states

REPLAY = ReplayInfo(title="drift", position=34, total=210, playing=True, speed=2.0)


def state_after(*events: ev.Event) -> SessionState:
    """The migration with its shift left out, then the events."""
    calm = [e for e in migration() if not isinstance(e.event, ev.TopicShiftDetected)]
    state = fold(calm)
    for event in events:
        state.apply(Envelope(None, "2026-01-07T10:00:00.000Z", SESSION, event))
    return state


async def shown(app: Panes, state: SessionState, width: int = 120) -> list[str]:
    async with app.run_test(size=(width, 12)) as pilot:
        app.status.show(state, None, None)
        await pilot.pause()
        assert widths(app.status) == {width}
        return lines(app.status)


async def test_task_model_context_and_counts() -> None:
    first, second = await shown(Panes(), state_after(), 150)
    assert "把订单库从 MySQL 迁移到 PostgreSQL" in first
    assert first.endswith("local·qwen2.5-coder-1.5b-instruct-q4_k_m")
    assert "prefill 212 tok ≈ 3 s…  at 77 tok/s usual  cycle 14" in first
    assert "912/1,500 tok confirmed" in second
    assert "700 cached + 212 fresh estimated" in second
    assert "window 4,096 server" in second
    assert "1 pending" in second


async def test_the_gauge_shows_share_and_high_watermark() -> None:
    _, second = await shown(Panes(), state_after(), 100)
    assert "[████████████░░░░░┃░░]" in second


async def test_eighty_columns_keep_what_matters() -> None:
    first, second = await shown(Panes(), state_after(), 80)
    assert "prefill 212 tok ≈ 3 s…  cycle 14" in first
    assert first.endswith("local·qwen2.5-coder-1…")
    assert "] 912/1,500 tok confirmed" in second.replace("  ", " ")
    assert "4,096 server" in second
    assert "1 pending" in second


async def test_the_mark_of_a_shift_fits_at_eighty_columns() -> None:
    _, second = await shown(Panes(), fold(migration()), 80)
    for words in ("912/1,500 tok confirmed", "4,096 server", "1 pending", "≠ 1 shift"):
        assert words in second


async def test_lines_never_pass_the_edge() -> None:
    app = Panes()
    async with app.run_test(size=(80, 12)) as pilot:
        for width in (1, 2, 5, 10, 20, 39, 40, 60, 79, 80, 81, 120, 200):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            state = fold(migration())
            app.status.show(state, None, "loading the model 43 %")
            assert widths(app.status) == {width}
            app.clock.advance(9)
            app.status.show(state, REPLAY, None)
            assert widths(app.status) == {width}


async def test_a_shift_is_a_line_in_words_and_then_a_mark() -> None:
    app = Panes()
    async with app.run_test(size=(140, 12)) as pilot:
        for state, _ in states(migration()):
            app.status.show(state, None, None)
        await pilot.pause()
        assert lines(app.status)[0].strip() == (
            "≠ topic shift at «Akhir pekan ini ada rekomendasi tempat wisata di Bali?»"
            " (contrast 0.08 < 0.21) · u or /undo undoes it"
        )
        app.clock.advance(7.9)
        assert "topic shift" in lines(app.status)[0]
        app.clock.advance(0.2)
        assert "topic shift" not in lines(app.status)[0]
        assert "≠ 1 shift" in lines(app.status)[1]


async def test_a_narrow_shift_line_keeps_how_to_undo() -> None:
    app = Panes()
    async with app.run_test(size=(80, 12)) as pilot:
        for state, _ in states(migration()):
            app.status.show(state, None, None)
        for width in (60, 70, 80):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            assert lines(app.status)[0].endswith("u or /undo undoes it")


async def test_a_state_full_of_old_shifts_does_not_flash() -> None:
    state = fold(migration())
    state.shifts.append(state.shifts[0])
    first, second = await shown(Panes(), state)
    assert "topic shift" not in first
    assert "≠ 2 shifts" in second


async def test_a_failure_counts_down_to_its_retry() -> None:
    app = Panes()
    at = timestamp(app.clock.now() + timedelta(seconds=12))
    state = state_after(
        ev.ProviderFailed(request=15, kind="network", message="refused [/x]\x1b", retry_at=at)
    )
    async with app.run_test(size=(120, 12)) as pilot:
        app.status.show(state, None, None)
        await pilot.pause()
        assert lines(app.status)[0] == " ✗ request failed: refused [/x]␛ · retry in 12 s"
        app.clock.advance(5)
        assert "retry in 7 s" in lines(app.status)[0]
        await pilot.resize_terminal(47, 12)
        await pilot.pause()
        assert lines(app.status)[0].endswith("refused [/x… · retry in 7 s")
        app.clock.advance(8)
        assert "retrying" in lines(app.status)[0]
        state.apply(migration()[-1])
        app.status.show(state, None, None)
        assert "failed" not in lines(app.status)[0]


async def test_a_cut_prompt_is_told_beside_task_and_model_until_it_is_over() -> None:
    before = state_after()
    told = ev.TruncationSuspected(request=14, sent=3100, reported=2048)
    state = state_after(told)
    first, second = await shown(Panes(), state, 80)
    assert (first, "! prompt cut" in second) == ((await shown(Panes(), before, 80))[0], True)
    assert "! prompt cut: 2,048 of 3,100 tok read" in (await shown(Panes(), state, 200))[1]
    state = state_after(told, replace(told, request=15, reported=3080, cleared=True))
    assert "cut" not in (await shown(Panes(), state, 200))[1]


async def test_a_degraded_embedder_stays_visible() -> None:
    state = state_after()
    assert state.started is not None
    state.started = replace(state.started, embedder="hashing")
    for width in (80, 120):
        assert "! embedder degraded" in (await shown(Panes(), state, width))[1]


def test_states_in_words() -> None:
    def words(*events: ev.Event) -> str:
        return activity(state_after(*events), None, None).text

    asked = ev.ToolRequested(
        call="c", name="write_file", arguments={}, needs_approval=True, preview="x"
    )
    done = ev.ReplyFinished(request=14, outcome="complete", text="ok")
    assert words() == "● prefill 212 tok ≈ 3 s…"
    assert words(ev.ReplyDelta(request=14, kind="reasoning", text="hm")) == "● thinking"
    assert words(ev.ReplyDelta(request=14, kind="text", text="ok")) == "● answering"
    assert words(done, asked) == "? waiting for your approval: write_file"
    assert words(done, asked, ev.ToolApproval(call="c", decision="allow")) == (
        "● running tool write_file"
    )
    assert words(done, ev.TaskFinished(outcome="done", text="")) == "○ idle"
    assert words(done, ev.SessionEnded(outcome="done", text="")) == "■ ended"
    assert activity(SessionState(), None, "loading 43 %").text == "… loading 43 %"
    assert activity(SessionState(), REPLAY, None).text == "▶ replay 2× 34/210"
    paused = replace(REPLAY, playing=False)
    assert activity(SessionState(), paused, None).text == "⏸ replay paused 2× 34/210"
    ended = replace(paused, position=210)
    assert activity(SessionState(), ended, None).text == "■ replay ended 2× 210/210"


def sent(request: int, tokens: int, prefix: int) -> ev.RequestSent:
    latest = state_after().request
    assert latest is not None
    return replace(latest, request=request, tokens=tokens, prefix_kept=prefix)


async def test_the_wait_is_reckoned_from_what_was_measured() -> None:
    answer = ev.ReplyFinished(request=14, outcome="complete", text="ok", first_ms=4000)
    state = state_after(answer, sent(15, 1100, 900))
    first, _ = await shown(Panes(), state, 150)
    assert "prefill 200 tok ≈ 4 s…  at 53 tok/s measured" in first
    state.apply(Envelope(None, "", SESSION, ev.ReplyDelta(request=15, kind="text", text="so")))
    assert "tok/s" not in (await shown(Panes(), state, 150))[0]


async def test_from_three_quarters_on_a_look_at_the_next_pass_is_offered() -> None:
    assert "pass near" not in (await shown(Panes(), state_after(sent(15, 1124, 900)), 150))[1]
    near = state_after(sent(15, 1125, 900))
    assert "1,125/1,500 tok confirmed  pass near: /preview" in (await shown(Panes(), near, 120))[1]
    narrow = (await shown(Panes(), near, 80))[1]
    for words in ("1,125/1,500 tok confirmed", "pass near", "1 pending"):
        assert words in narrow


async def test_after_a_pass_the_gauge_is_of_what_it_left() -> None:
    done = ev.PassFinished(pass_=1, tokens_after=700, prefix_kept=300)
    assert "700/1,500 tok" in (await shown(Panes(), state_after(sent(15, 1400, 900), done), 120))[1]


async def test_a_wait_that_nothing_tells_of_is_not_invented() -> None:
    state = state_after()
    assert state.started is not None
    state.started = replace(state.started, provider="openai")
    first, _ = await shown(Panes(), state, 150)
    assert "prefill 212 tok…" in first
    assert "tok/s" not in first


async def test_what_the_server_says_of_its_cache_goes_before_what_we_expect() -> None:
    usage = {"prompt_tokens": 950, "completion_tokens": 9, "cached_tokens": 0}
    state = state_after(ev.ReplyFinished(request=14, outcome="complete", text="ok", usage=usage))
    assert "server confirmed 0 cached + 950 fresh" in (await shown(Panes(), state, 150))[1]
    state.apply(Envelope(None, "", SESSION, sent(15, 1100, 900)))
    first, second = await shown(Panes(), state, 150)
    assert "prefill 1,100 tok" in first, "no cache has held before"
    assert "cached" not in second


async def test_foreign_names_are_literal() -> None:
    state = state_after()
    assert state.started is not None
    state.started = replace(state.started, model="[red]m\x1b]0;x\x07[/x]", provider="\u202ep")
    first, _ = await shown(Panes(), state, 150)
    assert "‹U+202E›p·[red]m␛]0;x␇[/x]" in first


@pytest.mark.parametrize("theme", [DEFAULT_DARK, DEFAULT_LIGHT])
async def test_every_word_is_readable(theme: str) -> None:
    app = Panes(theme)
    async with app.run_test(size=(160, 12)) as pilot:
        for state, _ in states(migration()):
            app.status.show(state, None, None)
        await pilot.pause()
        assert poor_segments(app.status) == []
        app.clock.advance(9)
        assert poor_segments(app.status) == []


PARTS = st.lists(
    st.builds(
        Part,
        st.text("ab天 ", max_size=30),
        rank=st.integers(0, 5),
        least=st.none() | st.integers(1, 9),
        short=st.text("a天", max_size=4),
    ),
    max_size=8,
)


@given(PARTS, st.integers(0, 60))
def test_arranged_parts_fit(parts: list[Part], width: int) -> None:
    kept = arrange(parts, width)
    assert sum(cell_len(part.text) for part in kept) + 2 * max(0, len(kept) - 1) <= width
