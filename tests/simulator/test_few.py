"""Populations of few categories: the posterior against numerical integration of prior times law, on a fine grid."""

from __future__ import annotations

import functools
import math
import statistics

import numpy as np
import pytest
from scipy import special, stats

from simulator import PROTOCOLS, Noise
from simulator.surrogate import known_frequencies
from simulator.surrogate import particles as few
from simulator.surrogate.particles import few_populations
from tests.cells import failures, over

from .law import posterior_z, stream

RUNS = 12


# --- prior -----------------------------------------------------------------------------------------------------


def slow_frequencies(numbers: list[float], k: int) -> list[float]:
    """One candidate, number by number; with an order there are five cosines, each over its number of half waves."""
    scale, share, *waves = numbers[: len(numbers) - k]
    own = numbers[len(numbers) - k :]
    logs = []
    for place in range(k):
        if not waves:
            logs.append(own[place])
            continue
        cosines = [math.cos(math.pi * wave * (place + 0.5) / k) / wave for wave in range(1, 6)]
        variances = [
            math.fsum((math.cos(math.pi * wave * (at + 0.5) / k) / wave) ** 2 for wave in range(1, 6))
            for at in range(k)
        ]
        smooth = math.fsum(one * cosine for one, cosine in zip(waves, cosines, strict=True))
        smooth /= math.sqrt(math.fsum(variances) / k)
        part = statistics.NormalDist().cdf(share)
        logs.append(math.sqrt(part) * smooth + math.sqrt(1 - part) * own[place])
    weights = [math.exp(math.exp(scale) * log) for log in logs]
    return [weight / math.fsum(weights) for weight in weights]


@pytest.mark.parametrize("k", [2, 3, 9])
def test_candidates_are_what_their_numbers_say(k: int) -> None:
    for waves in (0, 5):
        normals = stream("few", k, waves).standard_normal((50, 2 + waves + k))
        expected = [slow_frequencies(row.tolist(), k) for row in normals]
        np.testing.assert_allclose(few._frequencies(normals, k), expected, rtol=1e-9, atol=1e-15)
        # Far beyond the prior, where moves try them before they know that nothing is there, they are frequencies still.
        np.testing.assert_allclose(few._frequencies(30 * normals, k).sum(axis=1), 1, rtol=1e-12)


# --- posterior -------------------------------------------------------------------------------------------------


# Places of frequencies on a fine grid of their logits, as the prior reaches far beyond 1e-100: with how much is theirs
STEPS = np.linspace(-8, 8, 4001)
LOGITS, WIDTHS = np.sinh(STEPS), np.cosh(STEPS)
GRID = special.expit(LOGITS)


@functools.cache
def prior_of_two() -> np.ndarray:
    """Weights of the places of the grid, the scale integrated out."""
    scales = np.exp(np.linspace(-5, 5, 401))
    densities = stats.norm.pdf(LOGITS[:, None] / scales, 0, 2**0.5) / scales
    result: np.ndarray = densities @ stats.norm.pdf(np.log(scales)) * WIDTHS
    return result / result.sum()


def law(protocol: str, noise: Noise, counts: tuple[int, int]) -> np.ndarray:
    """Log-probability of the support counts of two values, given how many of those who took part hold the first one.

    The exact law of the reports: what a count is of those who hold a value, and of the others.
    """
    p, q, n = noise.p, noise.q, noise.n
    assert p is not None
    assert q is not None
    holders = np.arange(n + 1)[:, None]

    def chance(count: int, of: np.ndarray) -> np.ndarray:
        own = np.arange(count + 1)
        each = stats.binom.logpmf(own, of, p) + stats.binom.logpmf(count - own, n - of, q)
        result: np.ndarray = special.logsumexp(each, axis=1)
        return result

    logs = chance(counts[0], holders)
    if protocol != "grr":  # where one count tells the other
        logs = logs + chance(counts[1], n - holders)
    return np.interp(GRID * n, holders[:, 0], logs)


def test_what_cancels_in_the_sum_counts_one_category_less() -> None:
    """As if each one in turn were left out, over all of them: the others say what it is."""
    k, estimate = 5, np.array([0.55, 0.3, 0.1, 0.08, -0.03])
    frequencies = stream("left out").dirichlet(np.full(k, 0.5), 40)
    for cancels in (0.0, 1.0):
        noise = Noise(300, None, None, 1e-3, 0.05, cancels == 1, cancels)
        each = stats.norm.logpdf(estimate, frequencies, (1e-3 + 0.05 * frequencies) ** 0.5)
        expected = np.mean([np.delete(each, place, 1).sum(1) for place in range(k)], 0) if cancels else each.sum(1)
        found = few._log_likelihoods(estimate, noise, frequencies)
        np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9, atol=1e-9)


TWO = [
    ("grr", 1.0, 400, (150, 250)),
    ("grr", 0.5, 1000, (300, 700)),  # below 0
    ("oue", 1.0, 400, (110, 230)),
    ("oue", 0.5, 1000, (300, 400)),  # far below 0
]


@over(TWO[1:3], slow=[TWO[0], TWO[3], ("grr", 2.0, 200, (60, 140)), ("oue", 2.0, 200, (40, 100))])
def test_the_posterior_of_two_categories_is_prior_times_law(protocol, epsilon, n, counts) -> None:
    """Means, squares and shares below three places over runs, whose spread gives the standard error.

    With 11 degrees of freedom |t| of 9 is a false alarm of 2e-6; there are 30 comparisons. The posterior takes the
    noise for Gaussian: with a hundred reports and more that moves shares by no more than 2 %.
    """
    oracle = PROTOCOLS[protocol](2, epsilon)
    estimate, noise = oracle.estimate(np.array(counts), n), oracle.noise(n)
    logs = law(protocol, noise, counts)
    weights = prior_of_two() * np.exp(logs - logs.max())
    weights /= weights.sum()
    places = [float(GRID[np.searchsorted(np.cumsum(weights), share)]) for share in (0.1, 0.5, 0.9)]
    runs = [
        few_populations(estimate, noise, ordered=False, draws=300, rng=stream("two", *counts, run))[:, 0]
        for run in range(RUNS)
    ]
    for of in (lambda f: f, lambda f: f**2, *(lambda f, place=place: f <= place for place in places)):
        means = np.array([of(run).mean() for run in runs])
        error = float(means.std(ddof=1)) / RUNS**0.5
        assert abs(means.mean() - weights @ of(GRID)) < 9 * error + 0.02
        assert error < 0.02
    assert weights.max() < 0.02  # or a step of the grid would hold more than is allowed


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [False, True])
def test_the_posterior_of_three_categories_is_that_of_weighed_candidates(ordered: bool) -> None:
    """Noise that is independent, and noise that cancels in the sum, against 400,000 candidates weighed by the law."""
    k, n, candidates = 3, 300, 400_000
    normals = stream("weighed few", ordered).standard_normal((candidates, 2 + 5 * ordered + k))
    frequencies = few._frequencies(normals, k)

    def check(cancels: bool) -> None:
        slope = 0.0 if cancels else 2e-3
        noise = Noise(n, None, None, 4e-3, slope, cancels)
        estimate = np.array([0.6, 0.25, 0.15 if cancels else 0.1])
        if cancels:  # two of three say all
            covariance = 4e-3 * (1.5 * np.eye(k) - 0.5)[:2, :2]
            logs = stats.multivariate_normal.logpdf(frequencies[:, :2], estimate[:2], covariance)
        else:
            variance = 4e-3 + slope * frequencies
            logs = stats.norm.logpdf(estimate, frequencies, variance**0.5).sum(axis=1)
        weights = np.exp(logs - logs.max())
        runs = [
            few_populations(estimate, noise, ordered=ordered, draws=200, rng=stream("three", cancels, run))
            for run in range(30)
        ]
        # 24 comparisons in all: six standard errors (29 degrees of freedom) are a false alarm of 6e-5.
        assert posterior_z(runs, frequencies, weights / weights.sum()).max() < 6

    assert failures([False, True], check) == {}


# --- what is stated of an error --------------------------------------------------------------------------------


def stated(estimate: np.ndarray, noise: Noise) -> float:
    """Mean l1 error of the estimate as it is, over what may be the truth."""
    return float(np.abs(estimate - known_frequencies(estimate, noise, ordered=False, seed=0)).sum(axis=1).mean())


def test_a_survey_of_yes_and_no_states_the_error_that_its_noise_makes() -> None:
    """Not half of it: the closed form is that of a Gaussian."""
    oracle, n = PROTOCOLS["grr"](2, math.log(5)), 2435
    estimate, noise = oracle.estimate(np.array([831, n - 831]), n), oracle.noise(n)
    assert estimate[0] == pytest.approx(0.2619, abs=1e-4)
    closed = 2 * math.sqrt(2 / math.pi) * math.sqrt(float(noise.entry(estimate)[0]))
    # A mean absolute deviation of 240 draws is known to 5 %: three of these.
    assert stated(estimate, noise) == pytest.approx(closed, rel=0.15)


def test_a_large_budget_leaves_no_more_error_than_its_noise_makes() -> None:
    """At ε = 5 nearly all answers are as they are: what is unknown are the few that were changed."""
    oracle, n = PROTOCOLS["grr"](2, 5.0), 2435
    counts = np.array([633, n - 633])
    support = oracle.sample_support(np.tile(counts, (500, 1)), stream("large budget"))
    estimates = oracle.estimate(support, n)
    real = float(np.abs(estimates - counts / n).sum(axis=1).mean())
    assert np.mean([stated(row, oracle.noise(n)) for row in estimates[:4]]) < 1.5 * real
