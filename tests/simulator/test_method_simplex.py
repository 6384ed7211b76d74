import itertools

import numpy as np
import pytest
from scipy import stats

from simulator import frequency_oracles
from simulator.methods import POSTPROCESSORS
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


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 100])
def test_base_cut_keeps_what_reaches_its_threshold(k):
    threshold = max(0.0, stats.norm.ppf(1 - 2 / k)) * NOISE.sd if k > 2 else 0.0
    assert (threshold > 0) == (k > 4)
    near = np.array([-1.0, -1e-9, 0.0, 1e-9, threshold * (1 - 1e-6), threshold * (1 + 1e-6), 0.4])
    estimate = np.resize(near, (8, k)) if k < 7 else np.resize(near, (1, k))
    for row in np.array(list(itertools.islice(itertools.cycle(estimate), 3))):
        expected = [x if x >= threshold and x > 0 else 0.0 for x in row]
        assert run("base_cut", row).tolist() == expected


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
    x, noise = raw_estimates(key, k, epsilon, max(n, k), 40, "iteration")
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
