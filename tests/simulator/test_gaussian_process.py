"""Populations that are a smooth curve of any form, against the Gaussian process of all categories at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import stats

from simulator.surrogate import Posterior, gaussian_process
from simulator.surrogate.curves import curve_posterior
from simulator.surrogate.gaussian_process import gaussian_process_posterior
from simulator.surrogate.levels import level_posterior
from simulator.surrogate.plateaus import plateau_posterior
from simulator.surrogate.wavelet import wavelet_posterior

from .law import even_noise, stream


@cache
def covariances(k: int) -> list[np.ndarray]:
    """Covariance ``(k, k)`` of every process, over the variance of the noise, summed wave by wave."""
    found = []
    lengths = [2 * (max((k - 1) / 2, 2) / 2) ** (step / 13) for step in range(14)]
    for amplitude in [0.1 * 10 ** (7 * step / 35) for step in range(36)]:
        for fall in (lambda q: math.exp(-(q**2) / 2), lambda q: (1 + q**2) ** -2, lambda q: (1 + q**2) ** -1):
            for length in lengths:
                total = np.zeros((k, k))
                for wave in range(1, k):
                    cosine = [math.sqrt(2 / k) * math.cos(math.pi * wave * (place + 0.5) / k) for place in range(k)]
                    total += amplitude * fall(wave / length) * np.outer(cosine, cosine)
                found.append(total)
    return found


def by_all_at_once(x: np.ndarray, sd: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Evidence, and mean and covariance of the posterior, by matrices of all categories."""
    k = len(x)
    even, one = np.full(k, 1 / k), np.eye(k)
    against = stats.multivariate_normal.logpdf(x, even, sd**2 * one)
    known = covariances(k)
    likelihoods = np.array(
        [math.exp(stats.multivariate_normal.logpdf(x, even, sd**2 * (one + own)) - against) for own in known]
    )
    weights = likelihoods / likelihoods.sum()
    mean, second = np.zeros(k), np.zeros((k, k))
    for weight, own in zip(weights, known, strict=True):
        gain = own @ np.linalg.inv(one + own)
        centre = even + gain @ (x - even)
        mean += weight * centre
        second += weight * (sd**2 * gain + np.outer(centre, centre))
    return math.log(likelihoods.mean()), mean, second - np.outer(mean, mean)


@pytest.mark.parametrize(
    "estimate",
    [
        (0.1, 0.3, 0.35, 0.2, 0.08),
        (0.9, -0.1, 0.02, 0.1, 0.0),
        pytest.param((0.2, 0.21, 0.19, 0.2, 0.2), marks=pytest.mark.slow),
    ],
)
def test_evidence_and_draws_are_those_of_the_process_of_all_categories_at_once(estimate: tuple[float, ...]) -> None:
    """Of 20,000 draws; |z| of 5.5 in 30 comparisons is a false alarm of 1e-6."""
    x, sd, draws = np.array(estimate), 0.06, 20_000
    evidence, mean, covariance = by_all_at_once(x, sd)
    found = gaussian_process_posterior(x, even_noise(sd), draws, stream("process", *estimate))
    assert found.evidence == pytest.approx(evidence, abs=1e-9)
    centred = found.populations - mean
    np.testing.assert_array_less(np.abs(centred.mean(axis=0)), 5.5 * found.populations.std(axis=0) / draws**0.5)
    products = centred[:, :, None] * centred[:, None, :]
    np.testing.assert_array_less(np.abs(products.mean(axis=0) - covariance), 5.5 * products.std(axis=0) / draws**0.5)
    np.testing.assert_allclose(found.populations.sum(axis=1), 1, atol=1e-12)


def test_evidence_is_a_ratio_of_likelihoods() -> None:
    """Its exponential has a mean of 1 under even frequencies: it is above 1/a with a probability of at most a (Markov).

    Of 100, 10 may be above 10: more than 26 are a false alarm of 2e-6 even if all of that bound is used.
    """
    k, sd = 32, 0.01
    rng = stream("even")
    found = [
        gaussian_process_posterior(1 / k + rng.normal(0, sd, k), even_noise(sd), 1, rng).evidence for _ in range(100)
    ]
    assert sum(one > math.log(10) for one in found) <= 26
    hill = np.exp(-(((np.arange(k) - 12) / 4) ** 2) / 2)
    assert gaussian_process_posterior(hill / hill.sum(), even_noise(sd), 1, rng).evidence > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "others",
    [
        (wavelet_posterior, plateau_posterior, level_posterior),
        pytest.param((curve_posterior,), marks=pytest.mark.slow),
    ],
    ids=["fast", "curves"],
)
def test_many_hills_are_seen_as_a_smooth_curve(others: tuple[Callable[..., Posterior], ...]) -> None:
    """Six bells are more than a sum of three curves can say, and no steps: draws are nearer to them than of others."""
    k, sd = 64, 0.2 / 64
    distances = []
    for seed in range(10):
        rng = stream("hills", seed)
        centres = (np.arange(6) + rng.random(6)) / 6
        bells = np.exp(-(((np.arange(k) / k - centres[:, None]) / 0.04) ** 2) / 2) * rng.uniform(0.3, 2, (6, 1))
        truth = 0.02 + bells.sum(axis=0)
        truth /= truth.sum()
        estimate = truth + rng.normal(0, sd, k)
        drawn = [
            model(estimate, even_noise(sd), 20, rng).populations for model in (gaussian_process_posterior, *others)
        ]
        distances.append([np.linalg.norm(populations - truth, axis=1).mean() for populations in drawn])
    logs = np.log(distances)
    gaps = logs[:, :1] - logs[:, 1:]
    # A t test of ten collections for each model, at a false alarm of 1e-4 were the two as far from the truth.
    np.testing.assert_array_less(gaps.mean(axis=0), -5.7 * gaps.std(axis=0, ddof=1) / 10**0.5)


def test_long_domains_have_no_more_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_process, "WAVES", 8)
    k = 40
    estimate = 1 / k + stream("long").normal(0, 0.05, k)
    drawn = gaussian_process_posterior(estimate, even_noise(0.01), 6, stream("long", 1)).populations
    cosines = np.cos(np.pi * np.arange(k)[:, None] * (np.arange(k) + 0.5) / k)
    waves = drawn @ cosines.T
    np.testing.assert_allclose(waves[:, 9:], 0, atol=1e-12)
    assert (np.abs(waves[:, 1:9]) > 1e-6).all()
