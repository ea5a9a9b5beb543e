"""Eviction policies: pure functions from columns over turns to how much each should stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from gh_tui.errors import SettingsError
from gh_tui.settings.model import EvictionSettings

Floats = NDArray[np.float64]
QueryKind = Literal["hybrid", "vectors", "none"]

_LEAST_AGE: Final = 1.0
_LEAST_RELEVANCE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of a retention formula; `cost` is subtracted."""

    recency: float
    relevance: float
    info: float
    cost: float


FUSION: Final = Weights(recency=0.10, relevance=0.50, info=0.30, cost=0.10)
CLASSIC: Final = Weights(recency=0.30, relevance=0.40, info=0.0, cost=0.30)


@dataclass(frozen=True, slots=True)
class EvictionConfig(EvictionSettings):
    """When a pass runs, and what it may take: the user's settings and what is no setting."""

    protected_share: float = 0.25
    """Share of the budget that protected turns may fill before new pins are refused."""
    weights: Weights | None = None
    """None takes the weights of the policy."""

    @classmethod
    def from_settings(cls, settings: EvictionSettings) -> EvictionConfig:
        """The configuration that the user's settings ask for."""
        return cls(**{item.name: getattr(settings, item.name) for item in fields(settings)})

    def to_wire(self) -> dict[str, Any]:
        """As plain values, for the record of a pass."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Columns:
    """What a policy sees: arrays of one length, a row per turn in order."""

    age: Floats
    """Seconds since last access, not negative."""
    relevance: Floats
    """relevance_score in [0, 1]; not-a-number is unknown."""
    query: Floats
    """Relevance to the current query in [0, 1]; not-a-number is unknown."""
    info: Floats
    """Information per token, scaled to [0, 1]."""
    tokens: Floats
    """Tokens that the turn's unit (itself, or its exchange) takes, not negative."""
    most_tokens: float
    """What counts as a large unit: the largest in this pass, or a quarter of the budget."""

    def with_tokens(self, tokens: Floats) -> Columns:
        """The same turns at another length, measured by the same scale."""
        return replace(self, tokens=tokens)


@dataclass(frozen=True, slots=True)
class Policy:
    """A named order of eviction."""

    name: str
    retention: Callable[[Columns, EvictionConfig], Floats]
    """float64[n]: the lowest goes first."""
    query: QueryKind
    """How the query column is to be made."""
    stages: bool = True
    """Mask tool results and apply the hard threshold first, and summarise before archiving."""


def mixed_relevance(columns: Columns, beta: float) -> Floats:
    """β·q + (1−β)·r over what is known; the mean of the known rows where nothing is.

    A term that is unknown gives its weight to the other one, so that ignorance neither keeps
    nor removes a turn.
    """
    q, r = columns.query, columns.relevance
    if np.isnan(q).all():
        mixed = r
    else:
        mixed = beta * q + (1 - beta) * r
        mixed = np.where(np.isnan(q), r, np.where(np.isnan(r), q, mixed))
    unknown = np.isnan(mixed)
    if not unknown.any():
        return mixed
    known = mixed[~unknown]
    return np.where(unknown, known.mean() if known.size else 0.0, mixed)


def _weighted(columns: Columns, config: EvictionConfig, weights: Weights) -> Floats:
    recency = 1.0 / (1.0 + columns.age / max(config.safe_window_seconds, 1e-9))
    kept = weights.recency * recency
    kept += weights.relevance * mixed_relevance(columns, config.beta)
    if weights.info:
        kept += weights.info * columns.info
    kept -= weights.cost * _cost(columns)
    return kept


def _cost(columns: Columns) -> Floats:
    return columns.tokens / max(columns.most_tokens, 1.0)


def fusion(columns: Columns, config: EvictionConfig) -> Floats:
    """Recency, relevance and information, less the cost in tokens."""
    return _weighted(columns, config, config.weights or FUSION)


def classic(columns: Columns, config: EvictionConfig) -> Floats:
    """Recency, relevance by vectors alone and cost; no information term."""
    return _weighted(columns, config, config.weights or CLASSIC)


def published(columns: Columns, config: EvictionConfig) -> Floats:
    """The published sum w1/age + w2/relevance + w3·cost, the highest evicted first.

    Two of its three terms rise with what should leave, so it is read as an order of eviction;
    its first term then removes recent turns first. Kept for comparison.
    """
    weights = config.weights or CLASSIC
    value = weights.recency / np.maximum(columns.age, _LEAST_AGE)
    value += weights.relevance / np.maximum(mixed_relevance(columns, config.beta), _LEAST_RELEVANCE)
    value += weights.cost * _cost(columns)
    return -value


def recency(columns: Columns, config: EvictionConfig) -> Floats:
    """The oldest goes first, as other programs do."""
    return np.arange(len(columns.age), dtype=np.float64)


POLICIES: Final[Mapping[str, Policy]] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            Policy("fusion", fusion, "hybrid"),
            Policy("classic", classic, "vectors"),
            Policy("published", published, "vectors"),
            Policy("recency", recency, "none", stages=False),
        )
    }
)


def policy_named(name: str) -> Policy:
    """The policy of that name.

    Raises:
        SettingsError: there is none.
    """
    try:
        return POLICIES[name]
    except KeyError:
        known = ", ".join(POLICIES)
        raise SettingsError(f"no eviction policy {name!r}; there are {known}") from None
