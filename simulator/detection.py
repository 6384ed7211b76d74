"""Which frequency a raw estimate can show to be above 0, among k categories that are all looked at."""

from __future__ import annotations

import math

import numpy as np

from simulator._normal import normal_quantile
from simulator.protocols.protocol import Linear, Protocol

LEVEL, POWER = 0.05, 0.8
FEW = 500  # supports of a category that nobody holds, up to which their law is added up


def threshold(protocol: Protocol, n: int, categories: int | None = None) -> float:
    """Return the estimate (frequency) that counts as a detection: above it lie categories that nobody holds too rarely.

    One in 20 collections has such a category among all that are looked at (Bonferroni: 0.05 over their number, one-
    sided). Where support counts are binomial, it lies between two of them: the quantile of few is exact, that of many
    corrected for skewness (Cornish, Fisher, "Moments and cumulants in the specification of distributions", 1938).

    categories: how many are looked at; by default all k.

    Raises ValueError if the protocol has no raw estimate.
    """
    looked_at = protocol.k if categories is None else categories
    quantile = normal_quantile(1 - LEVEL / looked_at)
    sd = math.sqrt(_variance(protocol, n, 0.0))
    p, q = getattr(protocol, "p", None), getattr(protocol, "q", None)
    if p is None or q is None:
        return quantile * sd
    if q <= 0.5 and n * q <= FEW:
        return (_binomial_quantile(n, q, LEVEL / looked_at) + 0.5 - n * q) / (n * (p - q))
    skewness = (1 - 2 * q) / math.sqrt(n * q * (1 - q))
    return (quantile + (quantile**2 - 1) * skewness / 6) * sd + 0.5 / (n * (p - q))


def _binomial_quantile(n: int, q: float, level: float) -> int:
    """Return the smallest number that a binomial variable is above with at most this probability."""
    mass = math.exp(n * math.log1p(-q))
    above, count = 1 - mass, 0
    while above > level and count < n:
        mass *= (n - count) / (count + 1) * q / (1 - q)
        count += 1
        above -= mass
    return count


def power(protocol: Protocol, n: int, frequency: float) -> float:
    """Return the probability that the estimate of a frequency passes the threshold, as of a normal estimate.

    >>> from simulator import PROTOCOLS
    >>> oue = PROTOCOLS["oue"](64, 1.0)
    >>> round(power(oue, 100_000, smallest_detectable(oue, 100_000)), 6)
    0.8
    """
    distance = frequency - threshold(protocol, n)
    return math.erfc(-distance / math.sqrt(2 * _variance(protocol, n, frequency))) / 2


def smallest_detectable(protocol: Protocol, n: int, categories: int | None = None) -> float:
    """Return the smallest frequency that is detected with probability 0.8, in 95 of 100 collections without any other.

    The noise is that of the frequency itself: it is the least f with f = threshold + z(0.8) sd(f). Above 1, nothing can
    be detected.

    categories: as in `threshold`.
    """
    least, reach = threshold(protocol, n, categories), normal_quantile(POWER)
    now, last = least, 0.0
    while now - last > 1e-12 * now:  # it rises, ever more slowly, as the variance grows at most in proportion
        last, now = now, least + reach * math.sqrt(_variance(protocol, n, now))
    return now


def detectable(protocol: Protocol, n: int) -> float | None:
    """Return the same, or None for a protocol without a raw estimate."""
    return None if protocol.linear is None else smallest_detectable(protocol, n)


def _variance(protocol: Protocol, n: int, frequency: float) -> float:
    """Return the variance of the estimate of a frequency, on average over the categories where it differs."""
    linear: Linear | None = protocol.linear
    if linear is None:
        raise ValueError(f"detection needs a raw estimate, and {protocol.key} has none")
    return max(
        float(linear.covariance(n).entry(np.full(protocol.k, min(frequency, 1.0))).mean()), 0.0
    )  # but for rounding
