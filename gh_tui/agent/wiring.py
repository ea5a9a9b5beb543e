"""How the parts of an agent are put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gh_tui.agent.answers import Answers
from gh_tui.agent.approval import ApprovalDesk
from gh_tui.agent.attachments import shown_tokens
from gh_tui.agent.batch import BatchAgentManager
from gh_tui.agent.coherence import CoherenceWatch
from gh_tui.agent.commands import Commands
from gh_tui.agent.engine import Engine
from gh_tui.agent.hooks import Hooks
from gh_tui.agent.inbox import Inbox
from gh_tui.agent.memory import WorkingMemory
from gh_tui.agent.revival import Parts
from gh_tui.agent.runner import AgentRunner, RunLimits
from gh_tui.agent.scoring import Scorer
from gh_tui.agent.supervisor import Supervisor
from gh_tui.agent.supplements import SupplementDesk
from gh_tui.agent.toolbox import Toolbox
from gh_tui.agent.tools.base import Tool
from gh_tui.agent.tools.calculator import Calculator
from gh_tui.agent.tools.files import ListFiles, ReadFile, WriteFile
from gh_tui.agent.tools.memory import Library, Recall, SearchMemory
from gh_tui.agent.tools.time import Now
from gh_tui.agent.tools.workspace import Workspace
from gh_tui.agent.turns import TurnWriter
from gh_tui.clock import Clock
from gh_tui.context.prompts import system_prompt
from gh_tui.context.window import Budget, ContextWindowManager, budget_for
from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.service import EmbeddingService
from gh_tui.events import types as ev
from gh_tui.events.bus import EventBus
from gh_tui.events.state import SessionState
from gh_tui.memory.coherence.monitor import CoherenceConfig, TopicCoherence, usable_rule
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.index import Index
from gh_tui.memory.l0 import L0
from gh_tui.memory.l1 import L1Session
from gh_tui.memory.relevance import RelevanceTracker
from gh_tui.memory.restored import Restored
from gh_tui.memory.supplements import SupplementaryInputStore
from gh_tui.memory.tokens import count_schemas
from gh_tui.providers.base import ChatProvider, WindowSource
from gh_tui.providers.wire import tools_to_openai
from gh_tui.settings.model import Settings

LOCAL_BUDGET = 1500
"""Tokens of a request to the local model, which reads about 77 tokens a second."""
INDEX_SECONDS = 60.0
"""How often the archive takes in what was recorded."""
INDEX_SLICE_SECONDS = 5.0
"""How long it may work at a time."""
SMALL_STANDING = 3
"""Instructions in the standing block of a small model."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent lives in."""

    bus: EventBus
    clock: Clock
    settings: Settings
    workspace: Path
    embedding: EmbeddingService
    supervisor: Supervisor
    index: Index
    """The archive of all recorded sessions."""
    state: SessionState
    interactive: bool


@dataclass(frozen=True, slots=True)
class Agent:
    """The parts that a session talks to."""

    engine: Engine
    commands: Commands
    l1: L1Session
    batch: BatchAgentManager
    budget: Budget
    system: str
    hooks: Hooks
    parts: Parts


def make_tools(around: Surroundings, l0: L0, most_tokens: Callable[[], int]) -> list[Tool]:
    """The tools of every session, confined to the workspace.

    `most_tokens` are those of a result that the model is shown whole.
    """
    workspace = Workspace(around.workspace)
    library = Library(around.index, around.bus.session, around.embedding.name)
    return [
        Recall(l0, library, most_tokens),
        SearchMemory(l0, around.embedding.embed, library),
        ReadFile(workspace),
        ListFiles(workspace),
        Calculator(),
        Now(around.clock),
        WriteFile(workspace),
    ]


def build_agent(
    around: Surroundings,
    provider: ChatProvider,
    window: int,
    source: WindowSource,
    restored: Restored | None = None,
) -> Agent:
    """Wire an agent for `provider`, whose window is `window` tokens; its engine starts at once.

    Args:
        around: the session's own things.
        provider: the model.
        window: tokens, as the provider says.
        source: who says so.
        restored: the session to go on with: numbers continue from there.
    """
    bus, clock, settings = around.bus, around.clock, around.settings
    small = provider.name == "local"
    l0 = L0()
    tools = make_tools(around, l0, lambda: l1.result_limit)
    specs = [tool.spec for tool in tools]
    native = provider.tool_protocol == "native"
    schemas = tools_to_openai(specs) if native else []
    context = settings.context
    manager = ContextWindowManager()
    usual = LOCAL_BUDGET if small else None
    budget = budget_for(context, window, source, count_schemas(schemas), usual)
    l1 = L1Session(
        EvictionConfig.from_settings(settings.eviction),
        # A result larger than that could never be sent with the rest.
        result_limit=min(context.max_result_tokens, max(1, budget.tokens // 4)),
        attached_limit=shown_tokens(budget.tokens, context.max_result_tokens),
        calibrate=NATIVE.similarity,
    )
    system = system_prompt(specs, provider.tool_protocol)
    memory = WorkingMemory(
        bus,
        clock,
        l1,
        manager,
        budget,
        system,
        standing_max=settings.standing.max or (SMALL_STANDING if small else None),
    )
    tracker = RelevanceTracker(
        NATIVE,
        dim=around.embedding.dim,
        embedder=around.embedding.name,
        threshold=settings.eviction.relevance_threshold,
    )
    scorer = Scorer(around.embedding, tracker, around.supervisor, clock, l1)
    last = restored or Restored(Path())
    turns = TurnWriter(bus, clock, l1, l0, scorer, first=last.last_turn + 1)
    store = SupplementaryInputStore(settings.supplements.limit)
    answers = Answers(bus, l1, memory, around.state)
    desk = SupplementDesk(
        bus, store, scorer, turns, memory, answers, first=last.last_supplement + 1
    )
    hooks = Hooks()
    hooks.add("TaskStart", scorer.begin_task)
    approvals = ApprovalDesk(None if around.interactive else settings.tools.approval_seconds)
    toolbox = Toolbox(bus, tools, approvals, hooks, turns)
    limits = RunLimits(
        settings.tools.max_cycles, settings.provider.max_tokens, settings.provider.temperature
    )
    runner = AgentRunner(
        bus,
        clock,
        provider,
        memory,
        desk,
        turns,
        toolbox,
        hooks,
        limits,
        cycle=last.state.cycle,
        request=last.last_request,
    )
    name, without = usable_rule(settings.coherence.rule, around.embedding.name)
    if without:
        bus.announce(ev.Notice(level="warning", text=without))
    kind = CoherenceConfig(conversation=settings.coherence.conversation)
    rule = TopicCoherence(name, kind)
    watch = CoherenceWatch(
        bus, l1, memory, rule, scorer.vector, each_input=settings.coherence.each_input
    )
    inbox = Inbox(bus, l1, scorer, turns, hooks)
    parts = Parts(bus, clock, l1, l0, scorer, memory, turns, desk, inbox, toolbox, watch)
    engine = Engine(bus, inbox, desk, runner, watch, approvals, hooks, memory.oversize)
    batch = BatchAgentManager(clock, _tell(bus))
    batch.add(
        "topic_coherence_agent",
        settings.coherence.interval_seconds,
        watch.check,
        ready=watch.has_new_turns,
    )
    refresh = partial(asyncio.to_thread, _refresh, around.index)
    batch.add("index", INDEX_SECONDS, refresh, at_once=True)
    commands = Commands(bus, clock, engine, l1, memory, scorer, desk, answers, watch, around.state)
    return Agent(engine, commands, l1, batch, budget, system, hooks, parts)


def _refresh(index: Index) -> None:
    index.refresh(seconds=INDEX_SLICE_SECONDS)


def _tell(bus: EventBus) -> Callable[[str, Exception], None]:
    def tell(job: str, error: Exception) -> None:
        bus.announce(ev.Notice(level="warning", text=f"{job} failed: {error}"))

    return tell
