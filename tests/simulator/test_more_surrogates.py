"""Populations of plateaus and of distributions of few parameters, against slow references that share no code."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import integrate, stats

from simulator import Noise
from simulator.methods.empirical_bayes import mixture_model
from simulator.populations import frequencies
from simulator.surrogate import plateaus, spreads
from simulator.surrogate.mixture import mixture_posterior
from simulator.surrogate.plateaus import plateau_posterior
from simulator.surrogate.posterior import resampled
from simulator.surrogate.spreads import spread_posterior
from simulator.surrogate.wavelet import wavelet_posterior

from .law import even_noise, stream

# --- plateaus --------------------------------------------------------------------------------------------------


def normal(x: float, mean: float, sd: float) -> float:
    return math.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))


def piece_likelihood(estimate: np.ndarray, sd: float, k: int) -> float:
    """Likelihood of one piece, heights integrated out number by number."""

    def at(height: float) -> float:
        return math.prod(normal(one, height / k, sd) for one in estimate.tolist())

    total = plateaus.EMPTY * at(0.0)
    for spread in plateaus.SPREADS:
        inside = 1 - stats.norm.cdf(0, 1, spread)
        density = integrate.quad(
            lambda h, s=spread, i=inside: at(h) * normal(h, 1, s) / i, 0, 12, points=[0.5, 1, 2, 4], limit=400
        )
        total += (1 - plateaus.EMPTY) / len(plateaus.SPREADS) * density[0]
    return total


@pytest.mark.parametrize(
    "estimate",
    [
        (0.3, 0.28, 0.05, 0.37),
        pytest.param((0.9, -0.1, 0.02, 0.1), marks=pytest.mark.slow),
        pytest.param((0.25, 0.25, 0.25, 0.25), marks=pytest.mark.slow),
    ],
)
def test_evidence_of_plateaus_sums_over_all_ways_to_cut(estimate: tuple[float, ...]) -> None:
    x, sd, k = np.array(estimate), 0.08, 4
    chances = sorted({min(pieces / k, 0.5) for pieces in plateaus.PIECES})
    likelihood_of = cache(lambda first, end: piece_likelihood(x[first:end], sd, k))
    total = 0.0
    for jumps in itertools.product((False, True), repeat=k - 1):
        ends = [0, *(place + 1 for place, jump in enumerate(jumps) if jump), k]
        likelihood = math.prod(itertools.starmap(likelihood_of, itertools.pairwise(ends)))
        prior = np.mean([chance ** sum(jumps) * (1 - chance) ** (k - 1 - sum(jumps)) for chance in chances])
        total += float(prior) * likelihood
    expected = math.log(total / stats.norm.pdf(x, 1 / k, sd).prod())
    found = plateau_posterior(x, even_noise(sd), 3, stream("cuts")).evidence
    assert found == pytest.approx(expected, abs=1e-5)  # quad's own error


def test_evidence_of_plateaus_counts_the_noise_of_high_frequencies() -> None:
    """One value holds nearly all: under noise that grows with the frequency its likelihood is that of its own noise."""
    noise = Noise(10**4, 0.5, 0.25, 1e-4, 9e-4, False)
    x = np.array([0.9, 0.04, 0.05, 0.01])
    variance = 1e-4 + 9e-4 * x
    same = np.array([0.9, 0.04, 0.05, 0.01])
    found = plateau_posterior(x, noise, 3, stream("high")).evidence
    # Every piece alone with the height that it shows is likelier than the sum over heights, and not by far.
    best = stats.norm.logpdf(x, same, variance**0.5).sum() - stats.norm.logpdf(x, 0.25, (1e-4 + 9e-4 / 4) ** 0.5).sum()
    assert best - 20 < found < best


@pytest.mark.parametrize(("at", "sd"), [(0.5, 0.2), (-0.1, 0.05), (-0.6, 0.05), (3.0, 0.5)])
def test_heights_are_drawn_from_their_posterior(at: float, sd: float) -> None:
    """The mean of 2,000 draws against integration; |z| of 5 in four comparisons is a false alarm of 2e-6."""
    k, width = 8, 3
    estimate, share = np.full(width, at / k), np.full(width, 1 / k)
    segments = plateaus._Segments(estimate, np.full(width, (sd / k) ** 2), share)
    rng = stream("heights", at)
    drawn = np.array([segments.height(0, width, rng) for _ in range(2000)])
    assert (drawn >= 0).all()

    def density(height: np.ndarray) -> np.ndarray:
        prior = sum(stats.norm.pdf(height, 1, s) / (1 - stats.norm.cdf(0, 1, s)) for s in plateaus.SPREADS) * (
            (1 - plateaus.EMPTY) / len(plateaus.SPREADS)
        )
        logs = -width * (at - height) ** 2 / (2 * sd**2)
        return np.asarray(prior * np.exp(logs + width * min(at, 0.0) ** 2 / (2 * sd**2)))

    grid = np.concatenate([np.linspace(0, 0.5, 20_001), np.linspace(0.5, 8, 20_001)[1:]])
    weights = density(grid)
    empty = plateaus.EMPTY * math.exp(-width * at**2 / (2 * sd**2) + width * min(at, 0.0) ** 2 / (2 * sd**2))
    mean = integrate.trapezoid(weights * grid, grid) / (integrate.trapezoid(weights, grid) + empty)
    assert abs(drawn.mean() - mean) < 5 * drawn.std(ddof=1) / 2000**0.5 + 1e-6


def test_a_box_is_seen_as_plateaus() -> None:
    """A smooth curve's draws free a coefficient on every scale of both jumps, those of plateaus three heights."""
    k = 64
    box = np.where((np.arange(k) >= 27) & (np.arange(k) < 37), 8.0, 1.0)
    truth, sd, gaps = box / box.sum(), 0.05 / k, []
    for seed in range(10):
        rng = stream("box", seed)
        estimate = truth + rng.normal(0, sd, k)
        near, far = (
            float(np.linalg.norm(posterior(estimate, even_noise(sd), 20, rng).populations - truth, axis=1).mean())
            for posterior in (plateau_posterior, wavelet_posterior)
        )
        gaps.append(math.log(near / far))
    # A t test of ten collections, at a false alarm of 1e-4 were the two as far from it.
    assert np.mean(gaps) < -5.7 * np.std(gaps, ddof=1) / len(gaps) ** 0.5


def test_long_domains_are_cut_into_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plateaus, "BLOCKS", 8)
    drawn = plateau_posterior(frequencies("geometric", 20), even_noise(1e-3), 4, stream("blocks")).populations
    assert drawn.shape == (4, 20)
    ends = np.linspace(0, 20, 9).round().astype(int)
    for start, end in itertools.pairwise(ends):
        assert np.ptp(drawn[:, start:end], axis=1).max() == 0


# --- distributions of few parameters ---------------------------------------------------------------------------


def test_candidates_have_mean_one_and_are_of_every_kind() -> None:
    values = spreads._candidates(64, 256, stream("candidates"))
    assert values.shape == (spreads.CANDIDATES, 64)
    assert (values >= 0).all()
    np.testing.assert_allclose(values.mean(axis=1), 1, rtol=1e-9)
    assert (np.ptp(values, axis=1) < 0.5).sum() > 20
    assert (values.max(axis=1) > 20).sum() > 20
    assert ((values == 0).mean(axis=1) > 0.5).sum() > 20


@pytest.mark.slow
@pytest.mark.parametrize("concentration", [0.3, 3.0])
def test_few_parameters_are_seen_under_more_noise(concentration: float) -> None:
    """A gamma distribution: the draws are no farther from the truth than those of a fitted mixture, on average.

    Where both see as much the ratio is 1; the mean of eight has a standard error of about 2 %.
    """
    k, sd, gaps = 64, 1.0 / 64, []
    for seed in range(8):
        rng = stream("gamma", seed, concentration)
        truth = rng.dirichlet(np.full(k, concentration))
        estimate = truth + rng.normal(0, sd, k)
        near, far = (
            float(np.linalg.norm(posterior(estimate, even_noise(sd), 40, rng).populations.mean(axis=0) - truth))
            for posterior in (spread_posterior, mixture_posterior)
        )
        gaps.append(near / far)
    assert np.mean(gaps) < 1.05


def test_evidence_tells_few_classes_from_a_wide_spread() -> None:
    """Estimates of one value for all have no evidence for a spread; those of a wide one have much."""
    k, rng = 128, stream("wide")
    sd = 0.5 / k
    same = spread_posterior(1 / k + rng.normal(0, sd, k), even_noise(sd), 5, rng).evidence
    wide = spread_posterior(rng.dirichlet(np.full(k, 0.5)) + rng.normal(0, sd, k), even_noise(sd), 5, rng).evidence
    assert same < 2
    assert wide > 20


def test_high_estimates_are_left_as_free_as_their_noise() -> None:
    sd = 1e-3
    truth = np.concatenate([[0.5, 0.3], np.full(30, 0.2 / 30)])
    drawn = spread_posterior(truth, even_noise(sd), 60, stream("free")).populations
    # 60 draws of two values, at |z| of 5.
    assert (np.abs(drawn[:, :2] - truth[:2]) < 5 * sd).all()
    assert drawn[:, 0].std() > sd / 2


@pytest.mark.parametrize("sd", [1e-4, 1e-3, 0.02, 3.0])
def test_every_value_of_a_candidate_has_its_share(sd: float) -> None:
    """Also where equal frequencies are far above the noise, or more than all are below it."""
    k, noise = 32, even_noise(sd)
    _, atoms, _ = mixture_model(k, noise.variance_at_zero, noise.variance_slope)
    tops = 20 * sd * spreads.GROWTH ** np.arange(60)
    values = np.array([[0.0, 0.25 * sd, 5 * sd, 25 * sd], [1 / k, 1 / k, 1 / k, 1 / k]])
    shares = spreads._shares(values, atoms, tops) - np.concatenate(
        [np.zeros(len(atoms)), np.full(len(tops), spreads.RARE / len(tops))]
    )
    np.testing.assert_allclose(shares.sum(axis=1), 1 - spreads.RARE, rtol=1e-9)
    for row, own in zip(shares, values, strict=True):
        expected = np.zeros(len(row))
        for value in own:
            if value < 20 * sd:
                expected[np.abs(np.where(atoms <= 20 * sd, atoms, np.inf) - value).argmin()] += 1
            else:
                expected[len(atoms) + int(math.log(value / (20 * sd), spreads.GROWTH))] += 1
        np.testing.assert_allclose(row, (1 - spreads.RARE) * expected / len(own), atol=1e-12)
    estimate = frequencies("zipf", k) + stream("finite", sd).normal(0, sd, k)
    found = spread_posterior(estimate, noise, 5, stream("finite"))
    assert math.isfinite(found.evidence)
    assert np.isfinite(found.populations).all()


# --- shares of the models --------------------------------------------------------------------------------------


def test_resampling_takes_each_as_often_as_its_weight() -> None:
    logs = np.log(np.array([0.5, 0.25, 0.2, 0.05])) - 1000
    taken = np.bincount(resampled(logs, 60, stream("resampled")), minlength=4)
    np.testing.assert_array_less(np.abs(taken - np.array([30, 15, 12, 3])), 1.001)
    assert taken.sum() == 60
    one = resampled(np.array([0.0, -np.inf, -5000.0]), 9, stream("resampled", 1))
    np.testing.assert_array_equal(one, np.zeros(9))
    order = resampled(np.zeros(500), 500, stream("resampled", 2))
    assert sorted(order) == list(range(500))
    assert list(order) != list(range(500))
