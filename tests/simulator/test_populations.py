from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulator.populations import SHAPES, apportion, drawn, frequencies, normal, one_per_user
from simulator.seeding import rng_for
from tests.cells import over

DEEP = settings(max_examples=50, deadline=None, derandomize=True)


@pytest.mark.parametrize("name", SHAPES)
@over([2, 3, 10, 1000, 100_000])
def test_frequencies_are_a_distribution(k, *, name):
    f = frequencies(name, k)
    assert f.shape == (k,)
    assert f.min() >= 0
    assert abs(f.sum() - 1) < 1e-12  # pairwise summation of up to 1e5 numbers
    np.testing.assert_array_equal(f, frequencies(name, k))
    assert SHAPES[name].ordered == (name not in {"zipf_shuffled", "dirichlet", "sparse"})
    if k == 1000:  # only the random ones depend on the seed
        assert np.array_equal(f, frequencies(name, k, seed=2)) == SHAPES[name].ordered


def test_shapes_are_what_they_are_called():
    k = 100
    assert frequencies("uniform", k).tolist() == [0.01] * k
    np.testing.assert_allclose(
        frequencies("zipf", k, 2.0), np.arange(1, k + 1) ** -2.0 / (np.arange(1, k + 1) ** -2.0).sum()
    )
    # the totals are summed in another order
    np.testing.assert_allclose(np.sort(frequencies("zipf_shuffled", k)), np.sort(frequencies("zipf", k)), rtol=1e-14)
    assert frequencies("spike", k, 0.7)[0] == pytest.approx(0.7, rel=1e-12)
    assert np.unique(frequencies("spike", k)[1:]).size == 1
    assert (frequencies("sparse", k, 0.2) > 0).sum() == 20
    assert np.unique(frequencies("steps", k)).size == 4
    bell = frequencies("gaussian", k)
    np.testing.assert_allclose(bell, bell[::-1])
    modes = frequencies("bimodal", k)
    assert ((modes[1:-1] > modes[:-2]) & (modes[1:-1] >= modes[2:])).sum() == 2
    slope = frequencies("geometric", k)
    np.testing.assert_allclose(slope[1:] / slope[:-1], slope[1] / slope[0])
    # variance of a Dirichlet coordinate with concentration c: (1/k)(1 - 1/k) / (kc + 1), so larger c is flatter
    assert frequencies("dirichlet", k, 50.0).std() < frequencies("dirichlet", k, 0.1).std()
    assert np.argmax(frequencies("lognormal", k)) not in {0, k - 1}


def test_bad_shapes_and_weights_are_refused_in_words():
    with pytest.raises(ValueError, match=r"shape must be one of uniform, .*, got 'zipff'"):
        frequencies("zipff", 10)
    with pytest.raises(ValueError, match="k must be at least 2, got k=1"):
        frequencies("zipf", 1)
    for name, parameter in [("spike", 1.5), ("gaussian", 0.0), ("zipf", np.nan), ("geometric", -1.0)]:
        with pytest.raises(ValueError, match=f"shape {name} has no valid frequencies at"):
            frequencies(name, 10, parameter)
    for weights in ([0.0, 0.0], [1.0, -0.5], [1.0, np.nan]):
        with pytest.raises(ValueError, match="weights must be at least 0"):
            apportion(np.array(weights), 10)


@given(
    weights=hnp.arrays(np.float64, st.integers(2, 30), elements=st.one_of(st.just(0.0), st.floats(1e-9, 1e3))),
    n=st.integers(0, 10**12),
)
@DEEP
def test_apportion_sums_to_n_is_within_one_of_the_exact_share_and_leaves_alone_what_sums_to_n(weights, n):
    weights = np.r_[weights, 1.0]
    counts = apportion(weights, n)
    assert counts.sum() == n
    assert counts.min() >= 0
    assert counts.dtype == np.int64
    exact = weights / weights.sum() * n
    assert np.abs(counts - exact).max() < 1 + 1e-15 * 30 * n  # and the rounding of the exact share
    assert n == 0 or apportion(counts, n).tolist() == counts.tolist()


def test_apportion_is_what_giving_one_after_the_other_comes_to():
    rng = rng_for(0, "apportion")
    for k in range(1, 30):
        for weights in (rng.random(k), rng.integers(1, 4, k).astype(float), np.ones(k)):
            for n in (1, 7, 100, 12_345):
                exact = weights / weights.sum() * n
                counts = np.floor(exact)
                remainders = list(exact - counts)
                for _ in range(n - int(counts.sum())):
                    at = remainders.index(max(remainders))
                    counts[at], remainders[at] = counts[at] + 1, -1.0
                assert apportion(weights, n).tolist() == counts.tolist()
    # Beyond 2^53 every float is whole: three are missing, and no remainder is above 0.
    assert apportion(np.array([0.0, 0.0, 2.0**60, 1.0]), 2**60 + 3).tolist() == [1, 1, 2**60, 1]


@over(product([2, 5, 100], [-3.0, 0.0, 2.2, 50.0, 99.5], [0.3, 1.0, 5.0, 20.0]))
def test_normal_frequencies_are_those_of_numbers_that_are_rounded(k, mean, spread):
    def beyond(edge):  # the tail behind an edge
        return erfc(abs(edge - mean) / spread / sqrt(2)) / 2

    parts = [
        1 - beyond(v - 0.5) - beyond(v + 0.5) if abs(v - mean) < 0.5 else abs(beyond(v - 0.5) - beyond(v + 0.5))
        for v in range(k)
    ]
    if not sum(parts):  # no float is as small
        with pytest.raises(ValueError, match="are never between 0 and"):
            normal(k, mean, spread)
        return
    np.testing.assert_allclose(
        normal(k, mean, spread), np.array(parts) / sum(parts), rtol=1e-9, atol=1e-300
    )  # where floats end


def test_a_spread_that_no_float_divides_by_puts_all_on_one_value():
    assert normal(3, 1.0, 5e-324).tolist() == [0, 1, 0]


def test_drawn_counts_and_users_follow_the_frequencies_and_the_seed():
    f, n, draws = frequencies("zipf", 6, 1.5), 1000, 400
    counts = np.array([drawn(f, n, seed=seed) for seed in range(draws)])
    assert (counts.sum(axis=1) == n).all()
    # Pearson's statistic of all draws: 5 degrees of freedom each, so 2,000 and a standard deviation of 63.2; a false
    # alarm beyond five of them is rarer than 1 in a million.
    pearson = ((counts - n * f) ** 2 / (n * f)).sum()
    assert abs(pearson - 5 * draws) < 5 * np.sqrt(2 * 5 * draws)
    # shares of all users, with the Bonferroni bound of six: 5.2 standard errors
    assert (np.abs(counts.mean(axis=0) - n * f) < 5.2 * np.sqrt(n * f * (1 - f) / draws)).all()
    assert drawn(f, n, seed=3).tolist() == counts[3].tolist()
    assert len({tuple(row) for row in counts.tolist()}) > 300
    counts = np.array([30, 0, 20, 1])
    values = one_per_user(counts)
    assert np.bincount(values, minlength=4).tolist() == counts.tolist()
    assert values.tolist() == one_per_user(counts).tolist() != one_per_user(counts, seed=1).tolist()
    assert values.tolist() != sorted(values.tolist())
