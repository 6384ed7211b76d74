import itertools

import numpy as np
import pytest

from simulator import frequency_oracles
from simulator.methods import POSTPROCESSORS
from simulator.methods.power import EXPONENT_MAX, posterior_mean, power_sum, prior_exponent
from simulator.protocols import Noise
from tests.cells import over

from .law import oracle_of, stream

PROTOCOLS = frequency_oracles()

NOISE = oracle_of("oue", 8, 1.0).noise(1000)
ESTIMATES = [
    [0.5, -0.2, 0.3, 0.1, 0.0, -0.05, 0.2, 0.4],
    [-1.0, -0.5, -0.2, -0.1, -3.0, -0.3, -0.7, -0.01],
    [2.0, -0.5, 0.3, -0.1, 0.0, 0.0, 0.7, 0.7],
    [0.0] * 8,
]


def run(name, estimate, noise=NOISE):
    return POSTPROCESSORS[name](np.array(estimate), noise)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_one_line_methods(estimate):
    positive = [max(x, 0.0) for x in estimate]
    total = sum(positive)
    assert run("none", estimate).tolist() == estimate
    assert run("post_pos", estimate).tolist() == estimate  # it changes query answers, not the estimate
    assert run("base_pos", estimate).tolist() == positive
    # the two below: one rounding per operation on numbers of at most 3
    np.testing.assert_allclose(run("norm", estimate), [x + (1 - sum(estimate)) / 8 for x in estimate], atol=1e-14)
    expected = [x / total for x in positive] if total else [1 / 8] * 8
    np.testing.assert_allclose(run("norm_mul", estimate), expected, atol=1e-14)


def test_base_cut_asks_more_of_values_that_share_a_block_with_a_frequent_one():
    oracle = PROTOCOLS["hr"](256, 5.0)
    estimate = np.full(256, 0.7 / 255)
    estimate[0] = 0.3
    shares = np.arange(256) % oracle.blocks == 0
    shares[0] = False
    kept = POSTPROCESSORS["base_cut"](estimate, oracle.noise(100_000)) > 0
    assert shares.any()
    assert not kept[shares].any()
    assert kept[~shares].all()
    even = POSTPROCESSORS["base_cut"](estimate, PROTOCOLS["oue"](256, 5.0).noise(100_000)) > 0
    assert even.all() == even[1]  # noise that is alike asks the same of all


def norm_sub(x):
    return POSTPROCESSORS["norm_sub"](x, NOISE)


@over(itertools.product([2, 3, 10, 1000], [1e-6, 0.01, 1.0, 100.0]))
def test_norm_sub_meets_the_conditions_of_the_projection(k, scale):
    for x in stream("kkt", k, repr(scale)).normal(0.3 / k, scale, size=(50, k)):
        f = norm_sub(x)
        rounding = 1e-15 * k * max(1.0, np.abs(x).max())
        assert f.min() >= 0
        assert abs(f.sum() - 1) < rounding
        shift = f - x  # one number where f > 0, and at least that much where f = 0
        delta = shift[f > 0].mean()
        assert np.abs(shift[f > 0] - delta).max() < rounding
        assert (x[f == 0] + delta <= rounding).all()


MLE = [
    *[("blh", k, eps) for k in (2, 6) for eps in (0.5, 1.0, 2.0, 4.0)],  # variance falls with f
    *[("grr", k, eps) for k in (2, 6, 20) for eps in (0.5, 3.0, 6.0)],  # variance grows with f
    *[(key, 6, eps) for key in ("oue", "rappor", "olh", "ss") for eps in (0.5, 3.0)],
]


def raw_estimates(key, k, epsilon, n, times, *names):
    oracle = oracle_of(key, k, epsilon)
    counts = np.zeros(k, dtype=np.int64)
    counts[: k // 2 + 1] = 1
    counts[0] = n - counts[1:].sum()
    rng = stream("raw", key, k, repr(epsilon), n, *names)
    return oracle.estimate(oracle.sample_support(np.broadcast_to(counts, (times, k)), rng), n), oracle.noise(n)


def wang_iteration(x, noise):
    """Section IV-D: solve on the support set, move the negatives out, repeat."""
    p, q = noise.p, noise.q
    inside = np.ones(len(x), dtype=bool)
    while True:
        m = inside.sum()
        o = x[inside] * (p - q) + q
        level = (o.sum() - p - (m - 1) * q) / (p * (1 - p) + (m - 1) * q * (1 - q))
        f = np.zeros_like(x)
        f[inside] = (o - q - q * (1 - q) * level) / (p - q + (p * (1 - p) - q * (1 - q)) * level)
        if (f >= 0).all():
            return f
        inside &= f > 0


@over(itertools.product([*MLE, ("grr", 500, 6.0), ("oue", 500, 1.0), ("blh", 500, 1.0)], [60, 10_000]))
def test_mle_apx_is_where_the_published_iteration_ends(setting, n):
    key, k, epsilon = setting
    x, noise = raw_estimates(key, k, epsilon, max(n, k), 15, "iteration")
    ours = POSTPROCESSORS["mle_apx"](x, noise)
    # the two orders of operations differ by rounding, k additions of numbers of size 1 + |x|
    tolerance = 1e-13 * k * (1 + np.abs(x).max())
    np.testing.assert_allclose(ours, [wang_iteration(row, noise) for row in x], atol=tolerance)


@over(itertools.product(PROTOCOLS, [0.01, 0.5, 1.0, 4.0, 12.0], [2, 3, 50]))
def test_no_protocol_can_produce_an_estimate_that_mle_apx_has_no_solution_for(key, epsilon, k):
    oracle = oracle_of(key, k, epsilon)
    noise = oracle.noise(100)
    ratio = noise.variance_slope / noise.variance_at_zero
    for estimate in oracle.estimate(np.array([0, 100]), 100):  # the lowest and the highest there is
        assert 1 + ratio * estimate > 0


@over(itertools.product([0.5, 1.0, 2.0, 4.0], [1e-9, 0.1, 10.0]))
def test_mle_apx_beyond_its_last_solution_is_on_the_simplex_in_order(epsilon, beyond):
    noise = oracle_of("blh", 6, epsilon).noise(100)
    edge = -noise.variance_at_zero / noise.variance_slope
    assert edge > 1
    x = np.array([edge + beyond, edge + beyond, edge - 0.1, 0.2, -0.3, edge])
    f = POSTPROCESSORS["mle_apx"](x, noise)
    np.testing.assert_array_equal(f, norm_sub(x))
    assert f.min() >= 0
    assert abs(f.sum() - 1) < 1e-13 * edge  # rounding of numbers as large as the edge
    assert (np.diff(f[np.argsort(x, kind="stable")]) >= 0).all()
    batch = POSTPROCESSORS["mle_apx"](np.stack([x, x - edge]), noise)  # one row beyond, the other not
    np.testing.assert_array_equal(batch, [f, POSTPROCESSORS["mle_apx"](x - edge, noise)])


def brute_cut(x):
    """Smallest threshold >= 0 with the sum of the estimates at or above it at most 1; quadratic in k."""
    positive = np.maximum(x, 0)
    if positive.sum() <= 1:
        return positive
    for threshold in [*sorted(set(positive[positive > 0].tolist())), np.inf]:
        kept = [v for v in positive if v >= threshold]
        if sum(kept) <= 1 + 1e-12:  # the code's own allowance for a sum of 1 that rounding pushed up
            return np.where(positive >= threshold, positive, 0.0)
    raise AssertionError("infinity keeps nothing and fits")


@over(itertools.product([2, 3, 8, 40], [0.05, 0.3, 2.0]))
def test_norm_cut_is_its_definition(k, scale):
    rng = stream("cut", k, repr(scale))
    x = rng.normal(0.5 / k, scale, size=(60, k))
    tied = np.round(x * 8) / 8  # sums of eighths are exact, and full of ties
    for rows in (x, tied):
        np.testing.assert_array_equal(POSTPROCESSORS["norm_cut"](rows, NOISE), [brute_cut(row) for row in rows])


def test_exact_probability_vectors_are_left_alone():
    noise = Noise(1000, 0.5, 0.2, 1e-3, 1e-4, False)
    for k in (2, 5, 1000):
        f = stream("exact", k).dirichlet(np.full(k, 0.5), size=20)
        for name in ("norm_sub", "norm_cut", "norm", "base_pos", "norm_mul", "mle_apx"):
            np.testing.assert_allclose(POSTPROCESSORS[name](f, noise), f, atol=1e-15 * k)  # rounding of the sum of f


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


@over(
    [
        *((setting, 1000, 1000, 90) for setting in PROTOCOL_SETTINGS),
        *((setting, 1000, 2, 45) for setting in PROTOCOL_SETTINGS[::2]),
        *((setting, 10_000, 1000, 45) for setting in PROTOCOL_SETTINGS[::5]),
        (("oue", 1.0), 10**5, 1000, 3),
    ],
    slow=[
        *((setting, 1000, 100_000, 45) for setting in PROTOCOL_SETTINGS[1::2]),
        *((setting, 10**5, k, 15) for setting in PROTOCOL_SETTINGS for k in (2, 1000, 100_000)),
        *((setting, 10**6, k, 15) for setting, k in zip(PROTOCOL_SETTINGS, (2, 1000, 100_000) * 2, strict=True)),
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


@over(itertools.product([1, 10, 999, 1000, 1001, 5000, 10**5], [-1.0, 0.0, 0.3, 1.0, 1.0 + 1e-9, 2.0, 7.5, 59.0]))
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
