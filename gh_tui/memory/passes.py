"""One pass over the turns: what is masked, summarised and archived, computed without doing it.

The plan is a function of the table, the query and the request alone, so that a replay's
what-if comes to the same decisions. Ties go to the lower IRI number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from gh_tui.memory.eviction import Columns, EvictionConfig, Floats, Policy, policy_named
from gh_tui.memory.hybrid import hybrid, to_unit
from gh_tui.memory.steps import Units
from gh_tui.memory.table import ARCHIVED, FULL, MASKED, Flags, Ints, Levels, TurnTable
from gh_tui.memory.tokens import scale_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gh_tui.embedding.vectors import Vector
    from gh_tui.events.values import Phase, Trigger
    from gh_tui.memory.lexicon import Lexicon
    from gh_tui.memory.vectors import VectorStore


_LARGE: Final = 0.25
"""Share of the budget that counts as a large unit, so that among small ones size says little."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What the memory should serve now: usually the latest user input, or a new topic."""

    iri: str | None = None
    text: str = ""
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassRequest:
    """Why a pass runs, and what it has to reach."""

    now: float
    """Seconds on the session's clock."""
    budget: int
    tokens_before: int
    """Corrected tokens of the request as it would be sent now."""
    trigger: Trigger
    query: Query = Query()
    policy: str | None = None
    """None takes the configured one."""
    proposed: tuple[str, ...] = ()
    """On a topic shift: the IRIs that the detector proposes to archive."""
    factor: float = 1.0
    """`TokenEstimator.factor` at that time."""
    standing_tokens: int = 0
    """Part of `tokens_before` that is the standing block, which no prefix includes."""
    fits: int | None = None
    """On overflow: tokens that the window takes. While a request has more after all else was
    done, ordinary inputs are shown as attachments; with None none are."""
    again: bool = False
    """A pass was not enough, although the estimate says that it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """One turn's step down."""

    row: int
    before: int
    after: int
    """Indexes into `table.LEVELS`."""
    phase: Phase
    terms: dict[str, float | None]
    tokens_freed: int
    attached: bool = False
    """No step down: the input is shown as an attachment."""


Terms = dict[str, "NDArray[np.float64] | NDArray[np.int64]"]


@dataclass(frozen=True, slots=True)
class PassPlan:
    """What a pass would do."""

    policy: str
    changes: tuple[Change, ...]
    tokens_after: int
    prefix_kept: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a query is compared with."""

    lexicon: Lexicon
    vectors: VectorStore
    calibrate: Callable[[NDArray[np.float32]], NDArray[np.float32]] | None = None
    """Raw cosines to similarities in [0, 1]; None clips them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Rows that are protected by where they are."""

    newest: frozenset[int]
    """The newest turn and the latest user input."""
    open_heads: frozenset[int]
    """Heads of exchanges whose results are not all in."""


class PassPlanner:
    """Computes one pass on a copy of the levels."""

    def __init__(
        self,
        table: TurnTable,
        evidence: Evidence,
        place: Place,
        config: EvictionConfig,
        request: PassRequest,
        attachable: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._table, self._evidence = table, evidence
        self._attachable = attachable
        """Inputs and the tokens that each frees as an attachment, the most first."""
        self._config, self._request = config, request
        self._policy: Policy = policy_named(request.policy or config.policy)
        self._level = table.level.copy()
        rows = len(table)
        self._recent = np.arange(rows) >= rows - config.preserve_recent
        self._fixed = table.guarded.copy()
        if request.trigger != "overflow":
            self._fixed |= table.exempt
        self._newest = place.newest
        self._fixed[list(place.newest)] = True
        if place.open_heads:
            self._fixed |= np.isin(table.head, list(place.open_heads))
        self._fixed_unit = table.any_of_unit(self._fixed)
        self._tokens = request.tokens_before
        self._changes: list[Change] = []

    def plan(self, proposed_rows: tuple[int, ...] = ()) -> PassPlan:
        """Run the phases in order and say what would change."""
        costs = self._table.costs(self._level, self._request.factor)
        outside = max(0, self._tokens - self._request.standing_tokens - int(costs.sum()))
        if self._policy.stages:
            self._mask()
            self._topic(proposed_rows)
            self._threshold()
            # A line in place of a result costs less memory than an exchange that goes.
            self._mask_until(self._excess()[0], ~self._fixed_unit)
        self._fuse()
        if self._policy.stages:
            # Results of the newest exchange too, if the request would not fit otherwise.
            self._mask_until(self._tokens - self._request.budget, ~self._fixed)
        self._attach()
        first = min((change.row for change in self._changes), default=len(costs))
        return PassPlan(
            policy=self._policy.name,
            changes=tuple(self._changes),
            tokens_after=self._tokens,
            prefix_kept=outside + int(costs[:first].sum()),
        )

    def _mask(self) -> None:
        table, keep = self._table, self._config.keep_tool_results
        results = np.flatnonzero(table.tool)
        older = results[: max(0, len(results) - keep)]
        shorter = table.line[older] < table.full[older]
        masked = (self._level[older] == FULL) & ~self._fixed[older] & shorter
        newer = len(results) - 1 - np.flatnonzero(masked)
        self._step(older[masked], MASKED, "mask", {"newer_results": newer})

    def _topic(self, proposed_rows: tuple[int, ...]) -> None:
        if not proposed_rows:
            return
        named = np.zeros(len(self._table), np.bool_)
        named[list(proposed_rows)] = True
        near = self._similarities()
        # What also belongs to the new topic stays.
        fits = self._table.any_of_unit(near >= self._config.topic_shift_threshold)
        chosen = self._table.any_of_unit(named) & ~self._fixed_unit & ~fits
        rows = np.flatnonzero(chosen & (self._level > ARCHIVED))
        terms = self._basic_terms(rows)
        terms["query"] = near[rows].astype(np.float64)
        self._step(rows, ARCHIVED, "topic", terms)

    def _threshold(self) -> None:
        table, config = self._table, self._config
        # Unknown relevance is not below anything.
        below = ~(table.relevance >= config.relevance_threshold) & ~np.isnan(table.relevance)
        old = self._request.now - table.last_access > config.safe_window_seconds
        spared = ~(below & old) | self._fixed | self._recent
        gone = ~table.any_of_unit(spared) & (self._level > ARCHIVED)
        rows = np.flatnonzero(gone)
        terms = self._basic_terms(rows)
        terms["threshold"] = np.full(rows.size, config.relevance_threshold)
        terms["safe_window"] = np.full(rows.size, config.safe_window_seconds)
        self._step(rows, ARCHIVED, "threshold", terms)

    def _basic_terms(self, rows: Ints) -> Terms:
        table = self._table
        return {
            "relevance_score": table.relevance[rows],
            "age": self._request.now - table.last_access[rows],
        }

    def _fuse(self) -> None:
        excess_tokens, excess_messages = self._excess()
        if excess_tokens <= 0 and excess_messages <= 0:
            return
        rows = np.flatnonzero((self._level > ARCHIVED) & ~self._fixed_unit)
        if not rows.size:
            return
        units = Units(self._table, self._level, rows, self._request.factor)
        columns = self._columns(rows, units)
        steps = units.steps(self._policy, columns, self._config, self._recent)
        chosen = steps.until(excess_tokens, excess_messages)
        target = self._level.copy()
        for index in chosen.tolist():
            target[steps.head[index]] = steps.after[index]
        head = self._table.head[rows]
        after = target[head]
        # A unit that is not among the steps keeps its level, also where a result is masked.
        moved = np.flatnonzero(after < self._level[head])
        terms: Terms = {
            "retention": units.retention[head],
            "query": columns.query,
            "relevance_score": columns.relevance,
            "info": columns.info,
            "age": columns.age,
            "tokens": columns.tokens,
        }
        picked = {name: values[moved] for name, values in terms.items()}
        self._step(rows[moved], after[moved], "fusion", picked)

    def _excess(self) -> tuple[int, int]:
        """Tokens and messages above what the pass works down to."""
        config, request = self._config, self._request
        ceiling = request.budget
        if request.trigger == "overflow":
            # The server says that the estimate is wrong, so the estimate is the ceiling.
            ceiling = min(ceiling, request.tokens_before)
        tokens = self._tokens - int(config.low_watermark * ceiling)
        messages = int(self._table.messages(self._level).sum())
        if messages <= config.max_messages and request.trigger != "messages":
            return tokens, 0
        return tokens, messages - int(config.low_watermark * config.max_messages)

    def _columns(self, rows: Ints, units: Units) -> Columns:
        table = self._table
        per_token = self._evidence.lexicon.information()[rows] / np.maximum(table.full[rows], 1)
        squared = np.square(per_token / (float(per_token.mean()) or 1.0))
        return Columns(
            age=np.maximum(self._request.now - table.last_access[rows], 0.0),
            relevance=table.relevance[rows],
            query=self._query(rows),
            info=squared / (squared + 1.0),
            tokens=units.tokens[rows].astype(np.float64),
            most_tokens=max(float(units.tokens[rows].max()), _LARGE * self._request.budget),
        )

    def _query(self, rows: Ints) -> Floats:
        query, kind = self._request.query, self._policy.query
        if kind == "none" or (query.vector is None and not query.text):
            return np.full(rows.size, np.nan)
        if kind == "vectors":
            return self._similarities()[rows].astype(np.float64)
        cosines = self._evidence.vectors.cosines(query.vector, len(self._table))
        words = self._evidence.lexicon
        near = to_unit(hybrid(words.bm25(query.text), cosines, asks=words.asks))[rows]
        return near.astype(np.float64)

    def _similarities(self) -> NDArray[np.float32]:
        """Calibrated similarity of every row with the query, not-a-number where unknown."""
        evidence = self._evidence
        cosines = evidence.vectors.cosines(self._request.query.vector, len(self._table))
        if evidence.calibrate is None:
            return np.clip(cosines, 0.0, 1.0)
        return evidence.calibrate(cosines)

    def _mask_until(self, excess: int, allowed: Flags) -> None:
        """Mask further results, the oldest first, until `excess` tokens are freed."""
        table = self._table
        if excess <= 0:
            return
        rows = np.flatnonzero(
            table.tool & (self._level == FULL) & allowed & (table.line < table.full)
        )
        freed = np.cumsum(scale_all(table.full[rows] - table.line[rows], self._request.factor))
        rows = rows[: int(np.searchsorted(freed, excess)) + 1]
        results = np.flatnonzero(table.tool)
        newer = len(results) - 1 - np.searchsorted(results, rows)
        self._step(rows, MASKED, "mask", {"newer_results": newer})

    def _attach(self) -> None:
        """Show ordinary inputs as attachments while the request is too large even so.

        The newest come last, and only when nothing else is left to take.
        """
        request = self._request
        if request.trigger != "overflow" or request.fits is None:
            return
        limit = request.fits
        if request.again or not self._changes:
            limit = min(limit, self._tokens - 1)
        left = bool(((self._level > ARCHIVED) & ~self._fixed_unit).any())
        for row, freed in sorted(self._attachable, key=lambda one: one[0] in self._newest):
            if self._tokens <= limit or (left and row in self._newest):
                return
            if self._level[row] == FULL and not self._table.guarded[row]:
                self._tokens -= freed
                self._changes.append(Change(row, FULL, FULL, "mask", {}, freed, attached=True))

    def _step(self, rows: Ints, after: Levels | int, phase: Phase, terms: Terms) -> None:
        """Move rows down and note each change with its terms, one value per row."""
        factor = self._request.factor
        before = self._level[rows]
        freed = self._table.costs_of(rows, before, factor)
        self._level[rows] = after
        freed -= self._table.costs_of(rows, self._level[rows], factor)
        self._tokens -= int(freed.sum())
        columns = zip(*map(_recorded, terms.values()), strict=True)
        changes = zip(
            *(values.tolist() for values in (rows, before, self._level[rows], freed)),
            columns,
            strict=True,
        )
        self._changes.extend(
            Change(row, old, new, phase, dict(zip(terms, values, strict=True)), tokens)
            for row, old, new, tokens, values in changes
        )


def _recorded(values: NDArray[np.generic]) -> list[float | None]:
    """Terms as they are recorded: 6 decimals, None where unknown."""
    wide = values.astype(np.float64)
    rounded: list[float | None] = wide.round(6).tolist()
    for index in np.flatnonzero(np.isnan(wide)).tolist():
        rounded[index] = None
    return rounded
