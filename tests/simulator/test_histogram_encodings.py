"""What is particular to histogram encodings: thresholds, noisy cells and their sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize

from simulator.protocols.summation import SHE, THE
from tests.cells import failures

from .law import skewed

EPSILONS = [1e-6, 0.01, 0.3, 0.5, math.log(2), 1.0, 2.0, 3.0, 5.0, 8.0, 16.0, 32.0]


def test_the_threshold_is_the_best_there_is():
    def check(epsilon):
        oracle = THE(5, epsilon)

        def parts(threshold):
            p = 1 - math.exp(epsilon * (threshold - 1) / 2) / 2
            return p, math.exp(-epsilon * threshold / 2) / 2

        def variance(threshold):
            p, q = parts(threshold)
            return q * (1 - q) / (p - q) ** 2

        assert 0.5 < oracle.threshold < 1
        assert (oracle.p, oracle.q) == pytest.approx(parts(oracle.threshold), rel=1e-11)
        found = optimize.minimize_scalar(variance, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-10})
        assert variance(oracle.threshold) <= found.fun * (1 + 1e-9)  # rounding of p - q at small epsilon
        assert variance(oracle.threshold * 1.05) > variance(oracle.threshold)

    assert failures([0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0], check) == {}


def test_thresholded_bits_reveal_less_than_the_budget():
    def check(epsilon):
        p, q = THE(4, epsilon).p, THE(4, epsilon).q
        spent = math.log(p / q) + math.log1p(-q) - math.log1p(-p)
        assert 0 < spent < epsilon
        if epsilon == 1.0:
            assert spent == pytest.approx(0.896, abs=5e-4)  # the figure of the docstring
        if epsilon >= 16:
            assert spent == pytest.approx(epsilon / 2 + math.log(8 / 3), abs=1e-3)  # its large-budget form, 0.98
        # The noisy cells themselves spend the budget and no more: two cells change by 1, the noise has scale 2/epsilon.
        y = np.linspace(-3, 4, 701)
        log_density = -np.abs(y) * epsilon / 2
        shifted = -np.abs(y - 1) * epsilon / 2
        assert 2 * np.max(shifted - log_density) == pytest.approx(epsilon, rel=1e-12)

    assert failures(EPSILONS, check) == {}


def test_the_success_against_noisy_cells_is_the_integral():
    def check(cell):
        k, epsilon = cell
        h = epsilon / 2

        def integrand(s):
            below = math.exp(s) / 2 if s < 0 else 1 - math.exp(-s) / 2
            return math.exp(-abs(s - h)) / 2 * below ** (k - 1)

        edges = [-np.inf, -40, 0, *np.linspace(0, h, 9)[1:], h + 5, h + 20, h + 60]
        pieces = [
            integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-10)[0] for a, b in itertools.pairwise(edges) if a < b
        ]
        beyond = math.exp(-60) / 2
        assert SHE(k, epsilon).attack_success == pytest.approx(sum(pieces), rel=1e-8, abs=2 * beyond)

    assert failures(itertools.product([2, 3, 12, 300, 250_000], [1e-6, 0.3, 1.0, 3.0, 8.0, 32.0]), check) == {}


def test_sums_of_noisy_cells_have_the_variance_of_the_noise():
    """That they follow the law, and what is estimated from many of them the truth, is tested with the other laws."""
    for epsilon in (0.5, 1.0, 3.0):
        oracle, n = SHE(12, epsilon), 10_000
        noise, variance = oracle.noise(n), 8 / (n * epsilon**2)
        assert noise.variance_at_zero == pytest.approx(variance, rel=1e-14)
        assert (noise.n, noise.p, noise.q, noise.variance_slope, noise.sums_to_one) == (n, None, None, 0.0, False)
        np.testing.assert_allclose(oracle.variance(skewed(12, n) / n, n), variance, rtol=1e-14)
