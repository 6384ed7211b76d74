import math
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from knowledge.describe.arrays import columns_of, histograms_of
from knowledge.describe.profile import profile_of
from knowledge.describe.thresholds import LEAST_EXCESS, NEARLY, STEPS, normal
from knowledge.describe.value_features import CHANCE, NODES, SHARES, bayes_risk, value_figures
from simulator import PROTOCOLS
from simulator.populations import frequencies

SHAPES = [("zipf", 1.0), ("zipf", 2.0), ("gaussian", 0.2), ("sparse", 0.2), ("dirichlet", 0.3), ("bimodal", None)]


def density(z):
    return np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


def kept_less_level(f, sd, weights, t):
    z = (f - t) / sd
    return float(((f - t) * ndtr(z) + sd * density(z)) @ weights)


def kept_whole(f, sd, weights, t):
    z = (f - t) / sd
    return float((f * ndtr(z) + sd * density(z)) @ weights)


def reached(total, goal):
    """Return the smallest t of at least 0 at which a falling function is at the goal."""
    return 0.0 if total(0.0) <= goal else float(brentq(lambda t: total(t) - goal, 0.0, 1e3, xtol=1e-14))


def test_the_normal_distribution_is_right_to_2e_5_and_its_quadrature_up_to_the_thirteenth_power():
    x = np.linspace(-40, 40, 80_001).astype(np.float32)
    below, height = normal(x)
    np.testing.assert_allclose(below, ndtr(x.astype(np.float64)), atol=2e-5)
    np.testing.assert_allclose(height, density(x.astype(np.float64)), atol=1e-6)
    moments = [1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395, 0]
    assert [float(NODES**power @ SHARES) for power in range(14)] == pytest.approx(moments, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("steps", "taken_off", "cut_off"), [(20, 1e-3, 0.02), (STEPS, 0.05, 0.25)])
@pytest.mark.parametrize(("k", "n"), [(2, 100_000), (256, 2_000), (40, 100_000)])
def test_levels_are_those_of_the_equations(k, n, steps, taken_off, cut_off, monkeypatch):
    """In units in which 1 is a noise sd, or a factor e of the level: at the end, and after so few steps as are taken.

    The features span several of these units. The rest at the end is that of single precision and of `normal`.
    """
    monkeypatch.setattr("knowledge.describe.thresholds.STEPS", steps)
    noises = [PROTOCOLS[name](k, epsilon).noise(n) for name in ("oue", "grr", "blh") for epsilon in (0.5, 2.0, 5.0)]
    for name, parameter in SHAPES:
        f = frequencies(name, k, parameter)
        grouped = profile_of(f)
        values, weights = grouped.few[:2]
        found = value_figures(histograms_of((grouped,)), columns_of(noises)).thresholds[:, 0, :, 0]
        for place, noise in enumerate(noises):
            sd = np.sqrt(
                np.maximum(noise.variance_at_zero + noise.variance_slope * values, 1e-3 * noise.variance_at_zero)
            )
            taken = reached(partial(kept_less_level, values, sd, weights), 1 + LEAST_EXCESS)
            cut = reached(partial(kept_whole, values, sd, weights), 1 + LEAST_EXCESS + NEARLY * noise.sd)
            misses = np.abs(np.arcsinh(found[:, place] / noise.sd) - np.arcsinh(np.array([taken, cut]) / noise.sd))
            assert misses[0] < taken_off, (name, noise)
            assert misses[1] < cut_off, (name, noise)


def test_the_least_cut_is_what_taking_whole_values_away_takes_at_least():
    f = np.sort(np.random.default_rng(0).dirichlet(np.full(30, 0.4)))
    for n in (10_000, 1_000_000, 100_000_000):
        noise = PROTOCOLS["oue"](30, 1.0).noise(n)
        sd = np.sqrt(noise.variance_at_zero + noise.variance_slope * f)
        wanted = kept_whole(f, sd, np.ones(30), 0.0) - 1 + CHANCE * noise.sd
        taken = next(mass for mass in np.cumsum(f) if mass >= wanted)
        found = (
            value_figures(histograms_of((profile_of(f),)), columns_of([noise])).figures["log_least_cut"][0, 0]
            * noise.sd
        )
        assert found == pytest.approx(taken, rel=0.02)


def test_what_does_not_occur_is_a_group_of_its_own():
    f = np.zeros(500)
    f[::5] = np.random.default_rng(1).dirichlet(np.ones(100))
    profile = profile_of(f)
    for values, weights in (profile.few[:2], profile.atoms[:2]):
        assert weights[values == 0].sum() == 400
        assert values @ weights == pytest.approx(1)
    inside = profile.atoms.sizes @ (profile.atoms.variances + profile.atoms.means**2)
    assert inside == pytest.approx((f**2).sum())


def test_histograms_with_the_same_values_are_looked_at_once():
    together = histograms_of(
        tuple(profile_of(frequencies(name, 300, 1.0)) for name in ("zipf", "zipf_shuffled", "gaussian"))
    )
    assert together.which.tolist() == [0, 0, 1]
    assert together.values.shape == (2, 1, 256)


def integrated(atoms, weights, variance):
    """Integrate the squared error of the posterior mean at each atom over 4,001 points, atom by atom."""
    risks = []
    for atom, own in zip(atoms, variance, strict=True):
        x = np.linspace(atom - 8 * own**0.5, atom + 8 * own**0.5, 4001)
        likelihood = [
            w * np.exp(-((x - a) ** 2) / (2 * v)) / v**0.5 for a, w, v in zip(atoms, weights, variance, strict=True)
        ]
        mean = sum(a * part for a, part in zip(atoms, likelihood, strict=True)) / sum(likelihood)
        density = np.exp(-((x - atom) ** 2) / (2 * own)) / np.sqrt(2 * np.pi * own)
        risks.append(float(((mean - atom) ** 2 * density).sum() * (x[1] - x[0])))
    return risks


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.3, 1.0, 3.0])
def test_the_bayes_risk_is_that_of_the_posterior_mean(noise):
    """Seven nodes against an integral: the total within a quarter, little beside the 14 that its logarithm may span.

    Of noise that is much the same for all values, and of noise that grows fifty-fold with them.
    """
    atoms, weights = np.array([0.5, 0.25, 0.2, 0.05, 0.0]), np.array([1.0, 2.0, 1.0, 3.0, 9.0])
    for at_zero, slope in ((0.1, 0.05), (0.001, 5.0)):
        variance = noise**2 * (at_zero + slope * atoms)
        squared, absolute = bayes_risk(atoms, weights, variance)
        assert squared @ weights == pytest.approx(np.dot(integrated(atoms, weights, variance), weights), rel=0.25)
        assert (absolute <= np.sqrt(squared) + 1e-15).all()


def test_the_bayes_risk_without_noise_with_much_of_it_and_with_one_value():
    atoms, weights = np.array([0.6, 0.3, 0.1]), np.array([1.0, 2.0, 5.0])
    clear, _ = bayes_risk(atoms, weights, np.full(3, 1e-6))
    assert clear == pytest.approx(0, abs=1e-12)
    mean = atoms @ weights / weights.sum()
    lost, absolute = bayes_risk(atoms, weights, np.full(3, 1e8))
    assert lost == pytest.approx((mean - atoms) ** 2, rel=1e-3)
    assert absolute == pytest.approx(abs(mean - atoms), rel=1e-3)
    same, _ = bayes_risk(np.full(4, 0.25), np.ones(4), np.full(4, 0.01))
    assert same == pytest.approx(0, abs=1e-20)
