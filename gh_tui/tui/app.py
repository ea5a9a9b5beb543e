"""The Textual app: themes, signals, and which screen is on top."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.app import App
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import TextArea

from gh_tui.errors import GhError
from gh_tui.settings.model import Settings
from gh_tui.settings.paths import Paths
from gh_tui.text import counted, visible
from gh_tui.tui import theme_files
from gh_tui.tui.crash import QuietCrash, end_if_the_terminal_is_gone
from gh_tui.tui.ports import LiveSession, Recording
from gh_tui.tui.screens.help import HelpScreen
from gh_tui.tui.screens.live import LiveScreen, OpenSession
from gh_tui.tui.screens.replay import ReplayScreen
from gh_tui.tui.screens.samples import SamplesScreen
from gh_tui.tui.screens.session import SessionScreen

QUIT_SECONDS = 3.0
"""How long a second Ctrl+C still quits."""

_HERE = Path(__file__).parent
STYLES = (
    "styles/base.tcss",
    "styles/dialogs.tcss",
    "widgets/conversation.tcss",
    "widgets/composer.tcss",
    "widgets/timeline.tcss",
    "widgets/status.tcss",
    "widgets/entry.tcss",
)

Samples = Callable[[], Sequence[tuple[Path, str]]]


class GlidingHorseApp(QuietCrash, App[int]):
    """A live session, or the replay of a recording.

    Exit status: `run()` returns None after an ordinary end; `return_code` is 128 plus the signal
    after SIGTERM or SIGHUP, and 1 after a crash.
    """

    TITLE = "gh-tui"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-broad")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "quit", key_display="^Q", priority=True),
        Binding("ctrl+c", "copy_or_quit", "copy or quit", show=False, priority=True),
    ]

    def __init__(
        self,
        open_session: OpenSession | None = None,
        *,
        player: Recording | None = None,
        task: str = "",
        theme: str = theme_files.DEFAULT_DARK,
        theme_folder: Path | None = None,
        samples: Samples | None = None,
    ) -> None:
        """A session factory, or a player.

        Args:
            open_session: makes the session; called in a worker after the first paint.
            player: a recording to replay instead.
            task: submitted as if it had been typed.
            theme: the name of a theme; one that does not exist is told and replaced.
            theme_folder: the user's own theme files.
            samples: the recordings on offer; by default those that come with the program.
        """
        plain = "NO_COLOR" in os.environ
        super().__init__(
            css_path=[_HERE / style for style in STYLES], ansi_color=True if plain else None
        )
        self.animation_level = "none"
        self._player = player
        self._live = None if open_session is None else LiveScreen(open_session, task)
        # Textual turns NO_COLOR into greys, except where the terminal's own colours are used.
        self._first_theme = "ansi-dark" if plain else theme
        self._theme_folder = theme_folder
        self._samples = samples or _shipped_samples
        self._asked_at = -QUIT_SECONDS
        self._leaving = False

    async def on_mount(self) -> None:
        """Themes first, then the screen."""
        themes, notices = theme_files.load_themes(self._theme_folder)
        for theme in themes:
            self.register_theme(theme)
        if self._first_theme in self.available_themes:
            self.theme = self._first_theme
        else:
            notices.append(f"There is no theme {self._first_theme}; F4 shows those there are.")
        for notice in notices:
            self.tell(notice, "warning")
        self._obey_signals()

    def get_default_screen(self) -> Screen[None]:
        """The session or the replay is the first screen there is."""
        if self._live is not None:
            return self._live
        if self._player is not None:
            return ReplayScreen(self._player)
        raise ValueError("the app needs a session factory or a player")

    async def on_event(self, event: events.Event) -> None:
        """What is typed before the box has the focus goes into it all the same, in order."""
        is_text = isinstance(event, events.Paste) or (
            isinstance(event, events.Key) and (event.is_printable or event.key == "enter")
        )
        if is_text and self._live is not None and self.screen is self._live and not self.focused:
            self._live.composer.box.post_message(event)
        else:
            await super().on_event(event)

    def _obey_signals(self) -> None:
        loop = asyncio.get_running_loop()
        # In a raw terminal Ctrl+C is a key: SIGINT comes from another program.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal, int(number))

    def _on_signal(self, number: int) -> None:
        self.run_worker(self._quit(128 + number), group="quit", exit_on_error=False)

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Where the eyes are; a passing notice over windows that have no place for it."""
        if isinstance(self.screen, SessionScreen):
            self.screen.say(text, is_error=severity == "error")
            return
        self.notify(visible(text), severity=severity, markup=False)

    # Leaving

    async def action_quit(self) -> None:
        """Close the session, then leave."""
        await self._quit(0)

    async def _quit(self, code: int) -> None:
        if self._leaving:
            return
        self._leaving = True
        words = None
        try:
            if self._live is not None:
                await self._live.close_session()
                if isinstance(self._live.failure, GhError):
                    raise self._live.failure
        except GhError as error:
            code, words = code or 1, visible(str(error))
        except Exception as error:  # whatever it is, one must be able to leave
            code, words = code or 1, visible(f"the session did not close as it should: {error}")
        if not self.is_headless:
            end_if_the_terminal_is_gone(code)
        self.exit(return_code=code, message=words)

    async def action_copy_or_quit(self) -> None:
        """Ctrl+C, in every window: copy what is selected; without a selection the second quits.

        Raises:
            SkipAction: the box has a selection and copies it itself.
        """
        if isinstance(self.focused, TextArea) and self.focused.selected_text:
            raise SkipAction
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            size = counted(len(selected), "character")
            self.tell(f"copied {size} (through the terminal, OSC 52)")
        else:
            await self._ask_quit()

    async def _ask_quit(self) -> None:
        now = time.monotonic()
        if now - self._asked_at < QUIT_SECONDS:
            await self.action_quit()
            return
        self._asked_at = now
        self.tell("Ctrl+C again quits; Ctrl+Q quits at once. Esc stops the agent.")

    async def action_leave_replay(self) -> None:
        """Back to the session below, or out."""
        if isinstance(self.screen, ReplayScreen):
            if self._live is None:
                await self.action_quit()
            else:
                self.pop_screen()

    # Windows

    async def action_help(self) -> None:
        """Every key."""
        if not isinstance(self.screen, HelpScreen):
            await self.push_screen(HelpScreen())

    def action_samples(self) -> None:
        """Offer the recorded samples; a single one is replayed at once."""
        self._attempt(self._offer_samples())

    async def _offer_samples(self) -> None:
        samples = await asyncio.to_thread(self._samples)
        if len(samples) == 1:
            await self._replay(samples[0][0])
        else:
            await self.push_screen(SamplesScreen(samples), self._chosen)

    def _chosen(self, path: Path | None) -> None:
        if path is not None:
            self._attempt(self._replay(path))

    async def _replay(self, path: Path) -> None:
        await self.push_screen(ReplayScreen(await asyncio.to_thread(_open_player, path)))

    def _attempt(self, work: Coroutine[None, None, None]) -> None:
        """Do what reads recordings off the message loop, the latest alone; say what fails."""

        async def told() -> None:
            try:
                await work
            except (GhError, OSError) as error:
                self.tell(str(error), "error")

        self.run_worker(told(), group="samples", exclusive=True, exit_on_error=False)

    async def action_next_theme(self) -> None:
        """The house's themes in turn."""
        names = sorted(name for name in self.available_themes if name.startswith("gliding"))
        if names:
            index = names.index(self.theme) if self.theme in names else -1
            self.theme = names[(index + 1) % len(names)]


def run_app(
    settings: Settings,
    paths: Paths,
    workspace: Path,
    task: str | None,
    *,
    resume: Path | None = None,
) -> int:
    """Open the app on a live session; returns the exit status.

    Args:
        settings: all settings.
        paths: where recordings and the user's themes are.
        workspace: the folder that tools are confined to.
        task: submitted as if it had been typed.
        resume: the recording of a session to go on with.
    """

    async def open_session() -> LiveSession:
        runtime = await asyncio.to_thread(importlib.import_module, "gh_tui.runtime")
        session: LiveSession = await asyncio.to_thread(
            runtime.Session, settings, paths, workspace, interactive=True, resume=resume
        )
        return session

    app = GlidingHorseApp(
        open_session,
        task=task or "",
        theme=settings.screen.theme,
        theme_folder=paths.config / "themes",
    )
    app.run()
    return app.return_code or 0


def replay_app(settings: Settings, paths: Paths, recording: Path) -> GlidingHorseApp:
    """The app on a recording.

    Raises:
        RecordingError: if it cannot be read.
    """
    return GlidingHorseApp(
        player=_open_player(recording),
        theme=settings.screen.theme,
        theme_folder=paths.config / "themes",
    )


def run_replay(settings: Settings, paths: Paths, recording: Path) -> int:
    """Replay a recording in the app; returns the exit status.

    Args:
        settings: all settings.
        paths: where the user's themes are.
        recording: the file.

    Raises:
        RecordingError: if it cannot be read.
    """
    app = replay_app(settings, paths, recording)
    app.run()
    return app.return_code or 0


def _shipped_samples() -> Sequence[tuple[Path, str]]:
    from gh_tui.session import catalog

    return [(path, catalog.describe(path).title or path.stem) for path in catalog.samples()]


def _open_player(path: Path) -> Recording:
    from gh_tui.session.player import Player

    return Player(path)
