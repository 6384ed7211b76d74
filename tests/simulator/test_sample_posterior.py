"""Populations behind a small sample, against exact formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.populations import frequencies
from simulator.surrogate import sample_posterior
from simulator.surrogate.sample import AROUND_A_CURVE, CONCENTRATIONS, concentration_weights, curve_weights

from .law import stream

SAMPLES = [[3, 0], [1, 1, 1, 1], [5, 0, 0, 0, 0, 1], [12, 9, 11, 8, 10], [40, 3, 1, 0, 0, 0, 0, 0, 0, 0], [2] * 30]


def urn(counts: list[int], alpha: float) -> float:
    """Log-probability of a sequence of users with these counts, drawn one by one from Polya's urn."""
    total, drawn = 0.0, 0
    for count in counts:
        for seen in range(count):
            total += math.log((seen + alpha) / (drawn + len(counts) * alpha))
            drawn += 1
    return total


@pytest.mark.parametrize("counts", SAMPLES)
def test_concentrations_are_weighed_by_likelihood_and_prior(counts: list[int]) -> None:
    logs = np.array([urn(counts, alpha) + math.log(alpha / (1 + alpha) ** 2) for alpha in CONCENTRATIONS])
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(concentration_weights(np.array(counts)), weights / weights.sum(), rtol=1e-8, atol=1e-12)


def test_marginal_likelihood_is_the_integral_over_all_frequencies() -> None:
    """The urn is the Dirichlet-multinomial: for two categories by numerical integration of the beta prior."""
    for alpha in (0.3, 1.0, 7.0):
        value, error = integrate.quad(lambda f, a=alpha: stats.beta.pdf(f, a, a) * f**5 * (1 - f) ** 2, 0, 1)
        assert math.exp(urn([5, 2], alpha)) == pytest.approx(value, abs=10 * error)


@pytest.mark.parametrize("counts", SAMPLES)
def test_draws_are_the_dirichlet_posterior(counts: list[int]) -> None:
    observed, draws = np.array(counts), 20_000
    drawn = sample_posterior(observed, draws, stream("sample", *counts), ordered=False)
    assert drawn.shape == (draws, len(counts))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)
    # Law of total mean and variance over the concentrations.
    chances = concentration_weights(observed)[:, None]
    parts = observed + CONCENTRATIONS[:, None]
    totals = parts.sum(axis=1, keepdims=True)
    means = parts / totals
    mean = (chances * means).sum(axis=0)
    variance = (chances * (means * (1 - means) / (totals + 1) + (means - mean) ** 2)).sum(axis=0)
    # |z| of 6 is a false alarm of 2e-9; all tests here compare 60 means and variances. The sum of 20,000 skewed draws
    # (a beta with a tiny first parameter) is nearly normal where its mean is above 1e-3.
    assert (np.abs(drawn.mean(axis=0) - mean) < 6 * np.sqrt(variance / draws) + 1e-4).all()
    squares = (drawn - mean) ** 2
    assert (np.abs(squares.mean(axis=0) - variance) < 6 * squares.std(axis=0) / draws**0.5 + 1e-5).all()


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 user, got 0"):
        sample_posterior(np.zeros(3, dtype=np.int64), 2, stream("x"), ordered=False)


@pytest.mark.parametrize("ordered", [True, False])
def test_sample_draws_follow_their_stream(ordered: bool) -> None:
    one, same, other = (
        sample_posterior(np.array([3, 1, 0]), 4, stream("sample", name), ordered=ordered) for name in "aab"
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_curves_are_weighed_by_the_likelihood_of_an_urn_that_begins_with_them() -> None:
    counts, curve = [4, 0, 1, 7], np.array([0.2, 0.1, 0.3, 0.4])
    logs = np.zeros(len(AROUND_A_CURVE))
    for place, total in enumerate(AROUND_A_CURVE):
        drawn = 0
        for count, share in zip(counts, curve, strict=True):
            for seen in range(count):
                logs[place] += math.log((seen + total * share) / (drawn + total))
                drawn += 1
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(curve_weights(np.array(counts), curve), weights / weights.sum(), rtol=1e-6)


def distances(shape: np.ndarray, users: int, *, ordered: bool) -> float:
    """Return the mean l1 distance of draws to the truth, over six samples."""
    samples = stream("small", users).multinomial(users, shape, size=6)
    drawn = (sample_posterior(sample, 8, stream("drawn", users), ordered=ordered) for sample in samples)
    return float(np.mean([np.abs(draws - shape).sum(axis=1) for draws in drawn]))


@pytest.mark.parametrize(
    ("name", "users"),
    [
        ("gaussian", 300),
        pytest.param("bimodal", 3000, marks=pytest.mark.slow),
        *(pytest.param("gaussian", 3000, marks=pytest.mark.slow), pytest.param("bimodal", 300, marks=pytest.mark.slow)),
        *(pytest.param(name, n, marks=pytest.mark.slow) for name in ("lognormal", "geometric") for n in (300, 3000)),
    ],
)
def test_a_sample_of_a_smooth_shape_leaves_much_less_open_where_order_counts(name: str, users: int) -> None:
    """It is 0.32 to 0.48 of what it leaves open without, with a standard error of 0.03."""
    shape = frequencies(name, 128)
    assert distances(shape, users, ordered=True) < 0.6 * distances(shape, users, ordered=False)


@pytest.mark.parametrize("users", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_where_order_means_nothing_a_curve_takes_little_away(users: int) -> None:
    """It is 0.96 and 0.97 of what is left open without, with a standard error of 0.03."""
    shape = stream("permuted").permutation(frequencies("zipf", 128))
    assert distances(shape, users, ordered=True) < 1.1 * distances(shape, users, ordered=False)


@pytest.mark.parametrize("counts", [[3, 0], [0, 1, 0], [0] * 40 + [500] + [0] * 40, [1, 0] * 30, [10**9, 1, 0, 0]])
def test_draws_around_curves_are_frequencies(counts: list[int]) -> None:
    drawn = sample_posterior(np.array(counts), 50, stream("edges"), ordered=True)
    assert drawn.shape == (50, len(counts))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)
