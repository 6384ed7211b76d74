"""How fake users share out what they support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray

GROUPS = 20  # fake users of one group send the same


def group_sizes(fakes: int, groups: int, *, keep_empty: bool = False) -> IntArray:
    """Split fake users into groups of nearly equal size."""
    sizes = np.full(groups, fakes // groups)
    sizes[: fakes % groups] += 1
    return sizes if keep_empty else sizes[sizes > 0]


def shared_out(k: int, values: IntArray, supports: int, rng: np.random.Generator) -> IntArray:
    """Spread so many supports over some values as evenly as can be: ``(k,)``."""
    result = np.zeros(k, dtype=np.int64)
    if len(values):
        result[rng.permutation(values)] = group_sizes(supports, len(values), keep_empty=True)
    return result


def targets_and_others(k: int, targets: IntArray, fakes: int, others: int, rng: np.random.Generator) -> IntArray:
    """Support every target with every report, and with each report some other values: ``(k,)``."""
    free: NDArray[np.int64] = np.setdiff1d(np.arange(k), targets)
    result = shared_out(k, free, fakes * min(others, len(free)), rng)
    result[targets] = fakes
    return result
