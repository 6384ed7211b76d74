from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from knowledge.describe.order_features import smoothing_risk
from knowledge.describe.profile import profile_of
from knowledge.describe.value_features import NODES, SHARES, bayes_risk
from simulator.methods.wavelet import half_differences


def integrated(atoms: NDArray[np.float64], weights: NDArray[np.float64], variance: NDArray[np.float64]) -> list[float]:
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


def test_the_quadrature_is_exact_up_to_the_thirteenth_power() -> None:
    moments = [1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395, 0]
    assert [float(NODES**power @ SHARES) for power in range(14)] == pytest.approx(moments, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("noise", [0.03, 0.1, 0.3, 1.0, 3.0])
def test_the_bayes_risk_is_that_of_the_posterior_mean(noise: float) -> None:
    """Seven nodes against an integral: the total within a quarter, little beside the 14 that its logarithm may span."""
    atoms, weights = np.array([0.5, 0.25, 0.2, 0.05, 0.0]), np.array([1.0, 2.0, 1.0, 3.0, 9.0])
    variance = noise**2 * (0.1 + 0.05 * atoms)
    squared, absolute = bayes_risk(atoms, weights, variance)
    assert squared @ weights == pytest.approx(np.dot(integrated(atoms, weights, variance), weights), rel=0.25)
    assert (absolute <= np.sqrt(squared) + 1e-15).all()


def test_the_bayes_risk_without_noise_with_much_of_it_and_with_one_value() -> None:
    atoms, weights = np.array([0.6, 0.3, 0.1]), np.array([1.0, 2.0, 5.0])
    clear, _ = bayes_risk(atoms, weights, np.full(3, 1e-6))
    assert clear == pytest.approx(0, abs=1e-12)
    mean = atoms @ weights / weights.sum()
    lost, absolute = bayes_risk(atoms, weights, np.full(3, 1e8))
    assert lost == pytest.approx((mean - atoms) ** 2, rel=1e-3)
    assert absolute == pytest.approx(abs(mean - atoms), rel=1e-3)
    same, _ = bayes_risk(np.full(4, 0.25), np.ones(4), np.full(4, 0.01))
    assert same == pytest.approx(0, abs=1e-20)


def test_several_noises_at_once_are_each_alone() -> None:
    rng = np.random.default_rng(0)
    atoms, weights, variance = rng.random((3, 1, 6)), np.arange(1.0, 7.0), rng.random((3, 4, 6))
    together = bayes_risk(atoms, weights, variance)
    for place in range(3):
        for number in range(4):
            alone = bayes_risk(atoms[place, 0], weights, variance[place, number])
            for one, other in zip(together, alone, strict=True):
                np.testing.assert_allclose(one[place, number], other, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 16, 37])
def test_the_levels_of_the_transform_at_every_shift_bring_what_wavelet_eb_rebuilds_from_them(k: int) -> None:
    """Their sum is the value less the mean; and each alone is what a transform without the others gives."""
    f = np.random.default_rng(k).dirichlet(np.ones(k))
    profile = profile_of(f)
    parts = profile.parts[:k]  # at every category; then come top values
    np.testing.assert_allclose(parts.sum(axis=1), rebuilt(f, range(10)), atol=1e-14)
    for level in range(parts.shape[1]):
        np.testing.assert_allclose(parts[:, level], rebuilt(f, [level]), atol=1e-14)


def rebuilt(f: NDArray[np.float64], levels: Iterable[int], factors: Sequence[float] = (1.0,) * 10) -> Any:
    """Take the transform at every shift apart, keep some levels, and put it together again, as `wavelet_eb` does."""
    details, smooth = half_differences(np.concatenate([f, f[::-1]])[None])
    smooth = np.zeros_like(smooth)
    for level in reversed(range(len(details))):
        kept = factors[level] * details[level] * (level in levels)
        smooth = ((smooth + kept) + np.roll(smooth - kept, 2**level, axis=1)) / 2
    return smooth[0, : len(f)]


@pytest.mark.parametrize("variance", [1e-5, 1e-3, 1e-1])
def test_the_smoothing_risk_is_the_squared_bias_and_not_less_than_the_noise_that_is_left(variance: float) -> None:
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
