"""Counts that are drawn the same with every numpy: `Generator.binomial` and `multinomial` changed in numpy 2.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator._types import FloatArray, IntArray

ROUNDING = 1e-12  # of 1e12 users it moves 1, where the standard deviation is half a million


def binomial(n: IntArray | int, chance: FloatArray | float, rng: np.random.Generator) -> Any:
    """Draw binomial counts of n users with a given probability: an integer, or integers of the shape of both.

    `RandomState` is frozen by numpy's policy (NEP 19), and draws from the stream of the generator here.

    Examples
    --------
    >>> binomial(10**12, 0.5, np.random.Generator(np.random.PCG64(1))) < 10**12
    True
    """
    return np.random.RandomState(rng.bit_generator).binomial(n, chance)


def multinomial(n: IntArray | int, chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Share out n users over categories: over two halves by a binomial, and so on within the halves.

    Parameters
    ----------
    n
        ``(...)`` users of each draw.
    chances
        ``(m,)`` or ``(..., m)`` probabilities, or weights in proportion to them, along the last axis.

    Returns
    -------
    ``(..., m)`` counts of the categories, whose sum is `n`.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> multinomial(np.array([10, 1000]), np.array([0.2, 0.3, 0.5]), rng).sum(axis=1)
    array([  10, 1000])
    """
    m = chances.shape[-1]
    gap = (1 << (m - 1).bit_length()) - m
    sums = [np.concatenate([chances, np.zeros((*chances.shape[:-1], gap))], axis=-1)]
    while sums[-1].shape[-1] > 1:
        sums.append(sums[-1][..., ::2] + sums[-1][..., 1::2])
    counts = np.array(np.broadcast_to(n, np.broadcast_shapes(np.shape(n), chances.shape[:-1])), dtype=np.int64)
    counts = counts[..., None]
    for whole, parts in zip(sums[:0:-1], sums[-2::-1], strict=True):
        share = np.divide(parts[..., ::2], whole, out=np.zeros_like(whole), where=whole > 0)
        # On either side of a half numpy draws in another way: rounding must not decide where both halves are alike.
        share[np.abs(share - 0.5) < ROUNDING] = 0.5
        first = binomial(counts, share, rng)
        counts = np.stack([first, counts - first], axis=-1).reshape(*first.shape[:-1], parts.shape[-1])
    return counts[..., :m]
