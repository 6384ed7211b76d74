import itertools

import numpy as np
import pytest

from simulator.methods import POSTPROCESSORS
from simulator.methods.power import EXPONENT_MAX, posterior_mean, power_sum, prior_exponent
from tests.cells import over

from .law import oracle_of, stream

TOLERANCE = 1e-3  # in noise sd: a thousandth of the noise that the method is there to remove


def direct(noisy, n, exponent, sd):
    """Posterior mean count by the sum over all counts 1..n."""
    x = np.arange(1, n + 1, dtype=np.float64)
    prior = -exponent * np.log(x)
    result = []
    for y in noisy:
        log_posterior = prior - ((x - y) / sd) ** 2 / 2
        weight = np.exp(log_posterior - log_posterior.max())
        result.append((weight * x).sum() / weight.sum())
    return np.array(result)


def probes(n, sd, size, *names):
    """Noisy counts over the places where the posterior mean bends: below 0, near it, at n, beyond, and in between."""
    rng = stream("power", *names)
    spread = rng.uniform(-45, 60, size=size) * sd
    near_top = n + rng.uniform(-15, 15, size=size // 3) * sd
    between = rng.uniform(0, n, size=size // 3)
    log_spaced = np.exp(rng.uniform(0, np.log(n), size=size // 3))
    # Outside these ends the code holds its last value; noise goes there with probability below 1e-32.
    return np.clip(np.r_[spread, near_top, between, log_spaced, 0.0, 1.0, n], -39.9 * sd, n + 11.9 * sd)


# Noise sd in counts: from under one count (a large budget) to more than the population (a tiny one).
PROTOCOL_SETTINGS = [("oue", 10.0), ("oue", 4.0), ("grr", 8.0), ("olh", 1.0), ("rappor", 0.5), ("blh", 0.05)]
EVERY_SETTING = [*PROTOCOL_SETTINGS, ("oue", 1.0), ("oue", 14.0)]


@over(
    [
        *((setting, 1000, 1000, 90) for setting in PROTOCOL_SETTINGS),
        *((setting, 1000, 2, 45) for setting in PROTOCOL_SETTINGS[::2]),
        *((setting, 1000, 100_000, 45) for setting in PROTOCOL_SETTINGS[1::2]),
        *((setting, 10_000, 1000, 45) for setting in PROTOCOL_SETTINGS[::5]),
        (("oue", 1.0), 10**6, 1000, 3),
    ],
    slow=[
        # Sums over a million counts take a quarter of a second: of these every third cell.
        *((setting, 10_000, k, 90) for setting in EVERY_SETTING for k in (2, 10, 1000, 100_000)),
        *((setting, 10**6, k, 15) for setting, k in [*itertools.product(EVERY_SETTING, (2, 10, 1000, 100_000))][1::3]),
    ],
)
def test_power_is_the_direct_sum(setting, n, k, size):
    key, epsilon = setting
    noise = oracle_of(key, k, epsilon).noise(n)
    sd = noise.sd * n
    noisy = probes(n, sd, size, key, n, k)
    estimate = np.resize(noisy / n, -(-len(noisy) // k) * k).reshape(-1, k)  # filled up by repetition
    ours = POSTPROCESSORS["power"](estimate, noise).ravel()[: len(noisy)] * n
    off = np.abs(ours - direct(noisy, n, prior_exponent(n, k), sd)) / sd
    worst = off.argmax()
    assert off[worst] <= TOLERANCE, f"off by {off[worst]:.2e} sd at {noisy[worst]:.6g} counts, sd {sd:.4g}"


@over(
    [
        *((sd, 1000, 20) for sd in (0.02, 0.3, 0.7, 0.95, 0.999, 1.0, 1.001, 1.5, 3.0)),
        *((sd, 1000, k) for sd in (0.02, 1.0, 3.0) for k in (2, 900, 999, 100_000)),
    ]
)
def test_around_one_count_of_noise(sd, n, k):
    noisy = np.r_[np.arange(-5, 60, 0.23), n - np.arange(-5, 10, 0.31)]
    off = np.abs(posterior_mean(n, k, sd)(noisy) - direct(noisy, n, prior_exponent(n, k), sd)) / sd
    assert off.max() <= TOLERANCE


@pytest.mark.parametrize(("n", "k"), [(1000, 2), (1000, 10), (10**4, 1000), (10**6, 3), (10**6, 4096), (1000, 999)])
def test_the_prior_has_mean_n_over_k(n, k):
    s = prior_exponent(n, k)
    x = np.arange(1, n + 1, dtype=np.float64)
    assert 0 < s < EXPONENT_MAX
    # Euler-Maclaurin from count 1000 on is good to 1e-9, and s is bisected to 1e-16
    assert (x ** (1 - s)).sum() / (x**-s).sum() == pytest.approx(n / k, rel=1e-7)


@pytest.mark.parametrize("k", [1000, 5000])
def test_a_mean_of_one_or_less_puts_the_prior_at_one(k):
    # Past s = 53 all counts above 1 weigh less than the rounding of 1: as far as float64 tells, the mean is 1.
    assert prior_exponent(1000, k) > 50
    noise = oracle_of("oue", k, 1.0).noise(1000)
    np.testing.assert_allclose(POSTPROCESSORS["power"](np.zeros(k), noise), 1 / 1000, rtol=1e-9)


@over(itertools.product([1, 10, 999, 1000, 1001, 5000, 10**6], [-1.0, 0.0, 0.3, 1.0, 1.0 + 1e-9, 2.0, 7.5, 59.0]))
def test_power_sums(n, s):
    direct_sum = (np.arange(1, n + 1, dtype=np.float64) ** -s).sum()
    # the first term left out is s^3 / 5760 * 1000^-(s + 3), below 1e-10 of the whole
    assert power_sum(n, s) == pytest.approx(direct_sum, rel=1e-9)


@over(itertools.product([2, 100, 100_000], [0.5, 2.0]))
def test_smooth_at_a_thousand_million_users(k, epsilon):
    n = 10**9
    noise = oracle_of("oue", k, epsilon).noise(n)
    sd = noise.sd * n
    step = 0.01
    for start, stop in [(-45.0, 60.0), (n / sd - 20, n / sd + 11.9)]:
        y = np.arange(start, stop, step) * sd
        moves = np.diff(posterior_mean(n, k, sd)(y)) / sd
        # The slope is the posterior variance over the noise variance, never negative; where a posterior has one
        # hump at 0 and one at the observation, d sd apart, it reaches d^2 / 4 + 1 (d below 6) and changes by at
        # most about d^3 / 20 per sd. Anything faster, 1e-3 sd within a hundredth of a sd, is a seam.
        assert moves.min() >= 0
        assert moves.max() <= 10 * step
        assert np.abs(np.diff(moves)).max() <= 1e-3


def test_power_ns_is_norm_sub_of_power():
    noise = oracle_of("oue", 50, 1.0).noise(5000)
    x = stream("power ns").normal(0.02, noise.sd, size=(10, 50))
    expected = POSTPROCESSORS["norm_sub"](POSTPROCESSORS["power"](x, noise), noise)
    np.testing.assert_array_equal(POSTPROCESSORS["power_ns"](x, noise), expected)
