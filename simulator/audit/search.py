"""Choice of the two values to distinguish, and their signs: those with the most different reports in a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.seeding import rng_for

MOST_VALUES, FEWEST_REPORTS = 1_000, 10  # values that are tried, and reports of each
MOST_CELLS = 10_000_000  # values that are tried times the domain size
DEVIATIONS = 2.0  # of the intervals by which ratios are compared, so that few reports are not suspicious by chance


class Suspicion(NamedTuple):
    """Two values that reports seem to distinguish, and their signs."""

    values: tuple[int, int]  # v1 and v2, as rows of the counts
    sign: int  # supported by more reports of v1 than of v2
    other: int  # supported by more reports of v2


def values_to_try(k: int, reports: int, seed: int) -> IntArray:
    """Return the values to examine with this number of reports, in order: all, or a random sample."""
    number = min(k, max(2, min(MOST_VALUES, reports // FEWEST_REPORTS, MOST_CELLS // k)))
    if number == k:
        return np.arange(k)
    return np.sort(rng_for(seed, "audit", "values", k, number).choice(k, number, replace=False))


def most_suspicious(supported: IntArray, reports: int, own: Sequence[int] | None = None) -> Suspicion:
    """Return the two values whose reports differ most.

    The first value is compared with all others together, as that uses many more reports than a comparison of two
    values. The second value is that with the least (or most) of the sign that the first has most (or least).

    supported: ``(m, c)`` how many of the `reports` of each of m values support each of c signs.
    own: the columns of the m values; None if not known.
    """
    rest = supported.sum(axis=0) - supported
    low, high = _wilson(supported, reports)
    rest_low, rest_high = _wilson(rest, (len(supported) - 1) * reports)
    more, less = low / rest_high, rest_low / high
    row, sign = map(int, np.unravel_index(np.argmax(np.maximum(more, less)), more.shape))
    others = np.delete(np.arange(len(supported)), row)
    column = supported[others, sign]
    if more[row, sign] >= less[row, sign]:
        values = row, int(others[np.argmin(column)])
    else:
        values = int(others[np.argmax(column)]), row
    first, second = values
    if own is not None:
        return Suspicion(values, sign, own[second] if own[second] != sign else own[first])
    gain = supported[second] - supported[first]
    gain[sign] = gain.min()
    return Suspicion(values, sign, int(np.argmax(gain)))


def _wilson(successes: IntArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Wilson's intervals of probabilities: quick, and never 0 at the upper end."""
    share, spread = successes / trials, DEVIATIONS**2 / trials
    middle = share + spread / 2
    half = DEVIATIONS * np.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return np.maximum(middle - half, 0.0) / (1 + spread), (middle + half) / (1 + spread)
