"""Populations behind a small sample, against exact formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.surrogate import sample_posterior
from simulator.surrogate.sample import CONCENTRATIONS, concentration_weights

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
    drawn = sample_posterior(observed, draws, stream("sample", *counts))
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
        sample_posterior(np.zeros(3, dtype=np.int64), 2, stream("x"))


def test_sample_draws_follow_their_stream() -> None:
    one, same, other = (sample_posterior(np.array([3, 1, 0]), 4, stream("sample", name)) for name in "aab")
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
