"""Estimates: unbiased, unclipped, with the stated variance, up to a thousand million users."""

import itertools
from functools import cache

import numpy as np
import pytest

from simulator import frequency_oracles
from tests.cells import over

from .law import accept, oracle_of, stream, two_sided, variance_p

PROTOCOLS = frequency_oracles()

# Estimated by (C/n - q)/(p - q), with its variance; `she` and `hr` are in test_more_protocols where they differ.
BY_P_AND_Q = [key for key in PROTOCOLS if key not in {"she", "hr"}]
COUNTS = np.array([6000, 0, 0, 2500, 1000, 400, 60, 20, 10, 5, 5, 0])


@cache
def draws(key, epsilon):
    oracle, n = oracle_of(key, 12, epsilon), int(COUNTS.sum())
    rng = stream("estimates", key, repr(epsilon))
    return oracle, n, oracle.estimate(oracle.sample_support(np.broadcast_to(COUNTS, (800, 12)), rng), n)


@over(itertools.product(BY_P_AND_Q, [0.5, 3.0]))
def test_estimates_are_unbiased_with_the_stated_variance(key, epsilon):
    oracle, n, estimates = draws(key, epsilon)
    truth = COUNTS / n
    variance = oracle.variance(truth, n)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / len(estimates))
    assert accept(two_sided(z))
    # Support counts have a variance of 190 and more here: Gaussian enough for the chi-square of 800 squares.
    assert accept(variance_p(((estimates - truth) ** 2).mean(axis=0), variance, len(estimates)))


def test_negative_control_the_variance_at_zero_is_not_the_variance_of_a_dominating_value():
    oracle, n, estimates = draws("grr", 3.0)
    squares = ((estimates[:, 0] - COUNTS[0] / n) ** 2).mean()
    assert not accept(variance_p(squares, oracle.noise(n).variance_at_zero, len(estimates)))


@over(itertools.product(BY_P_AND_Q, [0.1, 1.0, 6.0]))
def test_noise_variance_and_estimate_are_those_of_p_and_q(key, epsilon):
    oracle, n = oracle_of(key, 20, epsilon), 12_345
    noise, p, q = oracle.noise(n), oracle.p, oracle.q
    f = np.linspace(0, 1, 11)
    expected = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2)
    # the same formula in another order: roundings only
    np.testing.assert_allclose(oracle.variance(f, n), expected, rtol=1e-12)
    np.testing.assert_allclose(noise.variance_at_zero + noise.variance_slope * f, expected, rtol=1e-12)
    assert noise.sd == pytest.approx(np.sqrt(expected[0]), rel=1e-12)
    full = key == "pgr" and oracle.symbols == oracle.k  # a space in which every point is a value
    assert (noise.n, noise.p, noise.q, noise.sums_to_one) == (n, p, q, oracle.sums_to_one or full)
    assert oracle.variance(0.25, n).shape == ()
    truth = np.linspace(0, 0.1, 20)
    means = n * (truth * p + (1 - truth) * q)
    np.testing.assert_allclose(oracle.estimate(means, n), truth, atol=1e-14 / (p - q))  # roundings
    np.testing.assert_allclose(oracle.estimate(np.zeros(20), n), -q / (p - q), rtol=1e-12)  # and no clipping


@pytest.mark.parametrize("key", PROTOCOLS)
def test_sums_are_one_exactly_where_that_is_claimed(key):
    oracle, _, estimates = draws(key, 0.5)
    off = np.abs(estimates.sum(axis=1) - 1)
    assert oracle.sums_to_one == (key in {"grr", "ss"})
    if oracle.sums_to_one:
        assert off.max() < 1e-12  # 12 additions of numbers below 1
    else:
        assert np.median(off) > 1e-3


@pytest.mark.parametrize("key", PROTOCOLS)
def test_estimates_are_not_clipped(key):
    _, _, estimates = draws(key, 0.5)
    # A value nobody holds is as often below 0 as above, but for the lattice of counts and a small skewness.
    assert 0.35 < (estimates[:, COUNTS == 0] < 0).mean() < 0.65
    assert estimates.min() < 0


def many(k):
    """A thousand million users, half of them at the first value, and nobody in the middle."""
    counts = np.full(k, 10**9 // 2 // k)
    counts[[0, k // 2]] = 0
    counts[0] = 10**9 - counts.sum()
    return counts.tolist()


@over(
    [
        *((key, 2.0, many(16), 400) for key in BY_P_AND_Q),
        *((key, 0.5, many(256), 400) for key in ("grr", "ss", "oue")),
        # The exact chain of subset selection, just below its limit
        *(("ss", 0.5, [10**9 // k - 1, *[10**9 // k] * (k - 1)], 60) for k in (16, 64)),
    ]
)
def test_a_thousand_million_users(key, epsilon, counts, times):
    n, k, oracle = sum(counts), len(counts), oracle_of(key, len(counts), epsilon)
    counts = np.array(counts)
    support = oracle.sample_support(np.broadcast_to(counts, (times, k)), stream("many", key, k, repr(epsilon)))
    mean = counts * oracle.p + (n - counts) * oracle.q
    variance = counts * oracle.p * (1 - oracle.p) + (n - counts) * oracle.q * (1 - oracle.q)
    assert accept(two_sided((support.mean(axis=0) - mean) / np.sqrt(variance / times)))
    assert accept(variance_p(((support - mean) ** 2).mean(axis=0), variance, times))
    if oracle.sums_to_one:
        assert (support.sum(axis=1) == n * getattr(oracle, "omega", 1)).all()
