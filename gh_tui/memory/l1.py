"""L1: the turns of a session with their fidelity, from which each request is assembled.

Times are seconds on the session's clock: monotonic, and the same in a replay. Methods that
change what the model will see return the events that say so, in order; the caller publishes
them. The session is for one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.errors import MemoryFullError
from gh_tui.events import types as ev
from gh_tui.memory.attached import AttachmentStore
from gh_tui.memory.eviction import EvictionConfig
from gh_tui.memory.passes import PassPlan, PassPlanner, PassRequest, Place
from gh_tui.memory.store import ATTACHED_LIMIT, RESULT_LIMIT
from gh_tui.memory.table import ARCHIVED, FULL, LEVELS, SUMMARY
from gh_tui.memory.tokens import scale
from gh_tui.memory.vectors import VECTOR_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gh_tui.events.values import Trigger
    from gh_tui.memory.turn import L1Turn

_GROWTH: Final = 0.1
_ASKED: Final = frozenset({"command", "topic"})
"""Triggers of passes that are recorded even if they find nothing to take."""


class L1Session(AttachmentStore):
    """The memory that the model works in: passes, and what the user asks of it."""

    def __init__(
        self,
        config: EvictionConfig | None = None,
        *,
        result_limit: int = RESULT_LIMIT,
        attached_limit: int = ATTACHED_LIMIT,
        calibrate: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None,
        vector_bytes: int = VECTOR_BYTES,
    ) -> None:
        super().__init__(
            result_limit=result_limit,
            attached_limit=attached_limit,
            calibrate=calibrate,
            vector_bytes=vector_bytes,
        )
        self.config = config or EvictionConfig()
        self._passes: dict[int, tuple[ev.TurnFidelityChanged, ...]] = {}
        self._last_pass = 0
        self._stuck_at: int | None = None
        self._running = False

    def protected(self, iri: str) -> bool:
        """Whether no pass may take this turn now."""
        row = self._row[iri]
        if self._table.exempt[row] or self._table.guarded[row]:
            return True
        return row in self._place().newest or int(self._table.head[row]) in self._open.values()

    def protected_tokens(self, factor: float = 1.0) -> int:
        """Corrected tokens of the task, supplements, standing instructions and pins."""
        table = self._table
        costs = table.costs(table.level, factor)
        return int(costs[table.guarded].sum())

    def protected_excess(self, budget: int, factor: float = 1.0) -> int:
        """Corrected tokens of what is protected above its share of the budget, or below it."""
        return self.protected_tokens(factor) - int(self.config.protected_share * budget)

    def demotable(self, factor: float = 1.0) -> list[tuple[L1Turn, int]]:
        """Protected turns that the user could make ordinary ones, the largest first.

        With their corrected tokens.
        """
        rows = np.flatnonzero(self._table.guarded).tolist()
        costs = ((self._turns[row], self._table.cost(row, FULL, factor)) for row in rows)
        found = [(turn, tokens) for turn, tokens in costs if not turn.is_task]
        return sorted(found, key=lambda one: one[1], reverse=True)

    def restore(
        self,
        turns: Iterable[L1Turn],
        *,
        exempt: Mapping[str, bool] | None = None,
        passes: Mapping[int, Sequence[ev.TurnFidelityChanged]] | None = None,
        chosen: Iterable[str] = (),
    ) -> None:
        """Fill an empty session from a recording: turns as they were left, scores included.

        `exempt` holds the IRIs that the user brought back and no pass may take yet, with whether
        a request has shown each since, `passes` what each pass changed, `chosen` the inputs that
        the user made attachments.
        """
        restored = list(turns)
        for turn in restored:
            self.add(turn)
        for turn in restored:
            self.touch(turn.iri, turn.last_access)
        for iri, shown in (exempt or {}).items():
            self._exempt(self._row[iri], shown=shown)
        self._chosen = {self._row[iri] for iri in chosen}
        self._passes = {number: tuple(changes) for number, changes in (passes or {}).items()}
        self._last_pass = max(self._passes, default=0)

    def mend(self, factor: float = 1.0) -> list[ev.Event]:
        """Bring back to full what no pass could have left so: a crash may, between two records.

        That is each exchange that was changed in part, since no server takes half of one, and
        what is protected by what it is.
        """
        units = [[head, *results] for head, results in self._members.items()]
        levels = [self._table.level[rows] for rows in units]
        torn = [
            row
            for rows, level in zip(units, levels, strict=True)
            if level.min() <= SUMMARY < level.max()
            for row in rows
        ]
        guarded = np.flatnonzero(self._table.guarded).tolist()
        return list(self._raise([*torn, *guarded], "undo", factor))

    # What the user asks for.

    def pin(self, iri: str, now: float, *, budget: int, factor: float = 1.0) -> list[ev.Event]:
        """Protect a turn, and bring it back to full.

        Raises:
            MemoryFullError: protected turns would fill more than their share of the budget.
        """
        row = self._row[iri]
        if self._turns[row].pinned:
            return []
        held = 0 if self._table.guarded[row] else scale(int(self._table.full[row]), factor)
        excess = self.protected_excess(budget, factor)
        if excess + held > 0:
            protected = self.protected_tokens(factor)
            raise MemoryFullError(
                f"not pinned: protected turns hold {protected} tokens, this one has {held}, and "
                f"they may hold {protected - excess} of the budget of {budget}; unpin or demote "
                "another first"
            )
        self._mark(row, pinned=True)
        self.touch(iri, now)
        return [ev.TurnPinned(iri=iri), *self._raise([row], "user", factor)]

    def demote(self, iri: str) -> list[ev.Event]:
        """Make a supplement, standing instruction or pin an ordinary turn, by the user's choice.

        Raises:
            ValueError: the turn is the task, which stays.
        """
        row = self._row[iri]
        turn = self._turns[row]
        if turn.is_task:
            raise ValueError("the task cannot be demoted")
        if not turn.guarded:
            return []
        self._mark(row, pinned=False, demoted=turn.is_supplement or turn.standing)
        return [ev.TurnUnpinned(iri=iri)]

    def replace_instruction(self, iri: str, by: str, factor: float = 1.0) -> list[ev.Event]:
        """Archive an instruction with a link to the one that the user says replaces it.

        The change carries `replaced_by`, the number of the new turn, in its terms. The task
        stays: nothing replaces it.
        """
        row = self._row[iri]
        if self._turns[row].is_task:
            return []
        self._mark(row, replaced_by=self.turn(by).iri)
        if self._table.level[row] == ARCHIVED:
            return []
        terms: dict[str, float | None] = {"replaced_by": float(self.turn(by).number)}
        return [self._change(row, ARCHIVED, "user", terms, factor)]

    def withdraw(self, iri: str, factor: float = 1.0) -> list[ev.Event]:
        """Hide an input that the user took back, for good; what it had replaced stands again.

        The change carries `withdrawn` in its terms.
        """
        row = self._row[iri]
        self._withdrawn.add(row)
        self._mark(row, withdrawn=True)
        events: list[ev.Event] = []
        if self._table.level[row] != ARCHIVED:
            events.append(self._change(row, ARCHIVED, "user", {"withdrawn": 1.0}, factor))
        again = [old for old, turn in enumerate(self._turns) if turn.replaced_by == iri]
        for old in again:
            self._mark(old, replaced_by=None)
        return [*events, *self._raise(again, "undo", factor)]

    def recall(self, iri: str, now: float, factor: float = 1.0) -> list[ev.Event]:
        """Bring a turn back to full at its place, for the user; spared until the next input.

        An attachment is shown whole again.
        """
        row = self._row[iri]
        self.touch(iri, now)
        changes = self._raise([row], "recall", factor) + self._detach([row], "recall", factor)
        self._exempt(row)
        return list(changes)

    def undo_pass(
        self, now: float, number: int | None = None, factor: float = 1.0
    ) -> list[ev.Event]:
        """Bring back to full what a pass (the latest by default) took; spared until the next input.

        Returns an empty list if there is nothing to undo.
        """
        taken = self._passes.pop(self._last_undoable() if number is None else number, ())
        rows = list(dict.fromkeys(self._row[change.iri] for change in taken))
        attached = [self._row[change.iri] for change in taken if self._attached_still(change)]
        changes = self._raise(rows, "undo", factor) + self._detach(attached, "undo", factor)
        for iri in {change.iri for change in changes}:
            self.touch(iri, now)
        self._stuck_at = None
        return list(changes)

    # Passes.

    def due(self, tokens: int, budget: int) -> Trigger | None:
        """Whether a pass should run before this request, and why.

        After a pass that could not reach the low watermark the next one waits until the
        request has grown by a tenth of the budget, or no longer fits.
        """
        config = self.config
        stuck = tokens <= self._waits_until(budget)
        if tokens > config.high_watermark * budget and not stuck:
            return "watermark"
        if self.message_count() > config.max_messages and not stuck:
            return "messages"
        return "eager" if config.eager else None

    def next_pass(self, tokens: int, budget: int) -> tuple[Trigger, int]:
        """What will start the next pass, and the tokens or messages above which it does.

        That is the mark that is nearest to being passed; 0 where each request starts one.
        """
        config, messages = self.config, self.message_count()
        if config.eager:
            return "eager", 0
        waits = self._waits_until(budget)
        high = int(config.high_watermark * budget)
        if tokens <= waits:
            return "watermark", waits if messages > config.max_messages else max(high, waits)
        if messages * high > tokens * config.max_messages:
            return "messages", config.max_messages
        return "watermark", high

    def evict_with_query(self, request: PassRequest) -> list[ev.Event]:
        """Run one pass and apply it.

        Returns:
            PassStarted, a TurnFidelityChanged for each turn that changed, PassFinished; nothing
            if nobody asked for the pass and it would change nothing; or one Notice if a pass is
            running already.
        """
        if self._running:
            return [
                ev.Notice(level="info", text="A memory pass is running; no second one started.")
            ]
        self._running = True
        try:
            plan = self._plan(request)
            events = self._events(request, plan)
            for change in plan.changes:
                if change.attached:
                    self._set_attached(change.row, True)
                else:
                    self._set_level(change.row, change.after)
            if events:
                self._last_pass += 1
                self._passes[self._last_pass] = _changes_of(events)
            reached = (
                plan.tokens_after <= self.config.low_watermark * request.budget
                and self.message_count() <= self.config.max_messages
            )
            self._stuck_at = None if reached else plan.tokens_after
            return events
        finally:
            self._running = False

    def preview_pass(self, request: PassRequest) -> list[ev.Event]:
        """The events of the pass that `evict_with_query` would run, without running it."""
        return self._events(request, self._plan(request))

    @contextmanager
    def as_after(self, changes: Sequence[ev.TurnFidelityChanged]) -> Iterator[None]:
        """Have turns at the fidelity that changes of a preview lead to, while the context lasts."""
        before = [(self._row[change.iri], change.before) for change in changes]
        for change in changes:
            self._set_level(self._row[change.iri], LEVELS.index(change.after))
        try:
            yield
        finally:
            for row, fidelity in reversed(before):
                self._set_level(row, LEVELS.index(fidelity))

    def _waits_until(self, budget: int) -> int:
        """Tokens up to which no pass runs after one that could not reach the low watermark."""
        return -1 if self._stuck_at is None else min(budget, self._stuck_at + int(_GROWTH * budget))

    def _plan(self, request: PassRequest) -> PassPlan:
        rows = tuple(self._row[iri] for iri in request.proposed if iri in self._row)
        overflows = request.trigger == "overflow" and request.fits is not None
        planner = PassPlanner(
            self._table,
            self._evidence,
            self._place(),
            self.config,
            request,
            self._attachable(request.factor) if overflows else (),
        )
        return planner.plan(rows)

    def _place(self) -> Place:
        newest = {len(self._turns) - 1, self._latest_input, *self._held}
        return Place(
            newest=frozenset(row for row in newest if row is not None and row >= 0),
            open_heads=frozenset(self._open.values()),
        )

    def _events(self, request: PassRequest, plan: PassPlan) -> list[ev.Event]:
        if not plan.changes and request.trigger not in _ASKED:
            return []
        number = self._last_pass + 1
        config = {**self.config.to_wire(), "token_factor": request.factor}
        started = ev.PassStarted(
            pass_=number,
            trigger=request.trigger,
            policy=plan.policy,
            config=config,
            now=request.now,
            query_iri=request.query.iri,
            budget=request.budget,
            tokens_before=request.tokens_before,
        )
        changes = [
            ev.TurnFidelityChanged(
                iri=self._turns[change.row].iri,
                before=LEVELS[change.before],
                after=LEVELS[change.after],
                phase=change.phase,
                terms=change.terms,
                tokens_freed=change.tokens_freed,
                pass_=number,
                attached=change.attached,
            )
            for change in plan.changes
        ]
        finished = ev.PassFinished(
            pass_=number, tokens_after=plan.tokens_after, prefix_kept=plan.prefix_kept
        )
        lifted: list[ev.Event] = []
        if request.trigger == "overflow" and any(
            self._table.exempt[change.row] for change in plan.changes
        ):
            text = "The request was too large, so turns that you had brought back had to go again."
            lifted.append(ev.Notice(level="warning", text=text))
        return [started, *lifted, *changes, finished]

    def _last_undoable(self) -> int:
        return max(
            (number for number, taken in self._passes.items() if self._took(taken)), default=0
        )

    def _attached_still(self, change: ev.TurnFidelityChanged) -> bool:
        """Whether what a pass made an attachment is one because of that."""
        row = self._row[change.iri]
        return change.attached and self._turns[row].attached and row not in self._chosen

    def _took(self, taken: Iterable[ev.TurnFidelityChanged]) -> bool:
        """Whether something of a pass is still away: a resume knows of undone passes too."""
        return any(
            self.turn(change.iri).fidelity != "full" or self._attached_still(change)
            for change in taken
        )


def _changes_of(events: Iterable[ev.Event]) -> tuple[ev.TurnFidelityChanged, ...]:
    return tuple(event for event in events if isinstance(event, ev.TurnFidelityChanged))
