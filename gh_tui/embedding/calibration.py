"""Raw cosines to similarities: the same threshold for every embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.reference import Reference
from gh_tui.embedding.vectors import Matrix, pack
from gh_tui.errors import EmbeddingError

_AT_UNRELATED = 0.1
_AT_RELATED = 0.6


_AXIS_WEIGHT = 0.35
"""Anything from 0.2 to 0.5 ranks the development data equally well."""


@dataclass(frozen=True, slots=True)
class WorkAxis:
    """The direction from small talk to inputs that belong to some task.

    The cosine to a task alone is near the noise for terse inputs ("use our brand colours");
    how far an input leans to work or to small talk is a second, independent sign.
    """

    axis: str
    """Unit vector as base64 float16: mean of the work inputs minus mean of the small talk."""
    centre: float
    """Cosine to the axis half-way between the two means."""
    u: float
    """Median evidence of unrelated pairs."""
    r: float
    """Median evidence of related pairs."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Median raw cosines of an embedder: `u` of unrelated and `r` of related pairs.

    Raises:
        EmbeddingError: unless -1 <= u < r < 1.
    """

    u: float
    r: float
    work: WorkAxis | None = None

    def __post_init__(self) -> None:
        if not -1.0 <= self.u < self.r < 1.0:
            raise EmbeddingError(
                f"this embedder does not tell related from unrelated texts (u={self.u:.3f}, "
                f"r={self.r:.3f}); choose another one"
            )

    @overload
    def similarity(self, cos: float) -> float: ...
    @overload
    def similarity(self, cos: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def similarity(self, cos: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """Map raw cosines of any two texts to [0, 1].

        Piecewise linear through (u, 0.1), (r, 0.6) and (1, 1), and down to 0 along the first
        slope.

        Args:
            cos: one number or an array of any shape, in [-1, 1]; not-a-number stays so.
        """
        mapped = _interpolate(cos, self.u, self.r)
        return mapped.astype(np.float32) if isinstance(mapped, np.ndarray) else float(mapped)

    def relevance(self, cos: float, lean: float | None) -> float:
        """Map the cosine of an input to its task, or to an input before it, to [0, 1].

        The evidence is `cos + 0.35 (lean - centre)`, mapped as in `similarity` with the
        medians of the evidence.

        Args:
            cos: cosine of the input and what it is compared with.
            lean: cosine of the input to the work axis; None falls back on `similarity`.
        """
        if self.work is None or lean is None:
            return self.similarity(cos)
        evidence = cos + _AXIS_WEIGHT * (lean - self.work.centre)
        return float(_interpolate(evidence, self.work.u, self.work.r))


def _interpolate(
    cos: float | NDArray[np.float32], u: float, r: float
) -> np.float64 | NDArray[np.float64]:
    slope = (_AT_RELATED - _AT_UNRELATED) / (r - u)
    return np.interp(cos, (u - _AT_UNRELATED / slope, r, 1.0), (0.0, _AT_RELATED, 1.0))


_NATIVE_AXIS = (
    "qhy9nymnXKWSJtWjx6rjqtAxhStxoA2Obq0FKmOq7iLIqBQkAqpxou4lJqtPKDeplqg7JeKsP6XbJiIraSuX"
    "KV0cgSkBJlotRJrcI2Amvqp1p3ctYicDKEkpAiW4KHQoVyCeocyjfyeioJgl8ahnLVmgx6QJpaEjLKFjqG4l"
    "R6PuJPWoxKEqqFAe5iprpcYolScZJzEm1ynlpuMoiiSRrJslFxF/qHqwHahprx6gs6UgLL8qoCxSJayVrype"
    "DhKokC2grAur9aX+KEOoR6iZp9UhGaZtqDksvaFeIxIorSy1qNEde6MtptClfioVIF0hGaOQphWhBCqSJ12o"
    "4p0ypYmkdyaSrIGnKiofKf8p6ylSlv+lzaF/rZ0s7KPOFX2kF5Vcq4Cel6p2o+MrnC4mLhUmUphJp8sflSiI"
    "KwYnqivgK96lZSeTn5EiZqwYH38j0ir/KI8obKBWHsKqYyQsKjusniK9KUWu6ydDIdaat6rApqgpNSu8FpQn"
    "LCgYolGg8Sa/otIosKpUKm0gqKUXKVwnciDarXQrL6yGJ3gkZioZoCmb5qpTKDin5CRKHTkoeiQqsHAtTiUx"
    "KT4enKhfLACxJ6j1p+moSakqKhAfSygKI8Ge5iJYrFGYzSpiLBwkP6jCpIwtniS5JiWouKEXnIqiPygDpTqk"
    "ZaWfogwnWikQI48n9ZSeLFud/atio6CoAicCKWIotqjNHvggnKRCIY0lO6OQprGkiqBJIHap36nNH56sZao0"
    "JMupQae1KPqigyUxJcujXB8/LD+mwrB/oL2nHJCFmvon86QEq8goVAYCKQokfKm6rV0rdaQUpZyqTiWjJG2n"
    "lqHQLbuaIyx6mHoViaB4Il4luRi0KaakCyOMrOIoAKo9pT8t7qnuJaeiGi/1KR2st60tGCCggiizJt6n0Z8x"
    "KAMgxKEwHeSQTCmMpM0nX6teo18kkyeRIkEcSaghrFot+BIrpb8Ui51uLRCmjqf5q2Il7a7Mn+wlDyObJ/2n"
    "ISBGoWYmSSVsqUogT6w1LZGluSs2JfSlHqwAq72VEChGqKsuyaP0ol+glKmpmyEmFaQnJ3yfnaTnqEcmzaWM"
    "qAWndaZqKlaj3Q7KJ5AqT6u3KscgySRMK90ovJWXGYIqPSdNL+SoASiuqEInbpdULPmrKx+SqrsrQa7/oA8s"
    "TxxHJF0eEivkoeGuGbAxLIyotSkVrEWdmCpUIgkqkCvwJTorVSVXJMYotKguJVeY550dKHapni5IJpyskLBC"
    "oLIlEp0YLP+i9Sk+q1anViM9ro6l6ajFKRgtvqjeqyyncKgpJYejeR2goeqlgDBiHeKobyKgmI6eLaihKumg"
    "mygWqlepVil1LFMuQqHvqg=="
)
NATIVE = Calibration(
    u=0.0472,
    r=0.2477,
    work=WorkAxis(axis=_NATIVE_AXIS, centre=-0.0708, u=-0.0217, r=0.3061),
)
"""Measured for the built-in embedder on the built-in reference set."""


def measure(
    embed: Callable[[Sequence[str]], Matrix], references: Sequence[Reference]
) -> Calibration:
    """Measure the calibration of an embedder.

    Related pairs are a task and its own inputs; unrelated pairs are a task and small talk of
    the same language. Inputs of other tasks are left out: most tasks share words of work
    ("write", "add", "test"), which would push `u` and with it the threshold up.

    Args:
        embed: texts to float32[n, dim], rows of any length.
        references: one per language.

    Raises:
        EmbeddingError: the embedder does not separate the two kinds of pairs.
    """
    related: list[Matrix] = []
    unrelated: list[Matrix] = []
    work: list[Matrix] = []
    talk: list[Matrix] = []
    for reference in references:
        tasks = _unit(embed([topic.task for topic in reference.topics]))
        chat = _unit(embed(reference.smalltalk))
        talk.append(chat)
        unrelated.append(tasks @ chat.T)
        for task, topic in zip(tasks, reference.topics, strict=True):
            own = _unit(embed(topic.inputs))
            work.append(own)
            related.append(own @ task)
    return _fit(related, unrelated, np.concatenate(work), np.concatenate(talk))


def _fit(related: list[Matrix], unrelated: list[Matrix], work: Matrix, talk: Matrix) -> Calibration:
    """`related` holds one array per topic, aligned with `work`; `unrelated` one per language."""
    axis = _unit((work.mean(axis=0) - talk.mean(axis=0))[None])[0]
    lean_work, lean_talk = work @ axis, talk @ axis
    centre = float(lean_work.mean() + lean_talk.mean()) / 2
    cos_related = np.concatenate(related)
    columns = np.split(lean_talk, np.cumsum([part.shape[1] for part in unrelated])[:-1])
    shifted = [
        (part + _AXIS_WEIGHT * (lean - centre)).astype(np.float32)
        for part, lean in zip(unrelated, columns, strict=True)
    ]
    return Calibration(
        u=_median(unrelated),
        r=float(np.median(cos_related)),
        work=WorkAxis(
            axis=pack(axis),
            centre=centre,
            u=_median(shifted),
            r=float(np.median(cos_related + _AXIS_WEIGHT * (lean_work - centre))),
        ),
    )


def _median(parts: Sequence[Matrix]) -> float:
    return float(np.median(np.concatenate([part.ravel() for part in parts])))


def _unit(matrix: Matrix) -> Matrix:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms == 0, 1.0, norms)).astype(np.float32)
