import math

import numpy as np
import pytest
from scipy import stats

from simulator.populations import frequencies
from simulator.surrogate import particles, sample_posterior
from simulator.surrogate.sample import AROUND_A_CURVE, CONCENTRATIONS, concentration_weights, curve_weights
from tests.cells import over

from .law import stream

SAMPLES = [[3, 0], [1, 1, 1, 1], [5, 0, 0, 0, 0, 1], [12, 9, 11, 8, 10], [40, 3, 1, 0, 0, 0, 0, 0, 0, 0], [2] * 30]


def urn(counts, begins):
    """Log-probability of a sequence of users with these counts, drawn one by one from Polya's urn."""
    total, drawn = 0.0, sum(begins)
    for count, begin in zip(counts, begins, strict=True):
        for seen in range(count):
            total += math.log((seen + begin) / drawn)
            drawn += 1
    return total


@pytest.mark.parametrize("counts", SAMPLES)
def test_concentrations_are_weighed_by_likelihood_and_prior(counts):
    k = len(counts)
    logs = np.array([urn(counts, [alpha] * k) + math.log(alpha / (1 + alpha) ** 2) for alpha in CONCENTRATIONS])
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(concentration_weights(np.array(counts)), weights / weights.sum(), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("counts", SAMPLES)
def test_draws_are_the_dirichlet_posterior(counts):
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


def test_an_empty_sample_is_refused():
    with pytest.raises(ValueError, match="at least 1 user, got 0"):
        sample_posterior(np.zeros(3, dtype=np.int64), 2, stream("x"), ordered=False)


def test_curves_are_weighed_by_the_likelihood_of_an_urn_that_begins_with_them():
    counts, curve = [4, 0, 1, 7], np.array([0.2, 0.1, 0.3, 0.4])
    logs = np.array([urn(counts, total * curve) for total in AROUND_A_CURVE])
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(curve_weights(np.array(counts), curve), weights / weights.sum(), rtol=1e-6)


def distances(shape, users, *, ordered):
    """Return the mean l1 distance of draws to the truth, over six samples."""
    samples = stream("small", users).multinomial(users, shape, size=6)
    drawn = (sample_posterior(sample, 8, stream("drawn", users), ordered=ordered) for sample in samples)
    return float(np.mean([np.abs(draws - shape).sum(axis=1) for draws in drawn]))


def test_a_sample_leaves_much_less_open_where_order_counts_and_little_less_where_it_means_nothing():
    """It is 0.32 to 0.48 of what it leaves open without, or 0.96, with a standard error of 0.03."""
    for shape, most in (
        (frequencies("gaussian", 128), 0.6),
        (stream("permuted").permutation(frequencies("zipf", 128)), 1.1),
    ):
        assert distances(shape, 300, ordered=True) < most * distances(shape, 300, ordered=False)


@pytest.mark.parametrize("counts", [[3, 0], [0, 1, 0], [0] * 40 + [500] + [0] * 40, [1, 0] * 30, [10**9, 1, 0, 0]])
def test_draws_around_curves_are_frequencies(counts):
    drawn = sample_posterior(np.array(counts), 50, stream("edges"), ordered=True)
    assert drawn.shape == (50, len(counts))
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-12)


RUNS, ROWS = 25, 120


def gaussian(seen, sd):
    """Likelihood of numbers that were seen with Gaussian noise."""
    return lambda tried: stats.norm.logpdf(seen, tried, sd).sum(axis=tuple(range(1, tried.ndim)))


@over(
    [((0.8, -0.3), 2.0), ((1.5, -0.7, 0.2), 0.1)],  # the first takes a single step
    slow=[(((2.0, -1.0), (0.3, 0.0)), 0.3), ((2.5,), 0.005)],
)
def test_mean_spread_and_evidence_are_those_of_the_conjugate_posterior(seen, sd):
    """Standard errors are those over independent runs, the candidates of one run being copies of each other in part.

    With 24 degrees of freedom |t| of 6 is a false alarm of 3e-6; there are at most 9 comparisons.
    """
    values = np.array(seen)
    runs = [
        particles.particles(values.shape, gaussian(values, sd), ROWS, stream("conjugate", sd, run))
        for run in range(RUNS)
    ]
    share = 1 / (1 + sd**2)
    draws = np.stack([drawn for drawn, _ in runs])
    assert draws.shape == (RUNS, ROWS, *values.shape)
    centred = draws - share * values
    for power, expected in ((1, 0.0), (2, share * sd**2)):
        means = (centred**power).mean(axis=1)
        error = means.std(axis=0, ddof=1) / RUNS**0.5
        np.testing.assert_array_less(np.abs(means.mean(axis=0) - expected), 6 * error)
        assert (error < 0.1 * (share * sd**2) ** (power / 2)).all()  # or the bound would mean nothing
    # The mean of the estimated evidences, not of their logarithms, is right (Del Moral, Doucet, Jasra, 2006).
    expected_log = stats.norm.logpdf(values, 0, (1 + sd**2) ** 0.5).sum()
    ratios = np.exp(np.array([evidence for _, evidence in runs]) - expected_log)
    error = float(ratios.std(ddof=1)) / RUNS**0.5
    assert abs(ratios.mean() - 1) < 6 * error
    assert error < 0.1


def test_numbers_that_depend_on_each_other_are_drawn_together():
    runs = [
        particles.particles(
            (2,), lambda tried: stats.norm.logpdf(1.0, tried.sum(axis=1), 0.05), ROWS, stream("together", run)
        )[0]
        for run in range(RUNS)
    ]
    for sign, mean, variance in ((1, 2 / (2 + 0.05**2), 2 * 0.05**2 / (2 + 0.05**2)), (-1, 0.0, 2.0)):
        values = np.stack(runs) @ np.array([1, sign])
        for power, expected in ((1, 0.0), (2, variance)):
            means = ((values - mean) ** power).mean(axis=1)
            assert abs(means.mean() - expected) < 6 * means.std(ddof=1) / RUNS**0.5


def test_where_nothing_is_seen_the_draws_are_the_prior_and_have_no_evidence():
    drawn, evidence = particles.particles((3,), lambda tried: np.zeros(len(tried)), 2000, stream("nothing"))
    assert evidence == 0
    # Moves keep to the prior, and leave the candidates nearly independent; |z| of 5 in six comparisons
    assert (np.abs(drawn.mean(axis=0)) < 5 / 2000**0.5).all()
    assert (np.abs(drawn.std(axis=0) - 1) < 5 / 4000**0.5).all()


def test_a_step_leaves_half_of_the_candidates_in_effect_or_is_all_that_is_left():
    logs = stream("steps").normal(0, 30, 400)
    step = particles._step(logs, 1.0, 200)
    weights = np.exp(step * (logs - logs.max()))
    assert weights.sum() ** 2 / (weights**2).sum() == pytest.approx(200, rel=1e-6)
    assert particles._step(logs, step / 2, 200) == step / 2
    assert particles._step(np.zeros(400), 0.7, 200) == 0.7
