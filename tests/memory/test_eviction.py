from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.errors import SettingsError
from gh_tui.memory.eviction import (
    POLICIES,
    Columns,
    EvictionConfig,
    Weights,
    policy_named,
)
from gh_tui.settings.model import EvictionSettings

CONFIG = EvictionConfig()


def columns(**given: list[float]) -> Columns:
    size = len(next(iter(given.values())))
    base = {
        "age": [100.0] * size,
        "relevance": [0.5] * size,
        "query": [0.5] * size,
        "info": [0.5] * size,
        "tokens": [50.0] * size,
    }
    arrays = {name: np.array(values, float) for name, values in {**base, **given}.items()}
    return Columns(**arrays, most_tokens=float(arrays["tokens"].max()))


@pytest.mark.parametrize("name", ["fusion", "classic"])
@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"age": 10.0}, {"age": 1000.0}),
        ({"relevance": 0.9}, {"relevance": 0.1}),
        ({"query": 0.9}, {"query": 0.1}),
        ({"tokens": 10.0}, {"tokens": 900.0}),
    ],
)
def test_each_term_pulls_its_way(
    name: str, better: dict[str, float], worse: dict[str, float]
) -> None:
    given = {term: [better[term], worse[term]] for term in better}
    high, low = policy_named(name).retention(columns(**given), CONFIG)
    assert high > low


def test_information_counts_in_fusion_only() -> None:
    given = columns(info=[0.9, 0.1])
    high, low = policy_named("fusion").retention(given, CONFIG)
    assert high > low
    same = policy_named("classic").retention(given, CONFIG)
    assert same[0] == same[1]


def test_fusion_is_the_written_formula() -> None:
    config = replace(CONFIG, beta=0.7, weights=Weights(0.1, 0.5, 0.3, 0.2))
    given = columns(
        age=[300.0, 0.0], relevance=[0.2, 1.0], query=[0.8, 0.0], info=[0.4, 0.0], tokens=[25, 100]
    )
    kept = policy_named("fusion").retention(given, config)
    assert kept[0] == pytest.approx(
        0.1 / 2 + 0.5 * (0.7 * 0.8 + 0.3 * 0.2) + 0.3 * 0.4 - 0.2 * 25 / 100
    )
    assert kept[1] == pytest.approx(0.1 + 0.5 * 0.3 - 0.2)


def test_published_removes_recent_and_irrelevant_turns_first() -> None:
    policy = policy_named("published")
    old, new = policy.retention(columns(age=[1000.0, 2.0]), CONFIG)
    assert new < old
    related, unrelated = policy.retention(columns(relevance=[0.9, 0.1], query=[0.9, 0.1]), CONFIG)
    assert unrelated < related


def test_recency_drops_the_oldest() -> None:
    kept = policy_named("recency").retention(columns(age=[30.0, 20.0, 10.0]), CONFIG)
    assert kept.tolist() == sorted(kept.tolist())


unit = st.floats(0, 1)
maybe = st.one_of(unit, st.just(float("nan")))
rows = st.lists(
    st.tuples(st.floats(0, 1e6), maybe, maybe, unit, st.floats(0, 1e5)), min_size=1, max_size=30
)


@given(rows, st.sampled_from(sorted(POLICIES)))
def test_every_policy_gives_a_number_for_every_turn(
    table: list[tuple[float, ...]], name: str
) -> None:
    age, relevance, query, info, tokens = (list(column) for column in zip(*table, strict=True))
    given = columns(age=age, relevance=relevance, query=query, info=info, tokens=tokens)
    kept = POLICIES[name].retention(given, CONFIG)
    assert kept.shape == (len(table),)
    assert np.isfinite(kept).all()


@given(st.lists(unit, min_size=2, max_size=20), st.sampled_from(["fusion", "classic", "published"]))
def test_unknown_relevance_is_neutral(scores: list[float], name: str) -> None:
    nan = float("nan")
    given = columns(relevance=[*scores, nan], query=[nan] * (len(scores) + 1))
    kept = POLICIES[name].retention(given, CONFIG)
    assert kept[:-1].min() - 1e-9 <= kept[-1] <= kept[:-1].max() + 1e-9


def test_each_setting_of_the_user_is_in_force() -> None:
    settings = EvictionSettings("recency", 0.2, 9.0, 0.4, 0.5, 1, 2, 3, 0.8, 0.7, eager=True)
    config = EvictionConfig.from_settings(settings)
    assert config.to_wire() == {**asdict(settings), "protected_share": 0.25, "weights": None}


def test_an_unknown_policy_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="fusion"):
        policy_named("lru")
