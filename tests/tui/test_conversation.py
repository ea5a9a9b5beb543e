"""Streaming, folding, pruning, and foreign text that stays text."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from gh_tui.events import types as ev
from gh_tui.events.values import Task, ToolCall
from gh_tui.tui.app import GlidingHorseApp
from gh_tui.tui.screens.link import LinkScreen
from gh_tui.tui.widgets.conversation import EARLIER, WINDOW
from gh_tui.tui.widgets.markdown_view import MarkdownView
from tests.tui.harness import BOMB, ScriptedSession, app_with
from tests.tui.looking import SIZES, live, running, screen_text, until

HOSTILE = {chr(code) for code in range(0x20)} - {"\n"} | {"\x7f", "\x9b", "\u202e", "\u200b"}


@pytest.mark.parametrize("size", SIZES)
async def test_a_streamed_reply_equals_the_whole_one(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    text = "# Plan\n\n- **one**\n- two `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nthe end."
    async with running(app, size) as pilot:
        await session.say("go")
        await session.request(1)
        await until(pilot, lambda: "waiting for the model" in screen_text(app))
        for char in text:
            await session.stream(1, char)
        await until(pilot, lambda: "the end." in screen_text(app))
        streamed = app.screen.query_one(MarkdownView).source
        await session.reply(1, text)
        await until(pilot, lambda: live(app).bridge and not live(app).state.replying)
        await pilot.pause(0.1)
        assert streamed == text
        assert app.screen.query_one(MarkdownView).source == text
        assert screen_text(app).count("the end.") == 1


async def test_the_finished_text_wins_over_the_streamed_one() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.stream(1, "half")
        await until(pilot, lambda: "half" in screen_text(app))
        await session.reply(1, "another text")
        await until(pilot, lambda: "another text" in screen_text(app))
        assert "half" not in screen_text(app)


@pytest.mark.parametrize("size", [*SIZES, (40, 24)])
async def test_a_reply_looks_the_same_when_others_have_followed(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    text = "## Head\n\n- one `code` and more words, enough of them to be wrapped\n- two\n\n> said"
    async with running(app, size) as pilot:
        await session.request(1)
        await session.stream(1, "I need to look at it.", kind="reasoning")
        await session.stream(1, text[:20], text[20:])
        await until(pilot, lambda: "said" in screen_text(app))
        young = await rows_of_first_reply(pilot, app)
        await session.reply(1, text, reasoning="I need to look at it.")
        for number in range(2, 9):
            await session.request(number)
            await session.reply(number, f"answer {number}")
        await until(pilot, lambda: "answer 8" in screen_text(app))
        assert await rows_of_first_reply(pilot, app) == young
        assert young[0].startswith("   ▸ thought, 21 characters · I ne")
        assert "   • one code" in "\n".join(young)
        assert "   ▌ said" in young[-1]


async def rows_of_first_reply(pilot: Pilot[int], app: GlidingHorseApp) -> list[str]:
    """What the screen shows of it, scrolled to it."""
    view = live(app).conversation
    reply = view.query(".reply").first()
    view.scroll_to_widget(reply, animate=False, immediate=True)
    await pilot.pause(0.3)
    width = view.scrollable_content_region.right
    lines = screen_text(app).split("\n")[reply.region.y : reply.region.bottom]
    return [line[:width] for line in lines]


@pytest.mark.parametrize("outcome", ["interrupted", "cancelled"])
async def test_a_partial_reply_is_marked(outcome: str) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.stream(1, "half an answer")
        await session.bus.publish(
            ev.ReplyFinished(
                request=1,
                outcome="interrupted" if outcome == "interrupted" else "cancelled",
                text="half an answer",
            )
        )
        await until(pilot, lambda: "the reply is not complete" in screen_text(app))
        assert "half an answer" in screen_text(app)


async def test_tools_and_thoughts_are_folded_and_open() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (80, 30)) as pilot:
        await session.request(1)
        await session.reply(1, "I look.", reasoning="first\nsecond thought")
        await session.tool("c1", "read_file", "the result\nof the tool")
        await until(pilot, lambda: "read_file  path=app/config.toml  done" in screen_text(app))
        assert "of the tool" not in screen_text(app)
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "of the tool" in screen_text(app))
        await until(pilot, lambda: "second thought" in screen_text(app))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "of the tool" not in screen_text(app))
        live(app).conversation.focus()
        await pilot.press("left_square_bracket", "enter")
        await until(pilot, lambda: "of the tool" in screen_text(app))


async def test_an_opened_call_shows_its_text_as_lines() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (80, 30)) as pilot:
        await session.request(1)
        arguments = {"path": "a.txt", "content": "first line\nsecond line\n", "times": 3}
        await session.bus.publish(
            ev.ToolRequested(call="c1", name="write_file", arguments=arguments)
        )
        await until(pilot, lambda: "write_file  path=a.txt" in screen_text(app))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "second line" in screen_text(app))
        lines = [line.strip() for line in screen_text(app).split("\n")]
        start = lines.index("path: a.txt")
        assert lines[start : start + 5] == [
            "path: a.txt",
            "content:",
            "first line",
            "second line",
            "times: 3",
        ]


async def test_a_failure_is_told_once_and_without_an_empty_reply() -> None:
    session = ScriptedSession()
    app = app_with(session)
    why = "the server answered HTTP 400: no such model"
    async with running(app, (90, 30)) as pilot:
        await session.request(1)
        await session.bus.publish(ev.ReplyFinished(request=1, outcome="interrupted", text=""))
        await session.bus.publish(ev.ProviderFailed(request=1, kind="http", message=why))
        await session.bus.publish(ev.TaskFinished(outcome="failed", text=why))
        await until(pilot, lambda: live(app).state.outcome == "failed")
        await until(pilot, lambda: "the model server failed (http)" in screen_text(app))
        await pilot.pause(0.2)
        conversation = screen_text(app).split("\n", 2)[2]
        assert conversation.count("no such model") == 1
        assert "the reply is not complete" not in conversation
        await session.bus.publish(ev.TaskFinished(outcome="failed", text="another reason"))
        await until(pilot, lambda: "the task failed: another reason" in screen_text(app))


async def test_long_sessions_keep_few_widgets_and_load_earlier() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        for index in range(120):
            await session.say(f"question {index}")
            await session.request(index + 1)
            await session.reply(index + 1, f"answer {index}")
        await until(pilot, lambda: "answer 119" in screen_text(app))
        view = live(app).conversation
        await until(pilot, lambda: len(view.children) <= WINDOW + EARLIER)
        assert len(view.query(MarkdownView)) <= WINDOW
        view.focus()
        for _ in range(8):
            await pilot.press("ctrl+up")
        await pilot.press("home")
        await until(pilot, lambda: "question 0" in screen_text(app))
        replies = [reply for reply in view.query(".reply") if len(reply.children) != 1]
        assert not replies, [reply.children for reply in replies]


async def test_the_view_follows_only_from_its_end() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        for index in range(30):
            await session.say(f"question {index}")
        await until(pilot, lambda: "question 29" in screen_text(app))
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = live(app).conversation.scroll_y
        await session.say("question 30")
        await pilot.pause(0.3)
        assert live(app).conversation.scroll_y == before
        assert "question 30" not in screen_text(app)
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "question 30" in screen_text(app))
        await session.say("question 31")
        await until(pilot, lambda: "question 31" in screen_text(app))


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 12)])
async def test_foreign_text_is_literal_everywhere(size: tuple[int, int]) -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, size) as pilot:
        await session.bus.publish(ev.TaskStarted(task=Task(what=BOMB, why=BOMB), by=BOMB))
        await session.started(reason=BOMB)
        await session.say(BOMB)
        await session.request(1)
        await session.stream(1, BOMB, BOMB, kind="reasoning")
        await session.stream(
            1, BOMB, f"\n\n| {BOMB} |\n|---|\n| {BOMB} |\n\n```{BOMB}\n{BOMB}\n```"
        )
        await session.reply(1, f"{BOMB} [a]({BOMB}) ![i]({BOMB}) <{BOMB}>", reasoning=BOMB)
        await session.turn(
            "assistant", BOMB, calls=(ToolCall(BOMB, BOMB, {BOMB: BOMB}, error=BOMB),)
        )
        await session.bus.publish(
            ev.ToolRequested(call=BOMB, name=BOMB, arguments={BOMB: [BOMB]}, preview=BOMB)
        )
        await session.turn("tool", BOMB, call_id=BOMB)
        await session.bus.publish(
            ev.ToolFinished(call=BOMB, name=BOMB, ok=False, iri=BOMB, tokens=1, error=BOMB)
        )
        await session.supplement(BOMB)
        await session.bus.publish(
            ev.InputClassified(class_=BOMB, group=BOMB, by=BOMB, id="s1", suggested=BOMB)
        )
        await session.bus.publish(ev.SupplementaryInputReceived(id=BOMB, text=BOMB))
        await session.bus.publish(ev.SupplementDeferred(id=BOMB, iri=BOMB, reason=BOMB))
        await session.bus.publish(
            ev.ProviderFailed(request=1, kind=BOMB, message=BOMB, retry_at=BOMB)
        )
        await session.bus.publish(
            ev.TopicShiftDetected(
                boundary=BOMB, similarities=(0.1,), threshold=0.3, rule=BOMB, proposed=(BOMB,)
            )
        )
        await session.bus.publish(ev.Notice(level="error", text=BOMB))
        await session.bus.publish(ev.UnknownEvent(BOMB, {BOMB: BOMB}))
        await session.bus.publish(ev.TaskFinished(outcome="failed", text=BOMB))
        await until(pilot, lambda: live(app).state.outcome == "failed")
        await pilot.pause(0.3)
        for key in ("ctrl+o", "f5", "f3", "f3", "tab", "tab", "f1"):
            await pilot.press(key)
            await pilot.pause(0.05)
            shown = screen_text(app)
            assert not HOSTILE & set(shown), [hex(ord(c)) for c in HOSTILE & set(shown)]
        assert app.is_running


async def test_what_streams_is_sanitised_before_it_is_complete() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.request(1)
        await session.stream(1, "begin\n\n```\n", BOMB, "\n```\n\n", BOMB, " endmark")
        await until(pilot, lambda: "endmark" in screen_text(app))
        shown = screen_text(app)
        assert not HOSTILE & set(shown)
        assert "␛]52;c;aGk=␇" in shown


async def test_a_character_that_is_spelled_out_is_sanitised_too() -> None:
    session = ScriptedSession()
    app = app_with(session)
    text = "&#x202E;gnp &#13;over &#x200b;[a&rlm;](http://x) <http://x/%E2%80%AE> &lt;endmark&gt;"
    async with running(app) as pilot:
        await session.request(1)
        await session.stream(1, text)
        await until(pilot, lambda: "<endmark>" in screen_text(app))
        assert not (HOSTILE | {"\u200f"}) & set(screen_text(app))
        assert "‹U+202E›gnp ␍over" in screen_text(app)


async def test_markup_in_what_the_user_is_told_is_literal() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app) as pilot:
        await session.bus.publish(
            ev.Notice(level="warning", text="[/x] [int] [@click=app.quit]a[/]")
        )
        await until(pilot, lambda: "[/x] [int] [@click=app.quit]a[/]" in screen_text(app))
        app.tell("[/y] [@click=app.quit]b[/]")
        await until(pilot, lambda: "[/y] [@click=app.quit]b[/]" in screen_text(app))


@pytest.mark.parametrize(
    ("href", "then"),
    [
        ("https://example.org/a?b=[/x]", "Open example.org?"),
        ("vscode://x", "not opened"),
        ("javascript:alert(1)", "[manual](javascript:alert(1))"),
        ("file:///etc/passwd", "[manual](file:///etc/passwd)"),
    ],
)
async def test_only_http_links_are_offered(href: str, then: str) -> None:
    session = ScriptedSession()
    app = app_with(session)
    opened: list[str] = []
    app.open_url = lambda url, *, new_tab=True: opened.append(url)  # type: ignore[method-assign]
    async with running(app) as pilot:
        await session.request(1)
        await session.reply(1, f"[manual]({href})")
        await until(pilot, lambda: "manual" in screen_text(app))
        await pilot.click(MarkdownView, offset=(3, 0))
        await until(pilot, lambda: then in screen_text(app))
        assert opened == []
        if isinstance(app.screen, LinkScreen):
            await pilot.press("ctrl+y")
            await until(pilot, lambda: opened == ["https://example.org/a?b=%5B/x%5D"])


async def test_what_is_selected_is_copied_without_its_wrapping() -> None:
    session = ScriptedSession()
    app = app_with(session)
    async with running(app, (40, 24)) as pilot:
        await session.request(1)
        await session.reply(1, "- a point that is long enough to be wrapped in a narrow pane")
        await until(pilot, lambda: "narrow pane" in screen_text(app))
        await pilot.mouse_down(MarkdownView, offset=(4, 0))
        await pilot.hover(MarkdownView, offset=(15, 1))
        await pilot.mouse_up(MarkdownView, offset=(15, 1))
        await until(pilot, lambda: app.screen.get_selected_text())
        copied = app.screen.get_selected_text()
        assert copied is not None
        assert "point that is long enough to be wrapped in a narrow".startswith(copied)
        assert len(copied) > 36, copied
