"""Thresholding with histogram encoding: Laplace noise on every cell of the one-hot vector, then one bit per cell."""

from __future__ import annotations

import math

import numpy as np

from simulator._types import IntArray, Reports
from simulator.protocols.unary import UnaryEncoding


class THE(UnaryEncoding):
    """Add Laplace(2/epsilon) noise to every cell of the one-hot vector and report which cells exceed a threshold.

    Reports are a ``(n, k)`` array of 0 and 1. The noise of the cells is independent, so the bits are those of a unary
    encoding with the p and q below. Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency
    estimation", USENIX Security 2017, Section 4.2 (THE). They find the threshold numerically; here in closed form.
    It is the best at f = 0; where another one has a 5 % lower mean variance, subset selection has a seventh of that.

    The bits reveal less than the noisy cells: their own budget, ``ln(p(1-q) / (q(1-p)))``, is below `epsilon`
    (0.90 at epsilon = 1, about epsilon/2 + 1 at large epsilon).
    """

    key = "the"
    title = "Thresholding with histogram encoding"
    reference = "Wang, Blocki, Li, Jha, USENIX Security 2017"

    @property
    def _x(self) -> float:
        """``x = e^(epsilon theta / 2)``, from the threshold theta in (1/2, 1) that minimises the variance at f = 0.

        With ``a = e^(epsilon/2)``: p = 1 - x/(2a), q = 1/(2x), ``q(1-q)/(p-q)^2 = a^2 (2x-1) / (2ax - x^2 - a)^2``,
        whose derivative vanishes where ``3x^2 - 2(a+1)x + a = 0``; the larger root is the minimum.
        """
        a = math.exp(self.epsilon / 2)
        return (a + 1 + math.sqrt(a * (a - 1) + 1)) / 3

    @property
    def threshold(self) -> float:
        """Value (unit: that of the one-hot cells, 0 and 1) above which a noisy cell is reported as 1."""
        return 2 * math.log(self._x) / self.epsilon

    @property
    def p(self) -> float:
        return 1 - self._x * math.exp(-self.epsilon / 2) / 2

    @property
    def q(self) -> float:
        return 1 / (2 * self._x)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        cells = rng.laplace(scale=2 / self.epsilon, size=(len(values), self.k))
        cells[np.arange(len(values)), values] += 1
        return (cells > self.threshold).view(np.uint8)
