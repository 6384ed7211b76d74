import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, poisson

from simulator import PROTOCOLS, detection, rng_for
from simulator.detection import FEW, LEVEL, POWER, FewSupports, detectable, power, smallest_detectable, threshold
from tests.cells import over

REPETITIONS = 2000
SETTINGS = [
    ("oue", 16, 1.0, 20_000),
    ("olh", 64, 1.0, 50_000),
    ("grr", 64, 2.0, 3_000),  # so few supports that a normal threshold would be passed far too often
    ("grr", 300, 1.0, 20_000),
    ("pgr", 40, 1.0, 10_000),
    ("she", 30, 1.0, 10_000),
]


def collections(protocol, k, epsilon, n, users, others=1):
    """Estimates of one category that so many hold, others that the rest share, and then those that nobody holds."""
    oracle = PROTOCOLS[protocol](k, epsilon)
    counts = np.zeros(k, dtype=np.int64)
    counts[0], counts[1 : 1 + others] = users, (n - users) // others
    counts[1] += n - counts.sum()
    draws = oracle.sample_tally(np.broadcast_to(counts, (REPETITIONS, k)), rng_for(0, "tests", "detect", protocol))
    assert oracle.linear is not None
    return oracle.linear.estimate(draws)


def rate_bound(rate):
    """Four standard errors of a share: false alarm once in 16,000 seeds."""
    return 4 * math.sqrt(rate * (1 - rate) / REPETITIONS)


@over(SETTINGS)
def test_few_collections_have_a_false_detection_and_most_the_smallest_detectable_frequency(protocol, k, epsilon, n):
    cell, oracle = (protocol, k, epsilon, n), PROTOCOLS[protocol](k, epsilon)
    least, users = threshold(oracle, n), math.ceil(smallest_detectable(oracle, n) * n)
    assert (collections(*cell, 0)[:, 2:] > least).any(axis=1).mean() < LEVEL + rate_bound(LEVEL)
    detected = (collections(*cell, users)[:, 0] > least).mean()
    # A whole number of supports, and a normal for a binomial: Berry-Esseen at the own category's variance.
    rounding, p, q = 0.0, oracle.p, oracle.q
    if p is not None:
        rounding = 0.56 / math.sqrt(n * q * (1 - q) + users * (p * (1 - p) - q * (1 - q)))
    assert abs(detected - POWER) < rate_bound(POWER) + rounding


# The last ones have so few supports that a normal threshold gives a false detection in a tenth to a quarter of them.
@over([(48, 1.0, 20_000), (40, 3.0, 5_000), (4, 4.0, 1_000), (16, 6.0, 710), (8, 7.0, 50), (4, 6.91, 100)])
def test_the_rest_of_a_block_adds_noise_to_its_values(k, epsilon, n):
    oracle = PROTOCOLS["hr"](k, epsilon)
    rng, chance, share = rng_for(0, "tests", "blocks", k, n), smallest_detectable(oracle, n) * n, 0.0
    for users, weight in ((math.floor(chance), 1 - chance % 1), (math.floor(chance) + 1, chance % 1)):
        counts = np.zeros(k, dtype=np.int64)
        counts[0], counts[1 : k - k // 4] = users, (n - users) // (k - k // 4 - 1)
        counts[1] += n - counts.sum()
        rows = rng.permuted(np.broadcast_to(counts, (REPETITIONS, k)), axis=1)  # blocks differ by what they hold
        estimates = oracle.estimate(oracle.sample_support(rows, rng), n)
        found = estimates > threshold(oracle, n)
        # Values of a block are not independent, and often more than one of them is detected.
        assert found[rows == 0].mean() < LEVEL / k + rate_bound(LEVEL / k)
        lower = threshold(oracle, n) - float(oracle.estimate(np.array(1.0), n))  # by a support: too low
        alarms = estimates[rows == 0] > lower
        assert alarms.mean() > LEVEL / k - 4 * math.sqrt(LEVEL / k / alarms.size)
        share += weight * found[rows == users].mean()
    assert abs(share - POWER) < rate_bound(POWER)


def test_thresholds_without_the_number_of_categories_or_the_skewness_of_counts_give_false_alarms(monkeypatch):
    with monkeypatch.context() as of_one_category:
        of_one_category.setattr(detection, "LEVEL", 64 * LEVEL)
        least = threshold(PROTOCOLS["olh"](64, 1.0), 50_000)
    assert (collections("olh", 64, 1.0, 50_000, 0)[:, 2:] > least).any(axis=1).mean() > 0.5
    k, n = 64, 3_000
    oracle = PROTOCOLS["grr"](k, 2.0)
    assert oracle.linear is not None
    normal = NormalDist().inv_cdf(1 - LEVEL / k) * float(oracle.linear.covariance(n).entry(np.zeros(k)).mean()) ** 0.5
    alarms = (collections("grr", k, 2.0, n, 0)[:, 2:] > normal).any(axis=1).mean()
    assert alarms > LEVEL + rate_bound(LEVEL)


@over(
    [
        ("grr", 4, 8.98, 100),
        ("grr", 3, 8.0, 100),
        ("grr", 8, 9.01, 3_000),
        ("hr", 8, 7.0, 50),
        ("oue", 256, 1.0, 1_000),
        ("grr", 4, 32.0, 10**12),  # more users than a 32-bit count
    ]
)
def test_the_smallest_detectable_frequency_of_few_supports_has_the_stated_power(protocol, k, epsilon, n):
    oracle = PROTOCOLS[protocol](k, epsilon)
    assert power(oracle, n, smallest_detectable(oracle, n)) == pytest.approx(POWER, abs=1e-9)


def test_few_supports_among_more_users_than_32_bits_hold_are_those_of_few_holders_and_a_poisson_count():
    n, holders, most, mean = 10**12, 4, 5, 3.0
    own = np.arange(holders + 1)
    expected = binom.pmf(own, holders, 0.5) @ poisson.cdf(most - own, mean)
    assert FewSupports(0.5, mean / n).missed(n, holders, most) == pytest.approx(expected, abs=1e-9)


def test_few_supports_have_the_quantile_of_their_law_and_many_nearly_so():
    for n, q, level in ((1000, 1e-6, 0.01), (3000, 0.014, 0.001), (1000, 0.5, 1e-6), (10, 0.3, 0.05)):
        assert FewSupports(0.5, q).quantile(n, level) == binom.isf(level, n, q)
    # just above what is added up: within one support of the law
    oracle, n = PROTOCOLS["grr"](64, 1.0), 34_000
    assert n * oracle.q > FEW
    count = n * (oracle.q + (oracle.p - oracle.q) * threshold(oracle, n))
    assert abs(count - 0.5 - binom.isf(LEVEL / 64, n, oracle.q)) < 1


def test_the_noise_is_that_of_the_frequency_itself_and_more_categories_add_to_it(monkeypatch):
    oracle, n = PROTOCOLS["olh"](8, 4.0), 100_000
    own = smallest_detectable(oracle, n)
    at_zero = threshold(oracle, n) + NormalDist().inv_cdf(POWER) * oracle.noise(n).sd
    assert power(oracle, n, at_zero) < power(oracle, n, own)
    assert own > at_zero
    assert power(oracle, n, own) == pytest.approx(POWER, abs=1e-9)
    oracle = PROTOCOLS["oue"](64, 1.0)
    with monkeypatch.context() as of_one_category:
        of_one_category.setattr(detection, "LEVEL", 64 * LEVEL)
        alone = smallest_detectable(oracle, 10_000)
    assert alone < smallest_detectable(oracle, 10_000)
    # Of a tree of two values at a large budget rounding takes the variance below 0.
    assert 0 <= smallest_detectable(PROTOCOLS["tree"](2, 8.0), 2435) <= 1
    square_wave = PROTOCOLS["sw"](64, 1.0)
    assert detectable(square_wave, 10_000) is None
    with pytest.raises(ValueError, match="sw has none"):
        threshold(square_wave, 10_000)
