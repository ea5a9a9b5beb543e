"""The composition root and the headless API: settings in, a live session out.

A session can take input as soon as its provider is known; models and embedder load meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from threadpoolctl import threadpool_limits

from gh_tui.agent.attachments import Oversize
from gh_tui.agent.command_list import SPEAKING
from gh_tui.agent.hooks import Hooks
from gh_tui.agent.revival import revive
from gh_tui.agent.starting import session_started
from gh_tui.agent.supervisor import Supervisor
from gh_tui.agent.wiring import Agent, Surroundings, build_agent
from gh_tui.clock import Clock, SystemClock
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.errors import EmbeddingError, GhError, ProviderError, RecordingError
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.events.values import Outcome
from gh_tui.journal.disk import Disk
from gh_tui.journal.recorder import Recorder
from gh_tui.memory.index import Index
from gh_tui.memory.restored import Restored, read_session
from gh_tui.providers.base import Message
from gh_tui.providers.local import provider as local
from gh_tui.providers.select import Opened, open_provider
from gh_tui.settings.model import Settings
from gh_tui.settings.paths import Paths

Progress = Callable[[str], None]


class Mind:
    """The embedder, and the Supervisor that knows its examples by it; loaded at first use."""

    def __init__(self) -> None:
        # The products are small: a second thread gains nothing, and on a busy machine the event
        # loop would wait until that thread gets its turn.
        self._threads = threadpool_limits(1, user_api="blas")
        self.embedding = EmbeddingService(NativeEmbedder())
        self.supervisor = Supervisor(self.embedding.embed, embedder=self.embedding.name)

    def close(self) -> None:
        """End the embedder's thread."""
        self.embedding.close()
        self._threads.restore_original_limits()


class Session:
    """One live session of one user."""

    def __init__(
        self,
        settings: Settings,
        paths: Paths,
        workspace: Path,
        *,
        interactive: bool,
        clock: Clock | None = None,
        mind: Mind | None = None,
        resume: Path | None = None,
        environ: Mapping[str, str] = os.environ,
        disk: Disk | None = None,
    ) -> None:
        """Open the recording; nothing else is loaded before `start`.

        With `resume` it reads the whole recording: a screen makes it in a thread.

        Args:
            settings: all settings.
            paths: where recordings are kept.
            workspace: the folder that file tools are confined to.
            interactive: a person can be asked for approval, for as long as it takes.
            clock: time.
            mind: what several sessions share; it is not closed with this one.
            resume: the recording of a session to go on with.
            environ: where the provider's key is looked for.
            disk: what writes the recording.

        Raises:
            RecordingLocked: `resume` is being written by another window.
            RecordingError: `resume` cannot be read.
        """
        self.settings = settings
        self.clock = clock or SystemClock()
        self._environ = environ
        self._interactive = interactive
        self._workspace = workspace
        self._not_recording: str | None = None
        self._restored: Restored | None = None
        self._recorder: Recorder | None
        if resume is None:
            self.id = f"{self.clock.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
            self._recorder = self._open_recorder(paths, disk)
        else:
            self._recorder = Recorder(resume, disk)
            try:
                self._restored = read_session(resume)
            except RecordingError:
                self._recorder.close()
                raise
            self.id = self._restored.session
        self.recording = None if self._recorder is None else self._recorder.path
        key = environ.get(settings.provider.api_key_env, "").strip()
        self.state = SessionState() if self._restored is None else self._restored.state
        self.bus = EventBus(
            self.id,
            self.clock,
            self._recorder,
            next_seq=self.state.seq + 1,
            secrets=(key,),
        )
        self.bus.subscribe(self.state.apply)
        self._own_mind = mind is None
        self._mind = mind or Mind()
        self._index = Index(paths.data, self.clock)
        self._opened: Opened | None = None
        self._agent: Agent | None = None
        self._unannounced: tuple[Agent, Opened] | None = None
        """What is wired; its `SessionStarted` could not be recorded yet."""
        self._announcing = asyncio.Lock()
        self._tell: Progress = lambda words: None
        self._started = asyncio.Event()
        self._failure: GhError | None = None
        self._background: list[asyncio.Task[None]] = []

    @property
    def busy(self) -> bool:
        """Whether a task runs or is about to."""
        return self._agent is not None and self._agent.engine.busy

    @property
    def past(self) -> Sequence[Envelope]:
        """What a resumed session had recorded before; empty for a new one."""
        return () if self._restored is None else self._restored.past

    async def start(self, progress: Progress | None = None) -> None:
        """Choose the provider, announce the session, and load models in the background.

        Args:
            progress: told in words what is being loaded, from the event loop.

        Raises:
            ProviderUnavailable: nothing can answer; the text says what to do.
            SettingsError: a setting has an impossible value.
            RecordingError: it cannot be recorded; the next input tries again.
        """
        if progress is not None:
            self._tell = progress
        self._background.append(asyncio.create_task(self._load_embedder(self._tell)))
        try:
            await self._wire()
            await self._announce()
        except GhError as error:
            self._failure = error
            raise
        finally:
            self._started.set()

    async def _wire(self) -> None:
        opened = await open_provider(self.settings, self._environ)
        self._opened, provider = opened, opened.provider
        window, source = await provider.window()
        around = Surroundings(
            self.bus,
            self.clock,
            self.settings,
            self._workspace,
            self._mind.embedding,
            self._mind.supervisor,
            self._index,
            self.state,
            self._interactive,
        )
        agent = build_agent(around, provider, window, source, self._restored)
        self._unannounced = agent, opened

    async def _announce(self) -> None:
        """Record that the session starts; only then it does."""
        async with self._announcing:
            if self._unannounced is None:
                return
            agent, opened = self._unannounced
            await self.bus.publish(
                session_started(self.settings, opened, agent.budget, self._mind.embedding.name)
            )
            self._unannounced = None
            try:
                await self._begin(agent, opened)
            except BaseException:
                await agent.engine.close()
                raise

    async def _begin(self, agent: Agent, opened: Opened) -> None:
        if self._not_recording is not None:
            await self.bus.publish(ev.Notice(level="warning", text=self._not_recording))
        if self._restored is not None:
            await revive(agent.parts, self._restored)
        self._agent = agent
        self._tell(f"{opened.name} · {opened.provider.model} ({opened.reason})")
        self._background += [
            asyncio.create_task(self._load_model(agent, opened, self._tell)),
            asyncio.create_task(agent.batch.run_forever()),
        ]

    async def hooks(self) -> Hooks:
        """The hooks of the session, once it has started; see `Hooks` for the five points.

        Raises:
            GhError: the session could not start.
        """
        return (await self._ready()).hooks

    async def oversize(self, text: str) -> Oversize | None:
        """What there is to say of a text that is too large to be sent whole unasked."""
        memory = (await self._ready()).parts.memory
        if text.startswith("/") and not text.startswith("//"):
            name, _, text = text.partition(" ")
            if name not in SPEAKING:
                return None
        return memory.oversize(text)

    async def submit(
        self, text: str, client_id: str | None = None, attach: bool = False
    ) -> str | None:
        """What Enter does: a command, an input, or a supplement while the agent works.

        Args:
            text: as it was typed.
            client_id: goes with what is recorded of it.
            attach: whether as an attachment.

        Returns:
            When it is durable; a line to show, if there is one.

        Raises:
            GhError: it was not accepted; says why.
        """
        engine = (await self._ready()).engine
        if text.startswith("//"):
            text = text[1:]
        elif text.startswith("/"):
            return await self.command(text, client_id, attach=attach)
        if engine.busy:
            await engine.supplement(text, client_id, attach)
        else:
            await engine.input(text, client_id, attach)
        return None

    async def command(
        self, text: str, client_id: str | None = None, attach: bool = False
    ) -> str | None:
        """Carry out a slash command other than /exit; as `submit`."""
        return await (await self._ready()).commands.run(text, client_id, attach)

    async def queue(self, text: str, client_id: str | None = None, attach: bool = False) -> None:
        """Accept an input that runs after the present task; as `submit`."""
        await (await self._ready()).engine.input(text, client_id, attach)

    async def supplement(
        self, text: str, client_id: str | None = None, attach: bool = False
    ) -> None:
        """Accept a supplement; before any task it is the task. As `submit`."""
        engine = (await self._ready()).engine
        if self.state.task is None and not engine.busy:
            await engine.input(text, client_id, attach)
        else:
            await engine.supplement(text, client_id, attach)

    async def withdraw(self, name: str) -> str:
        """Give a pending supplement back; its text.

        Raises:
            UsageError: if it is not pending.
        """
        return await (await self._ready()).engine.withdraw(name)

    async def cancel(self, *, by_key: bool = False) -> list[str]:
        """Stop the agent; the texts that it had not taken, in order."""
        return await (await self._ready()).engine.cancel("escape" if by_key else "cancel")

    async def approve(self, call: str, allow: bool) -> None:
        """Answer a call that waits for approval.

        Raises:
            UsageError: if no such call waits.
        """
        (await self._ready()).engine.decide(call, "allow" if allow else "deny")

    async def full_text(self, iri: str) -> str:
        """The whole text of a turn; opening it counts as an access.

        Raises:
            RecordingError: if there is no such turn.
        """
        turn = self.state.turns.get(iri)
        if turn is None:
            raise RecordingError(f"there is no turn {iri} in this session")
        if self._agent is not None and iri in self._agent.l1:
            self._agent.l1.touch(iri, self.clock.monotonic())
        return turn.text

    async def wait_idle(self) -> None:
        """Return when no task runs and no accepted input is left to begin."""
        await (await self._ready()).engine.wait_idle()

    async def close(self) -> None:
        """Stop everything and end the recording; may be called twice.

        Raises:
            RecordingError: the disk failed at the last; all is stopped nevertheless.
        """
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        self._background.clear()
        if self._unannounced is not None:
            await self._unannounced[0].engine.close()
            self._unannounced = None
        if self._agent is not None:
            await self._agent.engine.close()
            outcome: Outcome = self.state.outcome or "cancelled"
            with contextlib.suppress(GhError):
                await self.bus.publish(ev.SessionEnded(outcome=outcome, text=""))
            self._agent = None
        if self._opened is not None:
            await self._opened.aclose()
        await asyncio.to_thread(self._index.close)
        if self._own_mind:
            self._mind.close()
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            await asyncio.to_thread(recorder.close)

    async def _ready(self) -> Agent:
        await self._started.wait()
        await self._announce()
        if self._agent is None:
            raise self._failure or GhError("the session is closed")
        return self._agent

    def _open_recorder(self, paths: Paths, disk: Disk | None) -> Recorder | None:
        try:
            return Recorder(paths.sessions / f"{self.id}.jsonl", disk)
        except RecordingError as error:
            self._not_recording = f"Not recording: {error}"
            return None

    async def _load_embedder(self, tell: Progress) -> None:
        tell("loading the embedder")
        try:
            await self._mind.embedding.warm_up()
            await self._mind.supervisor.warm_up()
        except EmbeddingError as error:
            await self._notice("error", f"Without embeddings every score is unknown: {error}")
        else:
            tell("the embedder is ready")

    async def _load_model(self, agent: Agent, opened: Opened, tell: Progress) -> None:
        provider = opened.provider
        if not isinstance(provider, local.LocalProvider):
            return
        system = Message("system", agent.system)
        said = ""

        def once(stage: local.Progress) -> None:
            nonlocal said
            if (words := stage.words) != said:
                said = words
                tell(words)

        try:
            await provider.warm_up(once, prefix=(system,))
        except ProviderError as error:
            await self._notice("error", str(error))

    async def _notice(self, level: Literal["info", "warning", "error"], text: str) -> None:
        with contextlib.suppress(RecordingError):
            await self.bus.publish(ev.Notice(level=level, text=text))
