import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator import Noise
from simulator.methods.empirical_bayes import BIN, mixture_model
from simulator.surrogate import families
from simulator.surrogate.families import family_posterior

from .law import even_noise, stream

SIZES = [12, 7, 27, 192]  # of gamma distributions, log-normal ones, laws of ranks, and two levels
KINDS = ["gamma", "log-normal", "ranks", "levels"]


def of_kind(k, kind):
    start = sum(SIZES[: KINDS.index(kind)])
    return families._distributions(k)[start : start + SIZES[KINDS.index(kind)]]


def test_each_distribution_has_mean_one_and_each_kind_is_as_frequent():
    found = families._distributions(100)
    assert len(found) == sum(SIZES)
    for values, shares, _ in found:
        assert (values > 0).all()
        assert (values @ shares, shares.sum()) == pytest.approx((1, 1), rel=1e-9)
    for kind in KINDS:
        assert math.fsum(often for _, _, often in of_kind(100, kind)) == pytest.approx(1)


def test_gamma_and_log_normal_distributions_are_cut_into_parts_of_one_probability():
    for shape, (values, shares, _) in zip(families.GAMMA, of_kind(64, "gamma"), strict=True):
        assert np.ptp(shares) == 0
        for at in (0.3, 1.0, 3.0):
            expected = stats.gamma.cdf(at, shape, scale=1 / shape)
            assert (values <= at).mean() == pytest.approx(expected, abs=2e-3)
    for width, (values, shares, _) in zip(families.LOG_NORMAL, of_kind(64, "log-normal"), strict=True):
        assert np.ptp(shares) == 0
        ratio = np.quantile(values, 0.8) / np.quantile(values, 0.3)
        expected = math.exp(width * (stats.norm.ppf(0.8) - stats.norm.ppf(0.3)))
        assert ratio == pytest.approx(expected, rel=1e-2)


def test_laws_of_ranks_and_levels_are_what_their_parameters_say():
    k = 8  # so few that each rank stands for itself
    laws = itertools.product(families.RANKS, families.SCATTER)
    for (power, width), (values, shares, _) in zip(laws, of_kind(k, "ranks"), strict=True):
        parts = [(part + 0.5) / families.BODY for part in range(families.BODY)]
        scatter = [math.exp(width * stats.norm.ppf(part)) for part in parts]
        expected = np.array([rank**-power * by for rank in range(1, k + 1) for by in scatter])
        np.testing.assert_allclose(values, expected / expected.mean(), rtol=1e-9)
        np.testing.assert_allclose(shares, 1 / (k * families.BODY))
    levels = itertools.product(families.HEIGHTS, families.HIGH)
    for (ratio, high), (values, shares, _) in zip(levels, of_kind(k, "levels"), strict=True):
        assert values[1] / values[0] == pytest.approx(ratio)
        np.testing.assert_allclose(shares, [1 - high, high])


def test_long_domains_have_blocks_of_ranks():
    k = 50_000
    values, shares, _ = of_kind(k, "ranks")[families.RANKS.index(1.1) * len(families.SCATTER)]
    assert len(values) < families.POINTS * families.BODY
    exact = 1 / np.arange(1, k + 1) ** 1.1
    middle = values.reshape(-1, families.BODY)[:, families.BODY // 2]
    np.testing.assert_allclose(middle[:5], (exact / exact.mean())[:5], rtol=5e-3)
    assert shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("sd", [1e-4, 1e-3, 0.03, 3.0])
def test_every_value_has_its_share(monkeypatch, sd):
    k, noise = 32, even_noise(sd)
    _, atoms, _ = mixture_model(k, noise.variance_at_zero, noise.variance_slope)
    tops = 20 * sd * families.GROWTH ** np.arange(60)
    values = [np.array([0.25 * sd, 5 * sd, 25 * sd]) * k, np.array([1.0, 1.0, 1.0])]
    times = np.array([0.5, 0.2, 0.3])
    monkeypatch.setattr(families, "_distributions", lambda _: [(one, times, 1.0) for one in values])
    found = families._shares(k, atoms, tops)
    assert len(found) == 2 * len(families.EMPTY)
    for row, (own, empty) in zip(found, itertools.product(values, families.EMPTY), strict=True):
        expected = np.zeros(len(row))
        expected[0] += empty
        for value, often in zip(own / k / (1 - empty), times, strict=True):
            if value < 20 * sd:
                near = np.where(atoms <= 20 * sd, atoms, np.inf)
                expected[np.abs(near - value).argmin()] += (1 - empty) * often
            else:
                expected[len(atoms) + int(math.log(value / (20 * sd), families.GROWTH))] += (1 - empty) * often
        expected *= 1 - families.RARE
        expected[len(atoms) :] += families.RARE / len(tops)
        np.testing.assert_allclose(row, expected, atol=1e-12)


def likelihoods(estimate, noise):
    """Likelihood of the estimates under each distribution and share of empty categories, over that of equal ones."""
    k = len(estimate)
    alike = stats.norm.pdf(estimate, 1 / k, (noise.variance_at_zero + noise.variance_slope / k) ** 0.5)
    found = []
    for values, shares, _ in families._distributions(k):
        for empty in families.EMPTY:
            places = np.append(values / (k * (1 - empty)), 0.0)
            weights = np.append(shares * (1 - empty), empty)
            sd = np.sqrt(noise.variance_at_zero + noise.variance_slope * places)
            each = stats.norm.pdf(estimate[:, None], places, sd) @ weights
            found.append(float(np.prod(each / alike)))
    return np.array(found)


@pytest.mark.parametrize("slope", [2.0, pytest.param(0.0, marks=pytest.mark.slow)])
def test_evidence_is_the_mean_likelihood_of_all_distributions(slope):
    """Each kind is as frequent. The estimates are at the middle of their bins; frequencies stand on atoms a quarter of
    the noise apart, which is some thousandths of a nat for each of ten categories, one way or the other.
    """
    k, sd = 10, 0.06
    noise = Noise(10**4, 0.5, 0.25, sd**2, slope * sd**2, False)
    for seed in range(4):
        estimate = stream("evidence of families", seed).dirichlet(np.full(k, 0.5))
        estimate += stream("noise of families", seed).normal(0, sd, k)
        estimate = (np.floor(estimate / sd / BIN) + 0.5) * BIN * sd
        assert estimate.max() < 12 * sd  # above 20 they are free, and near it the atoms end
        often = np.repeat(np.repeat([1 / size for size in SIZES], SIZES), len(families.EMPTY))
        expected = math.log(float(likelihoods(estimate, noise) @ often) / (4 * len(families.EMPTY)))
        assert family_posterior(estimate, noise, 3, stream("x")).evidence == pytest.approx(expected, abs=0.05)


def test_draws_are_those_of_each_category_under_the_distribution(monkeypatch):
    k, sd, draws = 6, 0.04, 6000
    values, shares, _ = of_kind(k, "log-normal")[3]
    monkeypatch.setattr(families, "_distributions", lambda _: [(values, shares, 1.0)])
    monkeypatch.setattr(families, "EMPTY", (0.0,))
    estimate = np.array([-0.05, 0.02, 0.1, 0.17, 0.3, 0.46])
    drawn = family_posterior(estimate, even_noise(sd), draws, stream("each")).populations
    assert drawn.shape == (draws, k)
    for place, seen in enumerate(estimate):
        weights = stats.norm.pdf(seen, values / k, sd) * shares
        weights /= weights.sum()
        mean = float(weights @ values) / k
        spread = math.sqrt(float(weights @ (values / k - mean) ** 2))
        # Six standard errors, and what the atoms' steps of a quarter of the noise make of it
        assert abs(drawn[:, place].mean() - mean) < 6 * spread / draws**0.5 + 0.03 * sd
        assert abs(drawn[:, place].std() - spread) < 6 * spread / draws**0.5 + 0.03 * sd


def test_high_estimates_are_left_as_free_as_their_noise_and_the_others_are_not_below_0():
    sd = 1e-3
    truth = np.concatenate([[0.5, 0.27, 0.03], np.full(30, 0.2 / 30)])
    estimate = truth + np.append([0.0, 0.0, 0.0], stream("low").normal(0, sd, 30))
    estimate[-1] = -3 * sd
    drawn = family_posterior(estimate, even_noise(sd), 400, stream("free")).populations
    # 400 draws of three values: |z| of 5.5 is a false alarm of 5e-5; the mean and the spread at 5 standard errors.
    assert (np.abs(drawn[:, :3] - truth[:3]) < 5.5 * sd).all()
    assert (np.abs(drawn[:, :3].mean(axis=0) - truth[:3]) < 5 * sd / 400**0.5).all()
    assert (np.abs(drawn[:, :3].std(axis=0) - sd) < 5 * sd / 800**0.5).all()
    assert (drawn[:, 3:] >= 0).all()
