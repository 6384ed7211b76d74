"""Draws from a posterior by steps, against closed forms of a Gaussian one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simulator.surrogate import particles
from simulator.surrogate.particles import LogLikelihoods

from .law import stream

RUNS, ROWS = 25, 120


def gaussian(seen: np.ndarray, sd: float) -> LogLikelihoods:
    """Likelihood of numbers that were seen with Gaussian noise."""
    return lambda tried: stats.norm.logpdf(seen, tried, sd).sum(axis=tuple(range(1, tried.ndim)))


@pytest.mark.parametrize(
    ("seen", "sd"),
    [
        ((0.8, -0.3), 2.0),  # a single step
        ((1.5, -0.7, 0.2), 0.1),
        pytest.param(((2.0, -1.0), (0.3, 0.0)), 0.3, marks=pytest.mark.slow),
        pytest.param((2.5,), 0.005, marks=pytest.mark.slow),
    ],
)
def test_mean_spread_and_evidence_are_those_of_the_conjugate_posterior(seen: tuple[float, ...], sd: float) -> None:
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


def test_numbers_that_depend_on_each_other_are_drawn_together() -> None:
    """Only their sum is seen: its posterior is narrow, and that of the difference is the prior."""
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


def test_where_nothing_is_seen_the_draws_are_the_prior_and_have_no_evidence() -> None:
    drawn, evidence = particles.particles((3,), lambda tried: np.zeros(len(tried)), 2000, stream("nothing"))
    assert evidence == 0
    # Moves keep to the prior, and leave the candidates nearly independent; |z| of 5 in six comparisons
    assert (np.abs(drawn.mean(axis=0)) < 5 / 2000**0.5).all()
    assert (np.abs(drawn.std(axis=0) - 1) < 5 / 4000**0.5).all()


def test_a_step_leaves_half_of_the_candidates_in_effect_or_is_all_that_is_left() -> None:
    logs = stream("steps").normal(0, 30, 400)
    step = particles._step(logs, 1.0, 200)
    weights = np.exp(step * (logs - logs.max()))
    assert weights.sum() ** 2 / (weights**2).sum() == pytest.approx(200, rel=1e-6)
    assert particles._step(logs, step / 2, 200) == step / 2
    assert particles._step(np.zeros(400), 0.7, 200) == 0.7


def test_draws_follow_their_stream() -> None:
    one, same, other = (
        particles.particles((2,), gaussian(np.array([1.0, 0.0]), 0.2), 9, stream("follow", name))[0] for name in "aab"
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
