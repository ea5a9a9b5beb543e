"""Raw cosines to similarities: the same threshold for every embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from gh_tui.embedding.reference import Reference
from gh_tui.embedding.vectors import Matrix, Vector, pack
from gh_tui.errors import EmbeddingError

_AT_UNRELATED = 0.1
_AT_RELATED = 0.6
_UNRELATED_QUANTILE = 0.65
"""At the median one Chinese small-talk line in eight was kept."""
_FOLDS = 8


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
    """Evidence below which 65 % of the unrelated pairs are."""
    r: float
    """Median evidence of related pairs."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Median raw cosines of an embedder: `u` of unrelated and `r` of closely related pairs.

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

        The evidence is `cos + lean - centre`, mapped as in `similarity` with the
        medians of the evidence.

        Args:
            cos: cosine of the input and what it is compared with.
            lean: cosine of the input to the work axis; None falls back on `similarity`.
        """
        if self.work is None or lean is None:
            return self.similarity(cos)
        evidence = cos + lean - self.work.centre
        return float(_interpolate(evidence, self.work.u, self.work.r))


def _interpolate(
    cos: float | NDArray[np.float32], u: float, r: float
) -> np.float64 | NDArray[np.float64]:
    slope = (_AT_RELATED - _AT_UNRELATED) / (r - u)
    return np.interp(cos, (u - _AT_UNRELATED / slope, r, 1.0), (0.0, _AT_RELATED, 1.0))


_NATIVE_AXIS = (
    "lCMGGkihgJ4VLAIUpaZErIMyJipRnVGZUqsBKXqrgaZoqdKgCalMqW0klKgxpEyoBKQwKOatiag3JlMsuiRcKncc"
    "aClpERQv7xnGndEkdaopEAEtCii1I6Mo0CpXKfUgM6G2pV6fGigPGDQobaM2Jv0j1R7yo7MkbxkKp2onpqIxF3ym"
    "XaA7qsCg1SnEpNof8CeMKHeViSosJf8nApmprR8lSCDEqA6w1KN5r6qqs6UfKU8oLi5WJbEhxCjZH/Sqxyvepj+q"
    "h6VjKG6g56mLqU+hKaPbqTgrcKVJKgkkpCkQrMIoaqWopyGiBCubErYk16gDn5AcqileoRCmgJ69Ip2piyX0rA2s"
    "lCnUJxYrISN6kVKlU6UVrUcpgaVkIA+gKCDSqEcU1KUmp7Appi3cLSOnRSN8owckZCQGJKEoxipDJdCipiQ7qAsl"
    "IaiQJVkYDCpVIC0jR6FKJUKqCiBgK66uDielKl+pHSiSl1kcj6lOqY8pQSgJIV8nPSmOqQYT/yO/oJAoKqq0KGwj"
    "LKjFJSik0yElrRcuF6vIKOCaJClvpEQkMqwDKMyshiQgqLAmkCiHr30tqCXEKMsNEKUEKiOzZacSoMmlUKh5KJMl"
    "HCmyKfWorCgurRwfUizCLLcokiFApCUrWyr7J9mja6ZbI+OmXyW6rEyo06rtFuElByjOIXAnmx6QLUkSOqyNJCCg"
    "2Se1IY8nzKGuKIoj8ZbJIJgoT6MbpQyl9KZ9pmGs9qkTKWisE6hgJjmrRiQ6KO6nph7WKFKXjBsGLKQccLGWkrSo"
    "2h/ioiuatqdkqFco6qnpJ9scgKTiqFcioR8Wmuqnb58qlUGpVSmzLdklZixhJ9EhuyfaJeElmCTZLEKne6GOrBkm"
    "vKwoo/gsXKqFKMqiOS3YKL6i+Kndnl2n/ChWE2SqryS/nl4i2acOlyklBiRupVAnOaYVFW8gTynHJxWg8KdMrOIj"
    "caK0qNMiSiWvMCygbaHQqfwpra9CI8Yi2iG+JYWoDKJKGBQlOSaNqUElqqVNLWch+SaCJl2jX6Rqq4ygKCswns4v"
    "oKONqMUeMqrdoj0qkqblJnylf6AOqq4fgaRtqZKkO6iuLI6gIZrrJPIszKq1JTchwyRnLPMkZic/pBQrYiPdLoal"
    "miDtqnskSSPSK72pgaXhpyIpMa3EnL8peiFZmLMouikjpgutfbD5KYqojCmcrLunCCv0JGQoCSdVKD0qWKRLJQks"
    "QaQjJU+fayPjB96rzjC1Jb2s+rEUqOwiuyfuLLmgQSiXqTOmSxgwrCWouyEtLIYt2qWzqByj2KeEGzsjVZgKob2n"
    "7i4zJ3ylOCm5oGUbSab4KJ6hfqVeqnuq0SgoKBAtDKN1pg=="
)
NATIVE = Calibration(
    u=0.0524,
    r=0.2598,
    work=WorkAxis(axis=_NATIVE_AXIS, centre=-0.1031, u=-0.0161, r=0.3160),
)
"""Measured for the built-in embedder on the built-in reference set."""


def measure(
    embed: Callable[[Sequence[str]], Matrix], references: Sequence[Reference]
) -> Calibration:
    """Measure the calibration of an embedder.

    Related pairs are a task and its own inputs, for `r` only the nearest one: terse inputs share
    no words with their task. Unrelated pairs are a task and small talk of the same language.
    Inputs of other tasks are left out: most tasks share words of work ("write", "add", "test"),
    which would push `u` and with it the threshold up.

    Args:
        embed: texts to float32[n, dim], rows of any length.
        references: one per language.

    Raises:
        EmbeddingError: the embedder does not separate the two kinds of pairs.
    """
    pairs: list[_Pairs] = []
    for reference in references:
        tasks = _unit(embed([topic.task for topic in reference.topics]))
        inputs = embed([text for topic in reference.topics for text in topic.inputs])
        own = _unit(inputs).reshape(len(tasks), -1, tasks.shape[1])
        pairs.append(_Pairs(tasks, own, _unit(embed(reference.smalltalk))))
    return Calibration(
        u=_quantile([one.tasks @ one.talk.T for one in pairs], 0.5),
        r=_quantile([one.related.max(axis=1) for one in pairs], 0.5),
        work=_work_axis(pairs),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Unit vectors of one language: tasks [n, dim], inputs [n, k, dim], small talk [m, dim]."""

    tasks: Matrix
    inputs: Matrix
    talk: Matrix

    @property
    def related(self) -> Matrix:
        """Cosines of inputs and their task, [n, k]."""
        return (self.inputs @ self.tasks[:, :, None])[:, :, 0]

    def folds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The fold of each topic and of each line of small talk."""
        return np.arange(len(self.tasks)) % _FOLDS, np.arange(len(self.talk)) % _FOLDS


def _work_axis(pairs: Sequence[_Pairs]) -> WorkAxis:
    """Fit the axis on all texts, and its scale on leans to axes that were fitted without them."""
    work = [np.zeros(one.inputs.shape[:2], np.float32) for one in pairs]
    talk = [np.zeros(len(one.talk), np.float32) for one in pairs]
    for fold in range(_FOLDS):
        axis = _axis(pairs, fold)
        for one, own, small in zip(pairs, work, talk, strict=True):
            topics, lines = one.folds()
            own[topics == fold] = one.inputs[topics == fold] @ axis
            small[lines == fold] = one.talk[lines == fold] @ axis
    means = [np.concatenate([part.ravel() for part in leans]).mean() for leans in (work, talk)]
    centre = float(sum(means)) / 2

    def evidence(cos: Matrix, lean: Matrix) -> Matrix:
        return (cos + lean - centre).astype(np.float32)

    unrelated = [
        evidence(one.tasks @ one.talk.T, lean) for one, lean in zip(pairs, talk, strict=True)
    ]
    related = [evidence(one.related, lean) for one, lean in zip(pairs, work, strict=True)]
    return WorkAxis(
        axis=pack(_axis(pairs, None)),
        centre=centre,
        u=_quantile(unrelated, _UNRELATED_QUANTILE),
        r=_quantile(related, 0.5),
    )


def _axis(pairs: Sequence[_Pairs], left_out: int | None) -> Vector:
    work, talk = [], []
    for one in pairs:
        topics, lines = one.folds()
        work.append(one.inputs[topics != left_out].reshape(-1, one.tasks.shape[1]))
        talk.append(one.talk[lines != left_out])
    difference = np.concatenate(work).mean(axis=0) - np.concatenate(talk).mean(axis=0)
    return _unit(difference[None]).reshape(-1)


def _quantile(parts: Sequence[Matrix], share: float) -> float:
    return float(np.quantile(np.concatenate([part.ravel() for part in parts]), share))


def _unit(matrix: Matrix) -> Matrix:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms == 0, 1.0, norms)).astype(np.float32)
