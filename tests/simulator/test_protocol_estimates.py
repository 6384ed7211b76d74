import itertools

import numpy as np
import pytest

from simulator import frequency_oracles
from tests.cells import over

from .law import accept, oracle_of, skewed, stream, two_sided, variance_p

PROTOCOLS = frequency_oracles()

# Estimated by (C/n - q)/(p - q), with its variance; `she` and `hr` are in test_more_protocols where they differ.
BY_P_AND_Q = [key for key in PROTOCOLS if key not in {"she", "hr"}]


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


BILLION = 10**9
WIDE = {"grr": 0.5, "ss": 0.5, "oue": 0.5, "she": 0.5, "hr": 2.0, "pgr": 0.5}


@over(
    [
        *((key, 2.0, skewed(16, BILLION), 400) for key in PROTOCOLS),
        *((key, epsilon, skewed(256, BILLION), 200) for key, epsilon in WIDE.items()),
        *((key, 0.5, skewed(16, 1000 * BILLION), 400) for key in ("she", "hr", "pgr")),
        # The exact chain of subset selection, just below its limit
        *(("ss", 0.5, np.full(k, BILLION // k) - np.eye(k, dtype=int)[0], 60) for k in (16, 64)),
    ]
)
def test_estimates_of_very_many_users_are_unbiased_with_the_stated_variance(key, epsilon, counts, times):
    n, oracle = counts.sum(), oracle_of(key, len(counts), epsilon)
    rng = stream("many", key, len(counts), repr(epsilon))
    truth, estimates = counts / n, oracle.estimate(oracle.sample_support(np.tile(counts, (times, 1)), rng), n)
    variance = oracle.noise(n).entry(truth) if key == "hr" else oracle.variance(truth, n)  # of blocks
    assert accept(two_sided((estimates.mean(axis=0) - truth) / np.sqrt(variance / times)))
    assert accept(variance_p(((estimates - truth) ** 2).mean(axis=0), variance, times))
    assert np.allclose(estimates.sum(axis=1), 1, rtol=0, atol=1e-9) or not oracle.sums_to_one
