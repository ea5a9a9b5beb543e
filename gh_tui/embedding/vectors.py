"""Vectors as values: rounding, the wire form, and a cosine that admits ignorance."""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

from gh_tui.errors import EmbeddingError

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

_WIRE = np.dtype("<f2")


def round16(matrix: Matrix) -> Matrix:
    """Round to values that float16 can hold, so that a recorded vector equals the live one.

    Args:
        matrix: float32 of any shape, values within ±65504.

    Returns:
        float32 of the same shape.
    """
    return matrix.astype(np.float16).astype(np.float32)


def pack(vec: Vector) -> str:
    """Encode one vector as base64 of little-endian float16.

    Args:
        vec: float32[dim].
    """
    return base64.b64encode(vec.astype(_WIRE).tobytes()).decode("ascii")


def unpack(text: str) -> Vector:
    """Decode what `pack` made.

    Returns:
        float32[dim].

    Raises:
        EmbeddingError: the text is not base64 of whole float16 numbers.
    """
    try:
        raw = base64.b64decode(text, validate=True)
        return np.frombuffer(raw, dtype=_WIRE).astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise EmbeddingError(f"a recorded embedding cannot be decoded: {error}") from error


def problem(vec: Vector | None, dim: int) -> str | None:
    """Say why a vector must not be compared, or None if it may.

    Args:
        vec: float32[n] or None.
        dim: the dimension that is expected.
    """
    if vec is None:
        return "no vector"
    if vec.shape != (dim,):
        return f"wrong dimension {'x'.join(map(str, vec.shape))}, not {dim}"
    if not bool(np.isfinite(vec).all()):
        return "vector not finite"
    if not bool(vec.any()):
        return "zero vector"
    return None


def cosine(a: Vector | None, b: Vector | None) -> float | None:
    """Cosine of two vectors in [-1, 1], or None if either cannot be compared.

    Zero, non-finite or missing vectors and vectors of different dimension give None.
    The sum runs in float64, so that the order of the arguments does not matter.
    """
    if a is None or b is None:
        return None
    if problem(a, b.shape[0] if b.ndim == 1 else -1) or problem(b, a.shape[0]):
        return None
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    scale = float(np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
    return max(-1.0, min(1.0, float(np.sum(wide_a * wide_b)) / scale))
