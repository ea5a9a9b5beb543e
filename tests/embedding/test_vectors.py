import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.embedding.vectors import Vector, cosine, pack, problem, round16, unpack
from gh_tui.errors import EmbeddingError


def vec(*values: float) -> Vector:
    return np.array(values, dtype=np.float32)


@given(st.lists(st.floats(-60000, 60000, width=32), min_size=1, max_size=40))
def test_a_rounded_vector_survives_the_wire_unchanged(values: list[float]) -> None:
    rounded = round16(vec(*values))
    assert np.array_equal(unpack(pack(rounded)), rounded)
    assert np.array_equal(round16(rounded), rounded)


@pytest.mark.parametrize("text", ["not base64!", "QQ==", "ä"])
def test_a_broken_embedding_is_refused(text: str) -> None:
    with pytest.raises(EmbeddingError):
        unpack(text)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        vec(),
        vec(0, 0),
        vec(1, 2, 3),
        vec(float("nan"), 1),
        vec(float("inf"), 1),
        np.ones((1, 2), dtype=np.float32),
    ],
)
def test_what_cannot_be_compared_has_no_cosine_and_a_reason(bad: Vector | None) -> None:
    good = vec(1, 2)
    assert cosine(good, bad) is None
    assert cosine(bad, good) is None
    assert problem(bad, 2)
    assert problem(good, 2) is None


@given(
    st.lists(st.floats(-1, 1, width=16), min_size=8, max_size=8),
    st.lists(st.floats(-1, 1, width=16), min_size=8, max_size=8),
)
def test_cosine_is_symmetric_and_in_range(a: list[float], b: list[float]) -> None:
    one, two = cosine(vec(*a), vec(*b)), cosine(vec(*b), vec(*a))
    assert one == two
    assert one is None or -1.0 <= one <= 1.0


def test_cosine_ignores_length() -> None:
    assert cosine(vec(1, 1), vec(5, 5)) == pytest.approx(1.0)
    assert cosine(vec(1, 0), vec(0, 3)) == pytest.approx(0.0)
    assert cosine(vec(1, 0), vec(-2, 0)) == pytest.approx(-1.0)
