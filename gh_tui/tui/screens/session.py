"""The one screen: conversation, timeline and status, shared by live sessions and replays."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import ClassVar
from urllib.parse import urlsplit

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from gh_tui.errors import GhError
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.bridge import Bridge
from gh_tui.tui.dispatch import Dispatch
from gh_tui.tui.screens.link import LinkScreen
from gh_tui.tui.screens.text import TextScreen
from gh_tui.tui.transcript import Transcript
from gh_tui.tui.widgets.conversation import Conversation
from gh_tui.tui.widgets.entry import EntryScreen
from gh_tui.tui.widgets.key_bar import KeyBar
from gh_tui.tui.widgets.markdown_view import MarkdownView
from gh_tui.tui.widgets.receipt_words import Receipt, as_sent
from gh_tui.tui.widgets.status import StatusBar
from gh_tui.tui.widgets.timeline import Timeline


class SessionScreen(Screen[None]):
    """Panes, the bridge and what both kinds of session can do."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "app.help", "help", key_display="F1"),
        Binding("question_mark", "app.help", "help", show=False),
        Binding("tab", "pane(1)", "next pane", show=False),
        Binding("shift+tab", "pane(-1)", "previous pane", show=False),
        Binding("f3", "timeline", "timeline", key_display="F3"),
        Binding("f4", "app.next_theme", "theme", key_display="F4"),
        Binding("ctrl+o", "folds", "folds", key_display="^O"),
        Binding("ctrl+up", "earlier", "load earlier", show=False),
        Binding("ctrl+end", "bottom", "newest", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()
        self.conversation = Conversation(self.transcript, *self.conversation_head())
        self.timeline = Timeline()
        self.status = StatusBar()
        self.dispatch = Dispatch(
            self.transcript, self.conversation, self.timeline, self.settled, self.heard
        )
        self.bridge: Bridge | None = None
        self._idle_state = SessionState()

    def conversation_head(self) -> list[Widget]:
        """What stands above the conversation."""
        return []

    def bottom_pane(self) -> Widget:
        """What stands below it."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Status above, two panes side by side, input or controls, keys."""
        yield self.status
        with Horizontal(id="panes"):
            yield self.conversation
            yield self.timeline
        yield self.bottom_pane()
        yield KeyBar()

    @property
    def state(self) -> SessionState:
        """The fold of what has been shown."""
        return self.bridge.state if self.bridge is not None else self._idle_state

    def connect(self, bus: EventBus, past: Iterable[Envelope] = ()) -> None:
        """Show the events of a bus from now on, after those of the past."""
        self.bridge = Bridge(bus, self.dispatch, self.show_error, past)
        self.run_worker(self.bridge.run(), group="bridge", exit_on_error=False)

    async def settled(self, state: SessionState) -> None:
        """A batch has been shown."""
        raise NotImplementedError

    def heard(self, state: SessionState, envelope: Envelope) -> None:
        """One event has been folded."""

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show one line to the user, where the eyes are."""
        raise NotImplementedError

    async def touch(self, iri: str) -> None:
        """The user opens an entry: in a live session that counts as an access."""

    async def command(self, text: str) -> str | None:
        """Run a `/command`."""
        raise NotImplementedError

    # Errors: one route for everything that fails.

    def show_error(self, error: BaseException) -> None:
        """One line for what failed; never a traceback."""
        text = str(error) if isinstance(error, GhError) else f"{type(error).__name__}: {error}"
        self.say(text, is_error=True)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed says so."""
        event.stop()
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.show_error(event.worker.error)

    def attempt(self, work: Awaitable[None], group: str) -> None:
        """Run something that may fail, off the message loop."""
        self.run_worker(work, group=group, exit_on_error=False)

    # Panes

    def panes(self) -> list[Widget]:
        """The panes that can have the focus, in the order of Tab."""
        return [self.conversation, self.timeline]

    def action_pane(self, step: int) -> None:
        """Move the focus to the next pane that can be seen."""
        panes = [pane for pane in self.panes() if pane.display and pane.is_attached]
        current = next((i for i, p in enumerate(panes) if p.has_focus or p.has_focus_within), -step)
        panes[(current + step) % len(panes)].focus()

    def action_timeline(self) -> None:
        """Narrow: conversation or timeline. Wide: with or without the timeline."""
        narrow = self.has_class("-narrow")
        self.set_class(not self.has_class("swap"), "swap")
        shows = self.has_class("swap") == narrow
        if shows:
            self.timeline.focus()
        else:
            self.home()

    def home(self) -> None:
        """Give the focus back to where the user usually is."""
        self.conversation.focus()

    def action_folds(self) -> None:
        """Open or fold all tool calls and thoughts."""
        self.conversation.toggle_folds()

    async def action_earlier(self) -> None:
        """Load earlier entries."""
        await self.conversation.action_earlier()

    def action_bottom(self) -> None:
        """Go to the newest entry and follow."""
        self.conversation.anchor()

    # Timeline and links

    def on_timeline_act(self, event: Timeline.Act) -> None:
        """A key on an entry of the timeline."""
        event.stop()
        self._act(event.action, event.iri)

    def _act(self, action: str, iri: str) -> None:
        if action == "open":
            self.attempt(self._open_entry(iri), "open")
        elif action == "sent":
            self._open_sent(iri)
        else:
            words = f"/{action}" if action in ("undo", "preview") else f"/{action} {iri}"
            self.attempt(self._run_command(words), "command")

    async def _run_command(self, words: str) -> None:
        answer = await self.command(words)
        if answer:
            self.say(answer)

    def _open_sent(self, iri: str) -> None:
        found = [entry for entry in self.state.supplements.values() if entry.iri == iri]
        if found:
            self.open_message(found[0])
        else:
            self.say("only a supplement has a receipt that says which request carried it")

    async def _open_entry(self, iri: str) -> None:
        if iri not in self.state.turns:
            return
        await self.touch(iri)

        def act(action: str | None) -> None:
            if action is not None:
                self._act(action, iri)

        self.app.push_screen(EntryScreen(self.state, iri), act)

    def open_message(self, entry: Receipt) -> None:
        """Show an entry as the request that first carried it had it."""
        self.app.push_screen(TextScreen(*as_sent(entry)))

    def on_markdown_view_link_clicked(self, event: MarkdownView.LinkClicked) -> None:
        """Open http(s) only, after showing where it leads."""
        event.stop()
        if urlsplit(event.href).scheme in ("http", "https"):
            self.app.push_screen(LinkScreen(event.href))
        else:
            self.say(f"not opened, only http(s) is: {event.href}", is_error=True)
