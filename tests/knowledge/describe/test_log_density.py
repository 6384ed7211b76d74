import math

import numpy as np
import pytest

from knowledge.describe.log_density import NUMBERS, PRIORS, VARIANCES, information, log_density_figures, smoothness_of
from simulator.methods.smooth import EVEN, STRETCHED, cosines, normalised
from simulator.populations import frequencies
from simulator.protocols.square_wave import SquareWave


@pytest.mark.parametrize("k", [64, 4096])
def test_a_log_density_of_two_waves_is_found_over_the_places(k):
    own = 0.3 * cosines((np.arange(k) + 0.5) / k, 7)[[1, 6]].T @ [1.0, -0.5]
    shape = smoothness_of(normalised(own))
    assert shape.squares[0, [1, 6]] == pytest.approx([0.09, 0.0225], rel=0.05)
    assert np.delete(shape.squares[0], [1, 6]).max() < 3e-4
    assert shape.left[0] < 1e-3


def test_a_report_says_of_waves_about_what_its_likelihood_does():
    """Against the information of all symbols at equal frequencies: ends, where windows are cut, are left out of it."""
    k = 128
    for epsilon, share in ((0.5, 0.7), (1.0, 0.4), (4.0, 0.03)):
        likelihood = SquareWave(k, epsilon).likelihood
        even = np.full(k, 1 / k)
        waves = cosines((np.arange(k) + 0.5) / k, 24)
        exact = (likelihood.forward(waves * even) ** 2 / likelihood.forward(even)).sum(axis=1)
        own = information([smoothness_of(even)], k, epsilon)[0]
        assert own[0, 0] == pytest.approx(exact[0], rel=share)
        assert own[0, :24].sum() == pytest.approx(exact.sum(), rel=share)
        np.testing.assert_allclose(own[0], own[1])  # nothing is stretched


def slow_figures(shape, k, epsilon, n):
    """The same wave by wave, from the formulas of a normal model: what each prior makes of one coefficient."""
    known = n * information([shape], k, epsilon)[0]
    chances, parts = [], []
    for precision in range(VARIANCES.shape[0]):
        for prior, (order, number) in enumerate(PRIORS):
            over = 0 if (order, number) in EVEN else 1
            chance, curve, bias, values, used = 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(1, len(NUMBERS) + 1):
                own, square = known[over, j - 1], shape.squares[over, j - 1]
                variance = VARIANCES[precision, prior, j - 1] if j <= number else 0.0
                kept = own * variance / (own * variance + 1)
                missed, noise = (1 - kept) ** 2 * square, kept**2 / own
                # Of a coefficient that is seen with noise 1 / own: mean log density, but for what all have in common.
                chance += (kept * own * (square + 1 / own) - math.log1p(own * variance)) / 2
                curve += (missed + noise) / (math.pi * j) ** 2
                bias += missed / (math.pi * j) ** 2
                values += missed + noise
                used += kept
            chances.append(chance)
            parts.append([curve, bias, values, used, prior == PRIORS.index(STRETCHED[0]), over == 0])
    weights = np.exp(np.array(chances) - max(chances))
    curve, bias, values, used, walk, even = weights / weights.sum() @ np.array(parts, dtype=float)
    rest = even * shape.left[0] + (1 - even) * shape.left[1]
    logs = [math.log(each + 1e-3) for each in (n * curve, n / k * values, used, rest * known[1, -1], rest)]
    return [logs[0], logs[1], bias / curve, logs[2], walk, even, logs[3], logs[4]]


@pytest.mark.parametrize("k", [2, 20, 300])
@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 10_000), (4.0, 1_000_000)])
def test_figures_are_those_of_a_normal_model_of_each_wave(k, epsilon, n):
    assert NUMBERS[-1] == max(number for _, number in PRIORS)
    shapes = [smoothness_of(frequencies(name, k)) for name in ("gaussian", "zipf", "steps")]
    slow = [slow_figures(shape, k, epsilon, n) for shape in shapes]
    np.testing.assert_allclose(log_density_figures(shapes, k, epsilon, n), slow, rtol=1e-8, atol=1e-8)
