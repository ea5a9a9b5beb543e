"""The few fits behind the coherence profile; plain numpy, the same result every time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gh_tui.memory.coherence.gaps import unit

Floats = npt.NDArray[np.float64]
_STILL = 1e-9


def logistic(rows: Floats, labels: Floats, ridge: float) -> tuple[Floats, float]:
    """Weights and bias of a logistic regression with both classes weighing the same.

    Args:
        rows: float64[n, k].
        labels: float64[n] of 0 and 1.
        ridge: penalty on the squared weights.
    """
    balance = np.where(labels == 1, (labels == 0).sum() / (labels == 1).sum(), 1.0)
    return weighted_logistic(rows, labels, balance, ridge)


def weighted_logistic(
    rows: Floats, labels: Floats, shares: Floats, ridge: float
) -> tuple[Floats, float]:
    """The same with a share of its own for each row, by Newton's method.

    Args:
        rows: float64[n, k].
        labels: float64[n] of 0 and 1.
        shares: float64[n], how much each row counts.
        ridge: penalty on the squared weights.
    """
    with_bias = np.column_stack([rows, np.ones(len(rows))])
    penalty = ridge * np.eye(with_bias.shape[1])
    penalty[-1, -1] = 1e-3
    weights: Floats = np.zeros(with_bias.shape[1])
    for _ in range(40):
        chance = 1.0 / (1.0 + np.exp(-np.clip(with_bias @ weights, -30, 30)))
        slope = with_bias.T @ ((chance - labels) * shares) + penalty @ weights
        curve = (with_bias * (chance * (1 - chance) * shares)[:, None]).T @ with_bias + penalty
        step = np.linalg.solve(curve, slope)
        weights = weights - step
        if np.abs(step).max() < _STILL:
            break
    return weights[:-1], float(weights[-1])


def scaled_logistic(rows: Floats, labels: Floats, ridge: float) -> tuple[Floats, float]:
    """The same on standardised columns, given back for the raw ones."""
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    weights, bias = logistic((rows - mean) / deviation, labels, ridge)
    raw = weights / deviation
    return raw, bias - float(raw @ mean)


def topic_axes(groups: list[Floats], axes: int, shrink: float) -> Floats:
    """Axes along which groups differ most, measured by how much their members differ.

    Linear discriminant analysis with the spread within groups shrunk towards a ball.

    Args:
        groups: unit rows float64[n, dim] of texts that belong together.
        axes: how many.
        shrink: in [0, 1], the share of the ball.

    Returns:
        float64[dim, axes].
    """
    dim = groups[0].shape[1]
    within, count = np.zeros((dim, dim)), 0
    for rows in groups:
        apart = rows - rows.mean(axis=0)
        within += len(rows) / max(1, len(rows) - 1) * apart.T @ apart
        count += len(rows)
    within /= count
    within = (1 - shrink) * within + shrink * np.trace(within) / dim * np.eye(dim)
    centres = np.array([rows.mean(axis=0) for rows in groups])
    centred = centres - centres.mean(axis=0)
    between = centred.T @ centred / len(centred)
    values, basis = np.linalg.eigh(within)
    whiten = basis / np.sqrt(values) @ basis.T
    _, ordered = np.linalg.eigh(whiten @ between @ whiten)
    found: Floats = whiten @ ordered[:, ::-1][:, :axes]
    scaled: Floats = found / np.abs(found).max()
    return scaled


def block_pairs(dialogues: list[Floats], seed: int) -> tuple[Floats, Floats]:
    """Products of neighbouring blocks of one to three turns, and of blocks of two dialogues.

    Args:
        dialogues: unit rows float64[turns, dim] each.
        seed: of the random choice.

    Returns:
        float64[pairs, dim] and 1 where both blocks are from one dialogue, else 0.
    """
    rng = np.random.default_rng(seed)
    products: list[Floats] = []
    labels: list[float] = []
    for index, turns in enumerate(dialogues):
        for gap in range(1, len(turns)):
            before, after = int(rng.integers(1, 4)), int(rng.integers(1, 4))
            left = unit(turns[max(0, gap - before) : gap].sum(axis=0))
            other = dialogues[(index + 1 + int(rng.integers(len(dialogues) - 1))) % len(dialogues)]
            start = int(rng.integers(len(other)))
            products.append(left * unit(turns[gap : gap + after].sum(axis=0)))
            products.append(left * unit(other[start : start + after].sum(axis=0)))
            labels.extend((1.0, 0.0))
    return np.array(products), np.array(labels)
