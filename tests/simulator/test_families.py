import functools
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator import Noise
from simulator.methods.empirical_bayes import BIN
from simulator.populations import frequencies
from simulator.surrogate import families, levels
from simulator.surrogate.families import family_posterior
from simulator.surrogate.levels import _Chains, level_posterior
from simulator.surrogate.wavelet import wavelet_posterior

from .law import even_noise, log_density, stream

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


def test_distributions_are_what_their_parameters_say():
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
    k = 50_000
    values, shares, _ = of_kind(k, "ranks")[families.RANKS.index(1.1) * len(families.SCATTER)]
    assert len(values) < families.POINTS * families.BODY
    exact = 1 / np.arange(1, k + 1) ** 1.1
    middle = values.reshape(-1, families.BODY)[:, families.BODY // 2]
    np.testing.assert_allclose(middle[:5], (exact / exact.mean())[:5], rtol=5e-3)
    assert shares.sum() == pytest.approx(1)


def likelihoods(estimate, noise):
    """Likelihood of the estimates under each distribution and share of empty categories, over that of equal ones; times
    the density of a sum of 1 given the estimates, over that without them."""
    k = len(estimate)
    alike = stats.norm.pdf(estimate, 1 / k, (noise.variance_at_zero + noise.variance_slope / k) ** 0.5)
    found = []
    for values, shares, _ in families._distributions(k):
        for empty in families.EMPTY:
            places = np.append(values / (k * (1 - empty)), 0.0)
            weights = np.append(shares * (1 - empty), empty)
            sd = np.sqrt(noise.variance_at_zero + noise.variance_slope * places)
            joint = np.exp(log_density(estimate[:, None], places, sd)) * weights
            each = joint.sum(axis=1)
            means, squares = joint @ places / each, joint @ places**2 / each
            after = log_density(1, means.sum(), ((squares - means**2).sum() + families.SLACK**2) ** 0.5)
            before = log_density(1, 1, (k * (weights @ places**2 - 1 / k**2) + families.SLACK**2) ** 0.5)
            found.append(float(np.prod(each / alike)) * math.exp(after - before))
    return np.array(found)


@pytest.mark.parametrize("slope", [2.0, pytest.param(0.0, marks=pytest.mark.slow)])
def test_evidence_is_the_mean_likelihood_of_all_distributions(slope):
    """Each kind is as frequent. The estimates are at the middle of their bins; frequencies stand on atoms a quarter of
    the noise apart, which is some thousandths of a nat for each of ten categories, one way or the other.
    """
    k, sd = 10, 0.06
    noise = Noise(10**4, 0.5, 0.25, sd**2, slope * sd**2, False)
    for seed in range(2):
        estimate = stream("evidence of families", seed).dirichlet(np.full(k, 0.5))
        estimate += stream("noise of families", seed).normal(0, sd, k)
        estimate = (np.floor(estimate / sd / BIN) + 0.5) * BIN * sd
        assert estimate.max() < 12 * sd  # above 20 they are free, and near it the atoms end
        often = np.repeat(np.repeat([1 / size for size in SIZES], SIZES), len(families.EMPTY))
        expected = math.log(float(likelihoods(estimate, noise) @ often) / (4 * len(families.EMPTY)))
        assert family_posterior(estimate, noise, 3, stream("x")).evidence == pytest.approx(expected, abs=0.05)


def test_draws_are_those_of_each_category_under_the_distribution(monkeypatch):
    k, sd, draws = 6, 0.04, 2000
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


HEIGHTS, SHARES, JUMP = (0.05, 0.2, 0.5), (0.5, 0.3, 0.2), 0.4
SEEN, VARIANCE = np.array([0.1, 0.25, 0.2, 0.55]), np.array([0.01, 0.01, 0.02, 0.01])


def chains(rows):
    """The same chain of three heights, in several rows; the fourth height is not there."""
    present = np.array([True, True, True, False])
    one = [np.array([*values, 0.0]) for values in (HEIGHTS, SHARES)]
    heights, shares = (np.tile(values, (rows, 1)) for values in one)
    return _Chains(heights, np.tile(present, (rows, 1)), np.full(rows, JUMP), shares)


@functools.cache
def all_paths():
    """Heights of all places, whether each was taken afresh, and how likely that is together with the estimates."""
    places = len(SEEN)
    found = []
    for states in itertools.product(range(3), repeat=places):
        for later in itertools.product((False, True), repeat=places - 1):
            fresh = (True, *later)
            odds = float(stats.norm.pdf(SEEN, np.array(HEIGHTS)[list(states)], VARIANCE**0.5).prod())
            for place, state in enumerate(states):
                if place and not fresh[place]:
                    odds *= (1 - JUMP) * (state == states[place - 1])
                else:
                    odds *= SHARES[state] * (JUMP if place else 1)
            found.append((states, fresh, odds))
    return found


def test_the_likelihood_of_a_chain_is_the_sum_over_all_paths():
    logs, filtered = levels._filter(chains(2), SEEN, VARIANCE)
    total = math.fsum(odds for _, _, odds in all_paths())
    constant = len(SEEN) / 2 * math.log(2 * math.pi)
    np.testing.assert_allclose(logs - constant, math.log(total), rtol=1e-12)
    last = [math.fsum(odds for states, _, odds in all_paths() if states[-1] == state) / total for state in range(3)]
    np.testing.assert_allclose(filtered[-1, 0], [*last, 0.0], rtol=1e-12)


def test_paths_are_drawn_as_often_as_they_are_likely():
    rows = 40_000
    _, filtered = levels._filter(chains(rows), SEEN, VARIANCE)
    states, fresh = levels._sampled_states(chains(rows), filtered, stream("paths"))
    paths = all_paths()
    total = math.fsum(odds for _, _, odds in paths)
    for place, state in itertools.product(range(len(SEEN)), range(3)):
        for again in (False, True):
            expected = math.fsum(w for s, f, w in paths if s[place] == state and f[place] == again) / total
            seen = np.mean((states[:, place] == state) & (fresh[:, place] == again))
            # 24 comparisons at |z| of 6
            assert abs(seen - expected) <= 6 * (expected * (1 - expected) / rows) ** 0.5


def test_heights_are_drawn_around_the_mean_of_their_places():
    rows = 20_000
    states = np.tile([0, 0, 1, 1], (rows, 1))
    fresh = np.tile([True, False, True, False], (rows, 1))
    seen = np.array([0.2, 0.3, 0.5, 0.7])
    drawn = levels._sampled_chains(chains(rows), states, fresh, seen, np.full(4, 2e-4), stream("heights"))
    for height, mean in ((0, 0.25), (1, 0.6)):
        values = drawn.heights[:, height]
        assert abs(values.mean() - mean) < 6 * 0.01 / rows**0.5
        assert abs(values.std() - 0.01) < 6 * 0.01 / (2 * rows) ** 0.5
    assert (drawn.shares[:, 3] == 0).all()
    np.testing.assert_allclose(drawn.shares.sum(axis=1), 1, rtol=1e-12)
    # One of three later places is fresh: Beta(1.5, 2.5), before what lies outside of the limits is brought to them
    assert abs(drawn.jump.mean() - 0.375) < 0.01


def box(k):
    places = (np.arange(k) + 0.5) / k
    weights = np.where((places > 0.42) & (places < 0.58), 8.0, 1.0)
    return weights / weights.sum()


@pytest.mark.parametrize(("k", "blocks"), [(64, 512), (100, 40)])
def test_both_sides_of_a_box_have_one_ground(monkeypatch, k, blocks):
    monkeypatch.setattr(levels, "BLOCKS", blocks)
    grounds, far = [], {level_posterior: 0.0, wavelet_posterior: 0.0}
    for seed in range(3):
        rng = stream("box", k, seed)
        estimate = box(k) + rng.normal(0, 0.3 / k, k)
        for model in far:
            drawn = model(estimate, even_noise(0.3 / k), 20, rng).populations
            far[model] += float(np.abs(drawn - box(k)).sum(axis=1).mean())
            if model is level_posterior:
                grounds.append(float(np.mean(drawn[:, 0] == drawn[:, -1])))
    assert min(grounds) > 0.8
    assert far[level_posterior] < 0.6 * far[wavelet_posterior]


def test_evidence_tells_a_box_from_a_bell():
    """Against a curve; in 8 trials each the gap was 11 to 17 one way and 5 to 9 the other."""
    k = 64
    for seed in range(2):
        rng = stream("box or bell", seed)
        for truth, share, few_heights in ((box(k), 0.4, True), (frequencies("gaussian", k), 1.0, False)):
            estimate = truth + rng.normal(0, share / k, k)
            flat, free = (
                model(estimate, even_noise(share / k), 10, rng).evidence
                for model in (level_posterior, wavelet_posterior)
            )
            assert (flat > free) is few_heights
