import time

from gh_tui.events.state import fold
from gh_tui.tui.widgets.entry import EntryScreen
from tests.tui.panes import Panes
from tests.tui.sessions import Story, iri, migration


async def test_the_entry_says_what_happened_and_why() -> None:
    app = Panes()
    state = fold(migration())
    async with app.run_test(size=(140, 40)) as pilot:
        chosen: list[str | None] = []
        await app.push_screen(EntryScreen(state, iri(6)), chosen.append)
        await pilot.pause()
        shown = app.export_screenshot().replace("&#160;", " ")
        assert "full → masked · masking of old tool results · pass 1" in shown
        assert "masked → archived · lowest retention · pass 2" in shown
        assert "retention 0.11, relevance_score 0.41" in shown
        await pilot.press("r")
        assert chosen == ["recall"]


async def test_the_entry_of_a_supplement_has_its_receipt() -> None:
    app = Panes()
    async with app.run_test(size=(140, 40)) as pilot:
        await app.push_screen(EntryScreen(fold(migration()), iri(7)))
        await pilot.pause()
        shown = app.export_screenshot().replace("&#160;", " ")
        assert "s1 · injected · in cycle 3, seen in requests 3 · kept through pass 2" in shown


async def test_a_very_long_text_comes_in_pages() -> None:
    app = Panes()
    story = Story()
    where = story.turn("tool", "0123456789 " * 100_000, 5, 0.4)
    async with app.run_test(size=(120, 30)) as pilot:
        start = time.perf_counter()
        await app.push_screen(EntryScreen(fold(story.envelopes), where))
        await pilot.pause()
        assert time.perf_counter() - start < 3
        await pilot.press("m")
        assert len(app.screen.query(".entry-text")) == 2
