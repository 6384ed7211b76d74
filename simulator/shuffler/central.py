"""The accuracy of a trusted server: a histogram with central noise, the line that shuffled reports stay behind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator._types import FloatArray, IntArray

REPLACED = 2  # another value of a user changes two counts by 1 each
HALVINGS = 100


@dataclass(frozen=True)
class CentralHistogram:
    """Counts of all users with noise added once, by the mechanism of the lower variance.

    Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009 (discrete Laplace);
    Balle, Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018, Theorem 8.

    Attributes
    ----------
    epsilon, delta
        Of the guarantee when a user's value is replaced by another.
    """

    epsilon: float
    delta: float

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of the Gaussian noise of a count."""
        low, high = 0.0, 1.0
        while not self._kept(high):
            low, high = high, 2 * high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._kept(middle) else (middle, high)
        return high

    def _kept(self, deviation: float) -> bool:
        distance = math.sqrt(REPLACED) / deviation
        near, far = distance / 2 - self.epsilon / distance, -distance / 2 - self.epsilon / distance
        first, second = (math.erfc(-z / math.sqrt(2)) / 2 for z in (near, far))
        # Far in the tail both are 0, and so is the loss.
        return first - (math.exp(self.epsilon) * second if second else 0.0) <= self.delta

    @property
    def laplace_variance(self) -> float:
        """Variance of the discrete Laplace noise of a count."""
        return 1 / (2 * math.sinh(self.epsilon / (2 * REPLACED)) ** 2)

    @property
    def gaussian(self) -> bool:
        """Whether Gaussian noise is lower than the other noise: only if delta is large."""
        return self.deviation**2 < self.laplace_variance

    @property
    def title(self) -> str:
        """Name in words."""
        return "Gaussian" if self.gaussian else "discrete Laplace"

    @property
    def variance(self) -> float:
        """Variance of the noise of a count."""
        return self.deviation**2 if self.gaussian else self.laplace_variance

    def estimate(self, counts: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return noisy frequencies ``(..., k)`` of true counts."""
        if self.gaussian:
            noise = rng.normal(scale=self.deviation, size=counts.shape)
        else:
            chance = -math.expm1(-self.epsilon / REPLACED)
            noise = (rng.geometric(chance, counts.shape) - rng.geometric(chance, counts.shape)).astype(np.float64)
        return (counts + noise) / counts.sum(axis=-1, keepdims=True)
