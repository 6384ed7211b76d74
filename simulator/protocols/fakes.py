"""Distribution of the supports of fake users."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator._types import IntArray, RealArray

EQUAL = 1e-12  # relative difference up to which two numbers are the same but for rounding
GROUPS = 20  # fake users of a group send the same report


def group_sizes(fakes: int, groups: int) -> IntArray:
    """Split fake users into groups of nearly equal size."""
    sizes = np.full(groups, fakes // groups)
    sizes[: fakes % groups] += 1
    return sizes


def shared_by_best(helped: RealArray, fakes: int, rng: np.random.Generator, most: int | None = None) -> IntArray:
    """Return fake users per report ``(reports,)``, for the most helpful reports up to a maximum, in random order.

    helped: by how much each report raises the targets; those that are equal but for rounding count as such.
    """
    top = helped.max()
    best = rng.permutation(np.flatnonzero(helped >= top - EQUAL * abs(top)))[:most]
    result = np.zeros(len(helped), dtype=np.int64)
    result[best] = group_sizes(fakes, len(best))
    return result


def shared_out(k: int, values: IntArray, supports: int, rng: np.random.Generator) -> IntArray:
    """Return supports spread over some values as evenly as possible: ``(k,)``."""
    result = np.zeros(k, dtype=np.int64)
    if len(values):
        result[rng.permutation(values)] = group_sizes(supports, len(values))
    return result


def targets_and_others(k: int, targets: IntArray, fakes: int, others: int, rng: np.random.Generator) -> IntArray:
    """Return support counts ``(k,)`` of reports that all support each target and some other values."""
    free: NDArray[np.int64] = np.setdiff1d(np.arange(k), targets)
    result = shared_out(k, free, fakes * min(others, len(free)), rng)
    result[targets] = fakes
    return result
