from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.embedding.calibration import NATIVE, Calibration, measure
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.reference import load_reference
from gh_tui.embedding.vectors import Matrix, cosine, round16, unpack
from gh_tui.errors import EmbeddingError


@pytest.mark.parametrize(("u", "r"), [(0.01, 0.26), (0.8, 0.86), (-0.1, 0.5)])
def test_the_map_passes_through_its_three_points(u: float, r: float) -> None:
    scale = Calibration(u, r)
    assert [scale.similarity(cos) for cos in (u, r, 1.0)] == pytest.approx([0.1, 0.6, 1.0])
    zero = u - 0.2 * (r - u)
    assert scale.similarity(zero) == pytest.approx(0.0, abs=1e-9)
    assert scale.similarity(zero + 0.1 * (r - u)) == pytest.approx(0.05)
    assert scale.similarity(-1.0) == 0.0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_map_never_falls_and_stays_in_range(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0.0 <= NATIVE.similarity(low) <= NATIVE.similarity(high) <= 1.0
    assert 0.0 <= NATIVE.relevance(low, 0.1) <= NATIVE.relevance(high, 0.1) <= 1.0
    assert NATIVE.relevance(0.1, low) <= NATIVE.relevance(0.1, high)


def test_arrays_map_like_numbers() -> None:
    cosines = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    mapped = NATIVE.similarity(cosines)
    assert mapped.shape == (3, 4)
    assert mapped.ravel().tolist() == pytest.approx(
        [NATIVE.similarity(float(cos)) for cos in cosines.ravel()], abs=1e-6
    )


def test_without_a_lean_relevance_is_similarity() -> None:
    assert NATIVE.relevance(0.2, None) == NATIVE.similarity(0.2)
    assert Calibration(0.0, 0.3).relevance(0.2, 0.9) == Calibration(0.0, 0.3).similarity(0.2)


def test_an_embedder_that_separates_nothing_is_refused() -> None:
    def constant(texts: Sequence[str]) -> Matrix:
        return np.ones((len(texts), 3), dtype=np.float32)

    with pytest.raises(EmbeddingError):
        measure(constant, load_reference())


def test_the_shipped_numbers_are_those_of_the_reference_set() -> None:
    native = NativeEmbedder()
    measured = measure(lambda texts: round16(native.embed_sync(texts)), load_reference())
    assert (measured.u, measured.r) == pytest.approx((NATIVE.u, NATIVE.r), abs=0.005)
    assert measured.work is not None
    assert NATIVE.work is not None
    assert measured.work.u == pytest.approx(NATIVE.work.u, abs=0.005)
    assert measured.work.r == pytest.approx(NATIVE.work.r, abs=0.005)
    assert measured.work.centre == pytest.approx(NATIVE.work.centre, abs=0.005)
    same = cosine(unpack(measured.work.axis), unpack(NATIVE.work.axis))
    assert same is not None
    assert same > 0.999


def test_the_reference_set_is_balanced() -> None:
    references = load_reference()
    assert {reference.language for reference in references} == {"en", "zh", "id"}
    assert len({len(reference.topics) for reference in references}) == 1
    assert len({len(reference.smalltalk) for reference in references}) == 1
    assert {len(topic.inputs) for reference in references for topic in reference.topics} == {3}
