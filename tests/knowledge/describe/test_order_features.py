import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from knowledge.describe.arrays import columns_of, histograms_of
from knowledge.describe.order_features import order_figures, smoothing_risk
from knowledge.describe.profile import profile_of
from knowledge.describe.value_features import value_figures
from simulator import PROTOCOLS
from simulator.methods.simplex import FALSE_POSITIVES
from simulator.methods.wavelet import half_differences
from simulator.populations import frequencies
from tests.cells import over

Z = np.linspace(-9, 9, 3001)
DENSITY = np.exp(-(Z**2) / 2) / math.sqrt(2 * math.pi) * (Z[1] - Z[0])


def described(f, name, epsilon, n):
    """Return the figures of one histogram under one noise, the sd at each frequency, and the two levels."""
    noise = PROTOCOLS[name](len(f), epsilon).noise(n)
    seen, columns = histograms_of((profile_of(f),)), columns_of([noise])
    values = value_figures(seen, columns)
    figures = {name: float(np.squeeze(figure)) for name, figure in order_figures(seen, columns, values).figures.items()}
    sd = np.sqrt(noise.variance_at_zero + noise.variance_slope * f)
    return figures, sd, values.thresholds[:, 0, 0, 0].astype(np.float64)


def mean_of(f, sd, threshold, taken):
    """Integrate ``E (x - taken) [x > threshold]`` of each estimate, category by category."""
    estimates = f[:, None] + sd[:, None] * Z
    return np.where(estimates > threshold, estimates - taken, 0.0) @ DENSITY


def emd(moved):
    return float(np.abs(np.cumsum(moved)).sum()) / len(moved)


@over(
    itertools.product(
        [("oue", 1.0, 5_000), ("oue", 2.0, 200_000), ("grr", 3.0, 20_000)],
        [("zipf_shuffled", 1.0), ("gaussian", 0.15), ("sparse", 0.3)],
    )
)
def test_what_methods_move_is_what_they_do_to_the_mean_estimate(setting, case):
    name, epsilon, n = setting
    shape, parameter = case
    k = 48
    f = frequencies(shape, k, parameter)
    found, sd, (level, cut_level) = described(f, name, epsilon, n)
    noise = PROTOCOLS[name](k, epsilon).noise(n)
    shrunk = mean_of(f, sd, level, level) - f
    assert found["log_shrunk_l1"] == pytest.approx(np.abs(shrunk).sum(), rel=0.01, abs=2e-3)
    assert found["log_shrunk_emd"] == pytest.approx(emd(shrunk), rel=0.01, abs=2e-3)
    below = f @ (np.where(f[:, None] + sd[:, None] * Z <= level, DENSITY, 0).sum(axis=1))
    assert found["log_zeroed"] == pytest.approx(below, rel=0.02, abs=1e-4)
    threshold = NormalDist().inv_cdf(1 - FALSE_POSITIVES / k) * noise.sd
    assert found["log_cut_emd"] == pytest.approx(emd(mean_of(f, sd, threshold, 0.0) - f), rel=0.02, abs=1e-3)
    assert found["log_norm_cut_emd"] == pytest.approx(emd(mean_of(f, sd, cut_level, 0.0) - f), rel=0.02, abs=1e-3)


@pytest.mark.parametrize("k", [8, 48])
def test_flattening_and_keeping_what_is_above_the_noise(k):
    f = frequencies("zipf_shuffled", k, 1.2)
    found, _, _ = described(f, "oue", 1.0, 5_000)
    sd = PROTOCOLS["oue"](k, 1.0).noise(5_000).sd
    hidden = np.minimum(f, sd)
    assert found["log_flattened"] == pytest.approx(emd(hidden - hidden.mean()), rel=1e-3, abs=1e-7)
    kept = f - hidden
    assert found["log_projected"] == pytest.approx(emd(kept / kept.sum() - f), rel=1e-3)
    assert found["log_lost"] == pytest.approx(emd(hidden), rel=1e-3)


@pytest.mark.parametrize("k", [16, 64])
def test_the_risk_of_wavelet_shrinkage_at_single_values_is_that_of_the_coefficients_above_them(k):
    f = frequencies("gaussian", k, 0.2)
    found, sd, _ = described(f, "grr", 1.5, 5_000)
    variance = float((sd**2).mean())
    risk = np.zeros(k)
    levels = int(math.log2(k))
    for depth in range(1, levels + 1):
        length = 2**depth
        halves = f.reshape(-1, 2, length // 2).sum(axis=2)
        squares = (halves[:, 0] - halves[:, 1]) ** 2 / length
        risk += np.repeat(np.minimum(squares, variance), length) / length
    raw_l1 = math.sqrt(2 / math.pi) * sd.sum()
    assert found["log_local_l1"] == pytest.approx(np.sqrt(risk).sum() / raw_l1, rel=1e-3)
    expected = k * (risk / (f + np.sqrt(risk))).mean() / 2
    assert found["log_local_kl"] == pytest.approx(expected, rel=1e-3)


def rebuilt(f, levels, factors=(1.0,) * 10):
    """Take the transform at every shift apart, keep some levels, and put it together again, as `wavelet_eb` does."""
    details, smooth = half_differences(np.concatenate([f, f[::-1]])[None])
    smooth = np.zeros_like(smooth)
    for level in reversed(range(len(details))):
        kept = factors[level] * details[level] * (level in levels)
        smooth = ((smooth + kept) + np.roll(smooth - kept, 2**level, axis=1)) / 2
    return smooth[0, : len(f)]


@pytest.mark.parametrize("variance", [1e-5, 1e-3, 1e-1])
def test_the_smoothing_risk_is_the_squared_bias_and_not_less_than_the_noise_that_is_left(variance):
    k = 23
    f = np.random.default_rng(1).dirichlet(np.ones(k))
    profile = profile_of(f)
    details, _ = half_differences(np.concatenate([f, f[::-1]])[None])
    energies = [2 ** (level + 1) * float((detail**2).mean()) for level, detail in enumerate(details)]
    np.testing.assert_allclose(profile.energies, energies, rtol=1e-12)
    kept = [energy / (energy + variance) for energy in energies]
    bias = rebuilt(f, range(10), [1 - share for share in kept])
    risk = smoothing_risk(profile.parts[:k].T[None], profile.energies[None], np.array([[variance]]))[0, 0]
    noise = variance * sum(share**2 / 2 ** (level + 1) for level, share in enumerate(kept))
    np.testing.assert_allclose(risk, bias**2 + noise, rtol=1e-10, atol=1e-18)
    impulse = np.zeros(k)
    impulse[11] = 1.0
    left = (rebuilt(impulse, range(10), kept) ** 2).sum() * variance  # the kernel is even and the same in the middle
    assert 0.5 * noise < left < 1.1 * noise
