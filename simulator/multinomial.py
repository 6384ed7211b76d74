"""Multinomial draws that are the same with every numpy: `Generator.multinomial` changed its stream in numpy 2.5."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import FloatArray, IntArray

LONGEST = 4096  # categories that are drawn one after the other; more are drawn in groups, which takes fewer steps


def multinomial(n: IntArray | int, chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Share out n users over categories, one category after the other by a binomial of those who are left.

    Parameters
    ----------
    n
        ``(...)`` users of each draw.
    chances
        ``(m,)`` or ``(..., m)`` probabilities, or weights in proportion to them, along the last axis.

    Returns
    -------
    ``(..., m)`` counts of the categories, whose sum is `n`.

    Source: Davis, "The computer generation of multinomial random variates", Computational Statistics and Data Analysis
    1993.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> multinomial(np.array([10, 1000]), np.array([0.2, 0.3, 0.5]), rng).sum(axis=1)
    array([  10, 1000])
    """
    m = chances.shape[-1]
    if m > LONGEST:
        width = math.isqrt(m) + 1
        padded = np.concatenate([chances, np.zeros((*chances.shape[:-1], -m % width))], axis=-1)
        groups = padded.reshape(*chances.shape[:-1], -1, width)
        users = multinomial(n, groups.sum(axis=-1), rng)
        drawn = multinomial(users, groups, rng)
        return drawn.reshape(*drawn.shape[:-2], groups.shape[-2] * width)[..., :m]
    # Summed from the end, so that rounding in the head does not reach a small tail.
    beyond = np.cumsum(chances[..., ::-1], axis=-1)[..., ::-1]
    ratios = np.minimum(np.divide(chances, beyond, out=np.zeros_like(beyond), where=beyond > 0), 1.0)
    left = np.array(np.broadcast_to(n, np.broadcast_shapes(np.shape(n), chances.shape[:-1])), dtype=np.int64)
    counts = np.zeros((m, *left.shape), dtype=np.int64)
    for category in range(m - 1):
        if not left.any():
            break
        counts[category] = rng.binomial(left, ratios[..., category])
        left -= counts[category]
    counts[-1] = left
    return np.moveaxis(counts, 0, -1)
