from __future__ import annotations

import pytest

from tests.benchmarks.drift import boundaries, load
from tests.benchmarks.topic_shift import Vectors


@pytest.mark.parametrize("name", ["b-zh-06", "a-en-03", "a-id-01"])
def test_a_shift_is_named_at_the_first_input_of_its_topic(name: str) -> None:
    session = next(one for one in load() if one.name == name)
    vectors = Vectors()
    vectors.learn(session.texts())
    assert boundaries(session, "contrast", vectors) == [session.boundary]
