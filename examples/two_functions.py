"""A protocol of two functions, for ``ldp-advise --protocol examples/two_functions.py:Flip``."""

import math

import numpy as np


class Flip:
    """Keep the value with probability (e^ε - 1) / (e^ε + k - 1), else report any value: k-ary randomised response."""

    def perturb(self, values, k, epsilon, rng):
        """Client: ``(n,)`` values in 0..k-1 to n reports, in any array."""
        kept = rng.random(len(values)) < math.expm1(epsilon) / (math.expm1(epsilon) + k)
        return np.where(kept, values, rng.integers(0, k, size=len(values)))

    def estimate(self, reports, k, epsilon):
        """Server: unbiased frequencies ``(k,)``, a mean over the reports; negative ones stay negative."""
        kept = math.expm1(epsilon) / (math.expm1(epsilon) + k)
        return (np.bincount(reports, minlength=k) / len(reports) - (1 - kept) / k) / kept
