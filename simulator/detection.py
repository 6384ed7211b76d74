"""Smallest frequency that a raw estimate can detect, when all k categories are tested."""

from __future__ import annotations

import math
from bisect import bisect_left
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.oracle import FrequencyOracle
from simulator.protocols.protocol import Linear, Protocol

LEVEL, POWER = 0.05, 0.8
FEW = 500  # supports of a category that nobody holds, up to which their law is added up
VALUES, CELLS = 8, 200_000  # most values whose noise is averaged, and most frequencies for them
FAR = 15  # standard deviations of a few reports that nothing lies beyond
STEPS = 64  # look-ahead of the threshold on few supports; of 150 settings none needed more than 14


def threshold(protocol: Protocol, n: int) -> float:
    """Return the estimate (frequency) that counts as a detection: above it lie categories that nobody holds too rarely.

    1 in 20 collections has such a category among all k, which are tested (Bonferroni: 0.05 over k, one-sided).
    Where supports are counts, it lies between two of them: the quantile of few is that of their law, that of many is
    corrected for skewness (Cornish, Fisher, "Moments and cumulants in the specification of distributions", 1938).

    Raises ValueError if the protocol has no raw estimate.
    """
    few, law = few_supports(protocol, n), _binomial(protocol)
    if few is not None and isinstance(protocol, FrequencyOracle):
        return float(protocol.estimate(np.array(few.quantile(n, LEVEL / protocol.k) + 0.5), n))
    quantile = NormalDist().inv_cdf(1 - LEVEL / protocol.k)
    sd = math.sqrt(_variance(protocol, n, 0.0))
    if law is None:
        return quantile * sd
    p, q = law
    skewness = (1 - 2 * q) / math.sqrt(n * q * (1 - q))
    return (quantile + (quantile**2 - 1) * skewness / 6) * sd + 0.5 / (n * (p - q))


class FewSupports(NamedTuple):
    """Law of the supports of a category, which are few: numbers of users with these probabilities."""

    p: float  # that a report supports the value of its user
    q: float  # that it supports another value
    contradicts: float | None = None  # the first, of contradicting instead, where such reports are taken off

    def quantile(self, n: int, level: float) -> int:
        """Return the smallest number that the supports of a category nobody holds are above with at most this chance.

        Reports that support it and reports that contradict it are two counts of one mean, whose difference has
        Skellam's law nearly: the variance is the same.
        """
        if self.contradicts is not None:
            mean = n * self.q
            numbers = range(math.ceil(FAR * math.sqrt(mean)) + FAR)
            return bisect_left(
                numbers, 1 - level, key=lambda most: float(_difference_below(np.array(most), mean, mean))
            )
        from scipy.special import bdtrik  # imported when used: most advice needs no scipy here

        return max(math.ceil(bdtrik(1 - level, n, self.q)), 0)

    def missed(self, n: int, holders: int, most: int) -> float:
        """Return the probability that the supports of a category of `holders` users are not above a number."""
        others = n - holders
        against = 0.0 if self.contradicts is None else others * self.q + holders * self.contradicts
        mean, reach = holders * self.p, FAR * math.sqrt(holders * self.p * (1 - self.p)) + FAR
        least, greatest = max(math.floor(mean - reach), 0), min(holders, math.ceil(mean + reach))
        own = np.arange(min(least, most), min(greatest, most + math.ceil(against + FAR * math.sqrt(against))) + 1)
        mass = np.diff(_binomial_below(own, holders, self.p), prepend=0.0)
        if self.contradicts is None:
            return float(mass @ _binomial_below(most - own, others, self.q))
        return float(mass @ _difference_below(most - own, others * self.q, against))


def _binomial_below(numbers: IntArray, n: int, p: float) -> FloatArray:
    """Return the probabilities that a binomial count is at most some numbers: scipy's bdtr ends at n = 2^31."""
    from scipy.special import betaincc  # imported when used: advice without a plan needs no scipy here

    return np.where(numbers < n, betaincc(numbers + 1.0, np.maximum(n - numbers, 1.0), p), 1.0)


def _difference_below(numbers: IntArray, first: float, second: float) -> FloatArray:
    """Return the probabilities that the difference of two Poisson counts of these means is at most some numbers.

    By chi-squared laws (Johnson, "On an extension of the connexion between Poisson and chi-squared distributions",
    1959).
    """
    from scipy.special import chndtr  # imported when used

    first, second = max(first, 1e-300), max(second, 1e-300)
    lower = chndtr(2 * second, np.maximum(-2.0 * numbers, 1e-300), 2 * first)
    return np.where(numbers < 0, lower, 1 - chndtr(2 * first, np.maximum(2.0 * (numbers + 1), 1e-300), 2 * second))


def few_supports(protocol: Protocol, n: int) -> FewSupports | None:
    """Return the law of supports that are so few that threshold and power are those of their law."""
    law = _binomial(protocol)
    if isinstance(protocol, HadamardResponse):
        few = FewSupports(protocol.p, protocol.q, protocol.p * math.exp(-protocol.epsilon))
    elif law is None or law[1] > 0.5:
        return None
    else:
        few = FewSupports(*law)
    return None if n * few.q > FEW else few


def _binomial(protocol: Protocol) -> tuple[float, float] | None:
    """Return p and q where support counts are binomial and the estimate is a line of them; else None."""
    if not isinstance(protocol, FrequencyOracle) or type(protocol).estimate is not FrequencyOracle.estimate:
        return None
    p, q = protocol.p, protocol.q
    return None if p is None or q is None else (p, q)


def power(protocol: Protocol, n: int, frequency: float) -> float:
    """Return the probability that the estimate of a frequency passes the threshold.

    That of few supports is exact, otherwise the estimate is treated as normal. If the frequency is not a whole number
    of users, the number is rounded up or down at random.

    >>> from simulator import PROTOCOLS
    >>> oue = PROTOCOLS["oue"](64, 1.0)
    >>> round(power(oue, 100_000, smallest_detectable(oue, 100_000)), 6)
    0.8
    """
    if few := few_supports(protocol, n):
        most, fewer = few.quantile(n, LEVEL / protocol.k), math.floor(n * frequency)
        more = n * frequency - fewer
        return 1 - (1 - more) * few.missed(n, fewer, most) - more * few.missed(n, min(fewer + 1, n), most)
    distance = frequency - threshold(protocol, n)
    return math.erfc(-distance / math.sqrt(2 * _variance(protocol, n, frequency))) / 2


def least_users(protocol: Protocol, frequency: float, start: int) -> int:
    """Return the least number of users, not below `start`, from which on a frequency is detected with power 0.8.

    The threshold on few supports is a whole number: power rises up to each step of it, and falls there.

    start: the least to consider, or a number at which power comes up to 0.8; returned as it is where supports are many.
    """
    few, level = few_supports(protocol, start), LEVEL / protocol.k
    if few is None:
        return start
    last, step = start - 1, start  # last: the last number that is not enough
    for _ in range(STEPS):
        step = _next_step(step, few, level)
        if few_supports(protocol, step) is None:
            break
        if power(protocol, step, frequency) < POWER:
            last = step
    rising = range(last + 1, _next_step(last + 1, few, level))
    return last + 1 + bisect_left(rising, POWER, key=lambda n: power(protocol, n, frequency))


def _next_step(n: int, few: FewSupports, level: float) -> int:
    """Return the next number of users at which the threshold on few supports is higher by 1."""
    here, high = few.quantile(n, level), 2 * n
    while few.quantile(high, level) == here:
        high *= 2
    beyond = range(n + 1, high + 1)
    return n + 1 + bisect_left(beyond, True, key=lambda users: few.quantile(users, level) > here)


def smallest_detectable(protocol: Protocol, n: int) -> float:
    """Return the smallest frequency that is detected with probability 0.8, in 95 of 100 collections without any other.

    That of few supports is by their law. Otherwise the noise is that of the frequency itself: it is the least f with
    f = threshold + z(0.8) sd(f). Above 1, nothing can be detected.
    """
    if few := few_supports(protocol, n):
        most = few.quantile(n, LEVEL / protocol.k)
        users = bisect_left(range(n + 1), POWER, key=lambda holders: 1 - few.missed(n, holders, most))
        if users <= n:  # between two numbers of users power rises in a line, as one of them is drawn
            fewer, enough = (few.missed(n, holders, most) for holders in (users - 1, users))
            return (users - (1 - POWER - enough) / (fewer - enough)) / n
    least, reach = threshold(protocol, n), NormalDist().inv_cdf(POWER)
    now, last = least, 0.0
    while now - last > 1e-12 * now:  # it rises, ever more slowly, as the variance grows at most in proportion
        last, now = now, least + reach * math.sqrt(_variance(protocol, n, now))
    return now


def detectable(protocol: Protocol, n: int) -> float | None:
    """Return the same, or None for a protocol without a raw estimate."""
    return None if protocol.linear is None else smallest_detectable(protocol, n)


def _variance(protocol: Protocol, n: int, frequency: float) -> float:
    """Return the variance of the estimate of a frequency, where it differs on average, or of two the larger one."""
    linear: Linear | None = protocol.linear
    if linear is None:
        raise ValueError(f"detection needs a raw estimate, and {protocol.key} has none")
    # The users who do not hold a value hold the others, and in blocks these add noise to it.
    k, frequency = protocol.k, min(frequency, 1.0)
    values = np.linspace(0, k - 1, min(VALUES, k, max(1, CELLS // k))).round().astype(np.int64)
    at = (np.arange(len(values)), values)
    population = np.full((len(values), k), (1 - frequency) / (k - 1))
    population[at] = frequency
    variances = linear.covariance(n).entry(population)[at]
    return max(float(variances.max() if k == 2 else variances.mean()), 0.0)  # rounding can leave -1e-20
