"""The screen of a live session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from gh_tui.clock import SystemClock, timestamp
from gh_tui.errors import GhError, ProviderUnavailable
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.tui.commands import PAUSE_KEY, Mode, is_command
from gh_tui.tui.ports import LiveSession
from gh_tui.tui.screens.approval import ApprovalScreen
from gh_tui.tui.screens.session import SessionScreen
from gh_tui.tui.screens.setup import SetupScreen
from gh_tui.tui.screens.text import TextScreen
from gh_tui.tui.widgets.composer import Composer, Offer
from gh_tui.tui.widgets.input_box import InputBox, Way, typed
from gh_tui.tui.widgets.receipt_words import Receipt, command_for
from gh_tui.tui.widgets.receipts import Receipts
from gh_tui.tui.widgets.start import StartPanel

OWN_COMMANDS = {"/help": "app.help", "/exit": "app.quit"}
"""Commands of the screen, not of the session."""

AGE_SECONDS = 10.0
"""How often the ages in the timeline are drawn anew."""

OpenSession = Callable[[], Awaitable[LiveSession]]


class LiveScreen(SessionScreen):
    """A session that a person works in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "decline", "back", key_display="Esc"),
        Binding("escape", "stop", "stop", key_display="Esc"),
        Binding("escape", "take_back", "take back", key_display="Esc"),
        Binding("escape", "home", "back", key_display="Esc"),
        Binding("f8", "pause", "pause", key_display=PAUSE_KEY),
        Binding("f8", "resume", "resume", key_display=PAUSE_KEY),
        Binding("f2", "app.samples", "samples", key_display="F2"),
        Binding("f5", "receipts", "receipts", key_display="F5"),
    ]

    def __init__(self, open_session: OpenSession, task: str = "") -> None:
        """`task` is submitted as if it had been typed."""
        self.start = StartPanel()
        super().__init__()
        self.composer = Composer()
        self._open_session = open_session
        self._first_task = task
        self._session: LiveSession | None = None
        self._opened = asyncio.Event()
        """Set when there is a session, or when there will be none."""
        self.failure: Exception | None = None
        """Why there is no session, or why it has not started yet."""
        self._ready = False
        self._waiting_approvals: list[str] = []
        self._asking: ApprovalScreen | None = None
        self._past_seq = 0
        self._clock = SystemClock()

    def conversation_head(self) -> list[Widget]:
        """How the start goes."""
        return [self.start]

    def bottom_pane(self) -> Widget:
        """The box with its receipts."""
        return self.composer

    def on_mount(self) -> None:
        """One can type at once; the session is built after the first paint."""
        self.composer.box.focus()
        if self._first_task:
            self.composer.box.put(typed(self._first_task))
        self.set_interval(AGE_SECONDS, self._age)
        self.call_after_refresh(self._begin)

    def _age(self) -> None:
        self.timeline.tick(timestamp(self._clock.now()))

    def _begin(self) -> None:
        self.attempt(self._start(), "session")
        if self._first_task:
            self.attempt(self._submit("send"), "submit")

    async def _start(self) -> None:
        try:
            session = await self._open()
            self._past_seq = max((e.seq or 0 for e in session.past), default=0)
            self.connect(session.bus, session.past)
            await session.start(self._progress)
        except ProviderUnavailable as error:
            self._progress("no model can be reached yet")
            self.app.push_screen(SetupScreen(str(error)), self._after_setup)
        except GhError as error:
            self.failure = error
            raise
        else:
            self._ready = True
            await self._settle_now()

    def _progress(self, words: str) -> None:
        self.start.progress(words)
        self.status.show(self.state, None, self.start.latest)

    async def _open(self) -> LiveSession:
        try:
            self._session = await self._open_session()
        except Exception as error:
            self.failure = error
            raise
        finally:
            self._opened.set()
        return self._session

    def _after_setup(self, choice: str | None) -> None:
        if choice == "samples":
            self.attempt(self.app.run_action("app.samples"), "samples")  # type: ignore[arg-type]
        elif choice == "quit":
            self.app.exit()

    async def _settle_now(self) -> None:
        if self.bridge is not None:
            await self.bridge.drain()
            await self.settled(self.bridge.state)

    async def close_session(self) -> None:
        """Stop the agent and close the recording."""
        if self._session is not None:
            await self._session.close()

    # Events

    def heard(self, state: SessionState, envelope: Envelope) -> None:
        """What only a live session answers to; what a resumed one had recorded is history."""
        if envelope.seq is not None and envelope.seq <= self._past_seq:
            return
        match envelope.event:
            case ev.SessionStarted() as event:
                self.start.chosen(event)
                self._ready, self.failure = True, None
            case ev.TurnAdded(role="user", supplement=None):
                self.composer.receipts.settle()
            case ev.ToolRequested(needs_approval=True) as event:
                self._waiting_approvals.append(event.call)
            case ev.SessionEnded():
                self.attempt(self.app.run_action("app.quit"), "quit")  # type: ignore[arg-type]
            case _:
                pass

    async def settled(self, state: SessionState) -> None:
        """Everything outside the conversation."""
        self.status.show(state, None, self.start.latest)
        self.composer.receipts.show(state)
        self._retitle()
        self._ask_next()

    def _retitle(self) -> None:
        self.composer.show(
            Mode(
                busy=self._busy,
                ready=self._ready,
                has_task=self.state.task is not None,
                paused=self.state.paused,
                waiting=self._held,
                deferred=sum(entry.status == "taken" for entry in self.state.pending),
            )
        )
        self.refresh_bindings()

    @property
    def _busy(self) -> bool:
        return self._session is not None and self._session.busy

    @property
    def _held(self) -> int:
        """Accepted inputs that wait for the user's word, and that Esc takes back."""
        state = self.state
        if self._busy or not state.held:
            return 0
        pending = sum(entry.status == "pending" for entry in state.supplements.values())
        return pending + len(state.waiting)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that do nothing now are not offered."""
        if action == "decline":
            return self.composer.offer is not None and self.composer.box.has_focus
        in_box, state = self.composer.box.has_focus, self.state
        match action:
            case "stop":
                return self._busy and in_box
            case "take_back":
                return in_box and self._held > 0
            case "home":
                return not in_box
            case "pause":
                return self._busy and not state.paused
            case "resume":
                return state.paused or (not self._busy and bool(state.pending or state.waiting))
            case "receipts":
                return bool(state.supplements or state.waiting)
            case _:
                return True

    # Approvals

    def _ask_next(self) -> None:
        tools = self.state.tools
        if self._asking is not None and tools[self._asking.tool.call].status != "waiting":
            self._asking.dismiss(None)
        self._waiting_approvals = [
            call for call in self._waiting_approvals if tools[call].status == "waiting"
        ]
        if self._asking is None and self._waiting_approvals:
            box = self.composer.box
            call = tools[self._waiting_approvals[0]]
            screen = ApprovalScreen(call, box.insert_typed, lambda: bool(box.text.strip()))
            self._asking = screen
            self.app.push_screen(screen, self._answered)

    def _answered(self, allow: bool | None) -> None:
        asked, self._asking = self._asking, None
        if asked is not None and allow is not None:
            call = asked.tool.call
            self._waiting_approvals = [c for c in self._waiting_approvals if c != call]
            self.attempt(self._approve(call, allow), "approval")
        elif asked is not None:
            self._ask_next()

    async def _approve(self, call: str, allow: bool) -> None:
        if self._session is not None:
            await self._session.approve(call, allow)
        self._ask_next()

    # Input

    def on_input_box_submitted(self, event: InputBox.Submitted) -> None:
        """Enter, Alt+N, Alt+Q or Alt+W."""
        event.stop()
        self.attempt(self._submit(event.way), "submit")

    async def _submit(self, way: Way) -> None:
        way, attach = self.composer.answered(way)
        text = None if way == "whole" else self.composer.begin()
        if text is None:
            return
        try:
            answer = await self._hand_over(text, way, attach)
        except GhError as error:
            self.composer.refused(str(error))
            return
        except BaseException:
            self.composer.refused("the program failed here; the text is still in the box")
            raise
        if isinstance(answer, Offer):
            entered_again = self.composer.make_offer(answer)
        else:
            entered_again = self.composer.accepted()
            if answer:
                self.say(answer)
        self._retitle()
        if entered_again:
            await self._submit("send")

    async def _hand_over(self, text: str, way: Way, attach: bool | None) -> str | Offer | None:
        if (action := OWN_COMMANDS.get(text.strip())) is not None:
            await self.app.run_action(action)
            return None
        await self._opened.wait()
        session = self._session
        if session is None:
            raise GhError(f"there is no session: {self.failure}")
        if attach is None and (found := await session.oversize(text)) is not None:
            return Offer(text, way, found)
        if way == "queue" and not is_command(text):
            await session.queue(text, attach=bool(attach))
            return None
        if way != "now" or is_command(text):
            return await session.submit(text, attach=bool(attach))
        if session.busy:
            return await session.submit(f"/now {text.removeprefix('/')}", attach=bool(attach))
        answer = await session.submit(text, attach=bool(attach))
        if self.state.paused:
            await session.submit("/resume")
        return answer

    def on_input_box_scrolled(self, event: InputBox.Scrolled) -> None:
        """Page keys in the box scroll the conversation."""
        event.stop()
        if event.direction < 0:
            self.conversation.scroll_page_up(animate=False)
        else:
            self.conversation.scroll_page_down(animate=False)

    def action_decline(self) -> None:
        """Esc on the offer of an attachment: the text stays in the box."""
        self.composer.close_offer()
        self._retitle()

    def action_stop(self) -> None:
        """Esc in the box: stop the agent."""
        if self._session is not None and self._session.busy:
            self.attempt(self._stop(self._session), "stop")

    def action_take_back(self) -> None:
        """Esc in the box while nothing runs: what waits comes back into it."""
        if self._session is not None:
            self.attempt(self._stop(self._session), "stop")

    def action_pause(self) -> None:
        """No further cycle."""
        self.attempt(self._run_command("/pause"), "command")

    def action_resume(self) -> None:
        """Go on, after a pause or with what a failure left waiting."""
        self.attempt(self._run_command("/resume"), "command")

    def action_home(self) -> None:
        """Esc elsewhere: back to the box."""
        self.home()

    async def _stop(self, session: LiveSession) -> None:
        texts = await session.cancel(by_key=True)
        self.composer.hand_back([typed(text) for text in texts])
        self._retitle()

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Above the box; a long answer in a window of its own."""
        if text.count("\n") > 2:
            self.app.push_screen(TextScreen("answer", text))
        else:
            self.composer.say(text, is_error=is_error)

    async def command(self, text: str) -> str | None:
        """Run a command as the box would."""
        await self._opened.wait()
        return await self._session.submit(text) if self._session is not None else None

    async def touch(self, iri: str) -> None:
        """Opening an entry is an access."""
        if self._session is not None:
            await self._session.full_text(iri)

    # Panes

    def panes(self) -> list[Widget]:
        """The box first; receipts only when there are some."""
        return [self.composer.box, *super().panes(), self.composer.receipts]

    def home(self) -> None:
        """The box."""
        self.composer.box.focus()

    def action_pane(self, step: int) -> None:
        """Tab completes a command, if one is begun."""
        if step > 0 and self.composer.box.has_focus and self.composer.complete():
            return
        super().action_pane(step)

    def action_receipts(self) -> None:
        """All receipts, or the newest."""
        self.composer.receipts.toggle()
        if self.composer.receipts.opened:
            self.composer.receipts.focus()
        else:
            self.home()

    def on_receipts_act(self, event: Receipts.Act) -> None:
        """A key on a receipt."""
        event.stop()
        self.attempt(self._act_on_receipt(event.action, event.entry), "receipt")

    async def _act_on_receipt(self, action: str, entry: Receipt) -> None:
        if action == "open":
            self.open_message(entry)
        elif action in ("withdraw", "edit"):
            await self._take_back(entry, edit=action == "edit")
        elif (command := command_for(action, entry)) is not None:
            await self._run_command(command)
        else:
            self.say("this receipt has nothing of that kind yet")

    async def _take_back(self, entry: Receipt, *, edit: bool) -> None:
        if self._session is None:
            return
        text = await self._session.withdraw(entry.id)
        if edit:
            self.composer.hand_back([typed(text)])
            self.home()
