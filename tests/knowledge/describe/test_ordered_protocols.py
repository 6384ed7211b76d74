import itertools

import numpy as np
import pytest

from knowledge.describe.ordered_protocols import LEAST, NAMES, PROTOCOLS, tree_figures, variances
from knowledge.describe.profile import profile_of
from knowledge.menu import CURVES, MEASURED
from knowledge.predict import curve_inputs
from simulator import METRICS, rng_for
from simulator import PROTOCOLS as TABLE
from simulator.populations import apportion, frequencies
from simulator.protocols.dyadic import differences
from simulator.protocols.square_wave import SquareWave
from tests.cells import over


@over(itertools.product(["tree", "tree_half", "haar_hrr"], [2, 8, 64, 256], [0.3, 1.0, 5.0]))
def test_variances_of_full_nodes_are_those_of_the_covariance(name, k, epsilon):
    covariance = TABLE[name](k, epsilon).linear.covariance(1)
    exact = [float(np.median(of)) for of in covariance.haar(k)]
    np.testing.assert_allclose(variances(k, epsilon)[PROTOCOLS.index(name)], exact, rtol=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_square_wave_tells_of_a_difference_as_much_as_its_reports_do(epsilon):
    """Against the information of all symbols, for differences in the middle of the domain."""
    k = 64
    wave = SquareWave(k, epsilon)
    even = np.full(k, 1 / k)
    for height in range(1, 5):
        half, start = 1 << (height - 1), k // 2
        step = np.zeros(k)
        step[start : start + half], step[start + half : start + 2 * half] = 1 / (2 * half), -1 / (2 * half)
        moved, chances = wave.likelihood.forward(step), wave.likelihood.forward(even)
        exact = 1 / float((moved**2 / chances).sum()) - 2**height / k
        assert variances(k, epsilon)[PROTOCOLS.index("sw"), height - 1] == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("k", [2, 3, 17, 511, 513, 1500])
def test_features_and_references_are_finite(k):
    profiles = [
        profile_of(f) for f in (np.ones(k), np.eye(k)[0], frequencies("zipf", k), frequencies("sparse", k, 0.2))
    ]
    for epsilon, n in ((0.1, 1_000), (1.0, 100_000), (16.0, 1_000_000_000)):
        features, reference = curve_inputs(profiles, epsilon, n)
        assert features.shape == (4, features.shape[1])
        assert tree_figures(profiles, epsilon, n).features.shape == (4, len(NAMES))
        assert reference.shape == (4, len(CURVES.pairs), len(MEASURED))
        assert np.isfinite(features).all()
        assert np.isfinite(reference).all()


def test_what_interpolation_leaves_is_there_on_all_levels_and_nothing_of_a_parabola():
    profile = profile_of((np.arange(64) + 10.0) ** 2)
    # Of the finest differences; those at both ends have one neighbour.
    inside = sorted(profile.residuals.means[:32])[:30]
    assert max(inside) < 1e-20
    assert min(profile.details.means[:32]) > 1e-9
    for k in (2, 3, 5, 100, 1000):
        profile = profile_of(frequencies("zipf", k))
        assert profile.residuals.sizes.sum() == sum(len(level) for level in differences(np.ones(k)))
        assert profile.residuals.means.shape == profile.details.means.shape


def spiked(k, share):
    """Return a hump at the upper end, and so much of all users at the first value."""
    hump = np.exp(-(((np.arange(k) - 0.8 * k) / (0.05 * k)) ** 2) / 2)
    hump[: k // 2] = 0.0
    hump /= hump.sum()
    return share * np.eye(k)[0] + (1 - share) * hump


# Larger domains are looked at in blocks.
@pytest.mark.parametrize(("k", "within"), [(5, 1e-9), (64, 1e-9), (1000, 0.02)])
@pytest.mark.parametrize("n", [10_000, 1_000_000])
def test_running_sums_leave_the_least_of_what_they_are_and_of_their_noise(k, within, n):
    truth = spiked(k, 0.01)
    described = tree_figures([profile_of(truth)], 1.0, n)
    for place, name in enumerate(PROTOCOLS):
        noise, running, least = float(described.raw_curve[place]), 0.0, 0.0
        for frequency in truth.tolist():
            running += frequency
            least += min(running**2, (1 - running) ** 2, noise) / noise / k
        found = described.features[0, NAMES.index(f"tails_{name}")]
        assert found == pytest.approx(np.log(least + LEAST), abs=within)


@pytest.mark.parametrize("name", ["tree", "tree_half", "haar_hrr"])
def test_reference_errors_are_about_those_of_the_raw_estimate(name):
    k, n, epsilon = 64, 100_000, 1.0
    counts = apportion(frequencies("gaussian", k), n)
    protocol = TABLE[name](k, epsilon)
    tally = protocol.sample_tally(np.tile(counts, (400, 1)), rng_for(0, "raw"))
    estimate = protocol.linear.estimate(tally)
    _, reference = curve_inputs([profile_of(counts)], epsilon, n)
    expected = np.exp(reference[0, CURVES.pairs.index((name, "none"))])
    for metric, within in (("l2", 0.1), ("mse", 0.1), ("emd", 0.35), ("range", 0.35), ("l1", 0.1)):
        error = METRICS[metric](estimate, counts / n).mean()
        assert error == pytest.approx(expected[MEASURED.index(metric)], rel=within), metric
