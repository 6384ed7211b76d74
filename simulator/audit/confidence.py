"""From counts to a bound on the privacy loss: Clopper-Pearson intervals of two probabilities, and their ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return the exact two-sided interval of confidence ``1 - alpha`` of a probability.

    Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934.

    successes, trials: counts, ``0 <= successes <= trials``.
    alpha: probability that the interval misses, half of it on each side.

    >>> low, high = clopper_pearson(0, 100, 0.05)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv  # a tenth of the load time of scipy.stats

    low = float(betaincinv(successes, trials - successes + 1, alpha / 2)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - alpha / 2)) if successes < trials else 1.0
    return low, high


@dataclass(frozen=True)
class Bounds:
    """Confidence bounds of ``ln(p0 / p1)``; `high` is infinite where p1 may be 0."""

    low: float
    high: float


def ratio_bounds(hits: int, confusions: int, trials: int, alpha: float) -> Bounds:
    """Return bounds of ``ln(p0 / p1)`` that hold together with confidence ``1 - alpha``.

    Each probability gets the two-sided interval of confidence ``1 - alpha / 2``, as in the experiments of Arcolezi and
    Gambs (this reproduces their ceilings 7.42 and 12.025). A lower bound alone could be a little tighter. A negative
    lower bound has no meaning and is returned as 0.

    hits, confusions: how often the attack answered v1 for users of v1, and for users of v2.
    trials: of each of the two.
    """
    p0_low, p0_high = clopper_pearson(hits, trials, alpha / 2)
    p1_low, p1_high = clopper_pearson(confusions, trials, alpha / 2)
    low = math.log(p0_low / p1_high) if p0_low else 0.0
    return Bounds(max(0.0, low), math.log(p0_high / p1_low) if p1_low else math.inf)


def ceiling(trials: int, alpha: float) -> float:
    """Return the highest bound that the number of trials allows: all guesses right, no confusion.

    >>> round(ceiling(10**4, 0.01), 2), round(ceiling(10**6, 0.01), 3)
    (7.42, 12.025)
    """
    return ratio_bounds(trials, 0, trials, alpha).low


def lowest_likely(p0: float, p1: float, trials: int, alpha: float, comparisons: int = 1) -> float:
    """Return a value that the lower bound rarely falls below, if the probabilities are these.

    alpha: of the bound; and the probability that any of the `comparisons` falls below the result.
    """
    from scipy.stats import binom

    rare = alpha / comparisons / 2
    return ratio_bounds(int(binom.ppf(rare, trials, p0)), int(binom.isf(rare, trials, p1)), trials, alpha).low
