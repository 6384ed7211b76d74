"""A protocol of one's own, for ``ldp-advise --protocol examples/sampled_bit.py:SampledBit``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator import FrequencyOracle


@dataclass(frozen=True)
class SampledBit(FrequencyOracle):
    """Draw a category and report, by randomised response, whether it is the own one.

    Reports are a ``(n, 2)`` integer array of (category, bit); one with bit 1 supports its category, one with bit 0
    supports nothing. Warner, "Randomized response", J. Amer. Statist. Assoc. 1965, for one bit of the one-hot vector.
    """

    key = "one_bit"  # its name in tables
    title = "Randomised response on one random bit"
    reference = "Warner, J. Amer. Statist. Assoc. 1965"

    @property
    def truth(self) -> float:
        """Probability that the bit is the true one; a lie is e^ε times less likely: that is the promise."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def p(self) -> float:
        """Probability that a report supports the user's own value."""
        return self.truth / self.k

    @property
    def q(self) -> float:
        """Probability that a report supports any one other value."""
        return (1 - self.truth) / self.k

    @property
    def report_bits(self) -> int:
        """Bits of the category, and one more."""
        return (self.k - 1).bit_length() + 1

    @property
    def attack_success(self) -> float:
        """How often the best guess from one report is right: the category itself after bit 1, else any other one."""
        return 2 * self.p

    def perturb(self, values: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Client: ``(n,)`` values in 0..k-1 to n reports."""
        category = rng.integers(0, self.k, size=len(values))
        lie = rng.random(len(values)) >= self.truth
        return np.stack([category, (category == values) ^ lie], axis=1)

    def support(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Server: how many reports support each value, ``(k,)``."""
        return np.bincount(reports[:, 0], weights=reports[:, 1], minlength=self.k).astype(np.int64)

    def sample_support(self, counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `support` for ``(..., k)`` users of each value at once, in time that does not depend on how many.

        A report supports the own value with probability p - q, else any one value with probability kq / (1 - p + q).
        """
        own = rng.binomial(counts, self.p - self.q)
        rest = (counts - own).sum(axis=-1)
        some = rng.binomial(rest, self.k * self.q / (1 - self.p + self.q))
        drawn: NDArray[np.int64] = own + rng.multinomial(some, np.full(self.k, 1 / self.k))
        return drawn
