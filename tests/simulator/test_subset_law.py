import itertools
from math import comb

import numpy as np
import pytest
from scipy import stats

from simulator.protocols.grr import GRR
from simulator.protocols.subset import CHAIN_LARGEST, SubsetSelection
from tests.cells import over

from .law import CHECKS, Law, accept, chi_square_p, merge_bins, skewed, stream, two_sided, variance_p

# k, epsilon, n just above the switch to the Gaussian path (variance of a support count 1000).
SWITCH = [(80, 0.5, 4400), (96, 1.0, 5300), (100, 2.0, 9800)]


def repeat(draw, counts, times, *names):
    rng = stream("subset", *names)
    return np.stack([draw(counts, rng) for _ in range(times)])


def joint_law(oracle, counts):
    """Probabilities of every vector of support counts, by adding the users' subsets one user at a time."""
    k, size = oracle.k, oracle.omega
    subsets = [np.isin(np.arange(k), chosen).astype(int) for chosen in itertools.combinations(range(k), size)]
    law = {tuple([0] * k): 1.0}
    for own in np.repeat(np.arange(k), counts):
        step = {}
        for (state, mass), chosen in itertools.product(law.items(), subsets):
            chance = oracle.p / comb(k - 1, size - 1) if chosen[own] else (1 - oracle.p) / comb(k - 1, size)
            key = tuple((np.array(state) + chosen).tolist())
            step[key] = step.get(key, 0.0) + mass * chance
        law = step
    assert abs(sum(law.values()) - 1) < 1e-12  # a few thousand additions of numbers below 1
    return law


JOINT = [
    (6, 3, (0, 0, 0, 0, 1, 0)),  # one report is an even draw that favours the own value
    (4, 2, (2, 0, 0, 0)),
    (4, 2, (1, 1, 0, 0)),
    (4, 2, (0, 1, 0, 2)),
    (4, 3, (0, 1, 1, 0)),
    (5, 2, (1, 0, 0, 0, 1)),
    (5, 3, (0, 0, 2, 0, 0)),
    (5, 4, (1, 0, 1, 0, 0)),
]


DRAWS, TIMES = 1000, 600


def joint_p(draws, law):
    outcomes = sorted(law)
    place = {outcome: i for i, outcome in enumerate(outcomes)}
    observed = np.zeros(len(outcomes))
    for row in draws.tolist():
        observed[place[tuple(row)]] += 1  # a KeyError here is an outcome that cannot happen
    expected = np.array([law[outcome] for outcome in outcomes]) * len(draws)
    bins = merge_bins(expected)
    return chi_square_p(np.bincount(bins, observed), np.bincount(bins, expected))


@over(JOINT[1::4], slow=[case for case in JOINT if case not in JOINT[1::4]])
def test_the_chain_and_the_replay_have_the_enumerated_joint_law(k, omega, counts):
    oracle, law = SubsetSelection(k, 1.0, omega), joint_law(SubsetSelection(k, 1.0, omega), counts)
    assert accept(joint_p(repeat(oracle._chain, np.array(counts), DRAWS, "joint", k, omega, *counts), law))
    rows = np.tile(counts, (10 * DRAWS, 1))  # replays are quick
    assert accept(joint_p(oracle.replay_support(rows, stream("joint replay", k, omega, *counts)), law))


def test_negative_control_the_joint_check_notices_another_size_of_the_own_share():
    right, wrong = SubsetSelection(4, 1.0, 2), SubsetSelection(4, 0.5, 2)
    draws = repeat(wrong._chain, np.array([2, 0, 0, 0]), DRAWS, "joint wrong")
    assert not accept(joint_p(draws, joint_law(right, (2, 0, 0, 0))))


def test_a_set_of_one_value_is_randomised_response():
    oracle, grr = SubsetSelection(12, 4.0), GRR(12, 4.0)
    assert oracle.omega == 1
    # p and q are the same formulas up to rounding of a handful of operations
    assert (oracle.p, oracle.q) == pytest.approx((grr.p, grr.q), rel=1e-14)
    counts = np.array([[30, 0, 0, 5, 9, 1, 0, 0, 0, 2, 2, 1]] * 4)
    np.testing.assert_array_equal(
        oracle.sample_support(counts, stream("one")), grr.sample_support(counts, stream("one"))
    )


def test_each_path_is_taken_where_it_should_be(monkeypatch):
    taken = []
    monkeypatch.setattr(SubsetSelection, "_chain", lambda _self, c, _rng: taken.append("chain") or c)
    monkeypatch.setattr(SubsetSelection, "_gaussian", lambda _self, c, _rng: taken.append("gaussian") or c)
    for k, n in [(64, 10**6), (65, 10**6), (65, 3000), (64, 10**9 - 1), (64, 10**9)]:
        SubsetSelection(k, 1.0).sample_support(skewed(k, n), stream("path"))
    assert taken == ["chain", "gaussian", "chain", "chain", "gaussian"]
    for k, epsilon, n in SWITCH:
        q = SubsetSelection(k, epsilon).q
        assert 1000 < n * q * (1 - q) < 1100, "these settings are meant to lie just above the switch"


@over(SWITCH[:1], slow=SWITCH[1:])
def test_just_above_the_switch_the_gaussian_path_has_the_exact_moments_and_marginals(k, epsilon, n):
    oracle, counts = SubsetSelection(k, epsilon), skewed(k, n)
    law = Law(oracle, tuple(counts.tolist()))
    draws = repeat(oracle._gaussian, counts, TIMES, "moments", k)
    assert accept(CHECKS["covariance"](draws, law))
    assert accept(CHECKS["marginals"](draws, law, len(draws) / 20))
    # Independent binomials of the same marginals fail the same covariance check.
    rng = stream("moments wrong", k)
    wrong = rng.binomial(counts, oracle.p, (TIMES, k)) + rng.binomial(n - counts, oracle.q, (TIMES, k))
    assert accept(CHECKS["marginals"](wrong, law, len(wrong) / 20))
    assert not accept(CHECKS["row_sums"](wrong, law))


def third_moment_z(draws, law, values):
    """Mean third power of the standardised draws of `values` against the exact skewness, in standard errors.

    The standard error treats values as independent; their correlation is about -1/k, which only makes it smaller.
    """
    powers, exact = [], []
    for value in values:
        sd = np.sqrt(law.variance[value])
        powers.append((((draws[:, value] - law.mean[value]) / sd) ** 3).mean())
        pmf, x = law.marginal(value), (np.arange(law.n + 1) - law.mean[value]) / sd
        exact.append((pmf * x**3).sum())
    # Var of a cubed nearly Gaussian variable is 15, up to terms of order 1 / variance = 1/1000.
    return (np.mean(powers) - np.mean(exact)) / np.sqrt(15 / (len(draws) * len(values))), np.mean(exact)


@pytest.mark.slow
def test_just_above_the_switch_the_gaussian_path_has_the_exact_third_moment():
    k, epsilon, n = SWITCH[2]
    oracle, counts = SubsetSelection(k, epsilon), skewed(k, n)
    law = Law(oracle, tuple(counts.tolist()))
    values = np.flatnonzero(counts < n / 100)  # the many small values share their skewness: pooled, it shows
    assert len(values) > 80
    rng = stream("third moment")
    draws = np.stack([oracle._gaussian(counts, rng) for _ in range(60_000)])
    z, skewness = third_moment_z(draws, law, values)
    assert accept(two_sided(z))
    # Negative control: a Gaussian without the quadratic term has skewness 0, and the same check sees that.
    plain = np.rint(rng.standard_normal((60_000, k)) * np.sqrt(law.variance) + law.mean).astype(np.int64)
    z, _ = third_moment_z(plain, law, values)
    assert skewness > 0.01
    assert not accept(two_sided(z))


def test_the_gaussian_path_at_a_thousand_values_and_a_million_users():
    k, n, times = 1024, 10**6, 400
    oracle, counts = SubsetSelection(k, 1.0), skewed(k, n)
    law = Law(oracle, tuple(counts.tolist()))
    draws = repeat(oracle._gaussian, counts, times, "large")
    assert accept(CHECKS["row_sums"](draws, law))
    assert accept(CHECKS["mean"](draws, law))
    centred = draws - law.mean
    # A variance of 1e5 and more: counts are Gaussian to 1 part in 1e5, so sums of squares are chi-square.
    assert accept(variance_p((centred**2).mean(axis=0), law.variance, times))
    assert accept(projection_p(centred, law))
    rng = stream("large wrong")
    independent = rng.standard_normal((times, k)) * np.sqrt(law.variance)
    assert not accept(projection_p(independent, law))


def projection_p(centred, law):
    """Variance of projections against w' Cov w: random signs, contrasts of the large value, nearly equal weights."""
    k = law.oracle.k
    rng = stream("projections")
    weights = rng.choice([-1.0, 1.0], size=(40, k))
    weights[:20, 0] = rng.uniform(-30, 30, size=20)
    weights[20:30] = 1 + 0.05 * rng.standard_normal((10, k))  # near the direction in which the rows are constant
    exact = (weights @ law.covariance * weights).sum(axis=1)
    sample = ((centred @ weights.T) ** 2).mean(axis=0)
    return variance_p(sample, exact, len(centred))


@over(
    [
        *itertools.product([65], [1e-3, 0.5, 2.0, 4.0], [0.0, 0.5, 1.0]),
        *itertools.product([1024], [1e-3, 2.0], [0.0, 1.0]),
    ]
)
def test_the_gaussian_path_has_real_variances_and_constant_sums(k, epsilon, share):
    oracle = SubsetSelection(k, epsilon)
    counts = np.full(k, round((1 - share) * 10**6 / k))
    counts[0] += round(share * 10**6)
    law = Law(oracle, tuple(counts.tolist()))
    if oracle.omega == 1:
        assert epsilon == 4.0
        return
    sums = law.covariance.sum(axis=1)
    # rows of the covariance cancel: each sum is at most the rounding of k terms of the size of the diagonal
    assert np.abs(sums).max() < 1e-9 * law.covariance.diagonal().max()
    row = oracle._gaussian(counts, stream("positive"))  # a negative variance would warn, and warnings are errors
    assert row.sum() == law.n * oracle.omega


def test_sums_of_squares_reference_is_two_sided():
    # The chi-square variance check itself: about uniform p-values under its own law, small ones off it.
    rng = stream("self check")
    z = rng.standard_normal((400, 300))
    assert accept(variance_p((z**2).mean(axis=0), 1.0, 400))
    assert stats.kstest(variance_p((z**2).mean(axis=0), 1.0, 400), "uniform").pvalue > 1e-9
    assert not accept(variance_p(((1.35 * z) ** 2).mean(axis=0), 1.0, 400))
    assert not accept(variance_p(((z / 1.35) ** 2).mean(axis=0), 1.0, 400))


def population(k, n):
    rare = min(n // 4, k - 1)
    counts = np.zeros(k, dtype=np.int64)
    counts[0], counts[1 : 1 + rare] = n - rare, 1
    return counts


@over([(2000, 2.0, 400)], slow=[(1500, 0.5, 50), (5000, 4.0, 3000)])
def test_binomials_of_a_common_total_have_the_mean_and_the_variance(k, epsilon, n):
    oracle, counts = SubsetSelection(k, epsilon), population(k, n)
    assert oracle._law_for(counts) == oracle._conditioned
    times = 200
    draws = np.stack([oracle._conditioned(counts, stream("conditioned", k, i)) for i in range(times)])
    assert (draws.sum(axis=1) == n * oracle.omega).all()
    assert draws.min() >= 0
    assert draws.max() <= n
    mean = counts * oracle.p + (n - counts) * oracle.q
    variance = counts * oracle.p * (1 - oracle.p) + (n - counts) * oracle.q * (1 - oracle.q)
    assert accept(two_sided((draws.mean(axis=0) - mean) / np.sqrt(variance / times)))
    # Over all values together the variance is known to one part in a thousand: off by 1/k, it still passes; the plain
    # binomials, whose total is free, do not.
    standard = (draws - mean) / np.sqrt(variance)
    assert accept(variance_p((standard[:, :1] ** 2).mean(axis=0), 1.0, times))
    assert abs((standard**2).mean() - 1) < 5 * np.sqrt(2 / (times * k)) + 1 / k


def test_binomials_are_used_where_the_chain_would_be_slow_and_stays_fast_for_any_domain():
    for k, epsilon, n in ((250_000, 8.0, 10**6), (20_000, 1.0, 3000), (250_000, 6.0, 30_000)):
        oracle, counts = SubsetSelection(k, epsilon), population(k, n)
        assert oracle._law_for(counts) == oracle._conditioned
        assert oracle.sample_support(counts, stream("large", k)).sum() == n * oracle.omega
    assert SubsetSelection(CHAIN_LARGEST, 1.0)._law_for(population(CHAIN_LARGEST, 100)).__name__ == "_chain"
