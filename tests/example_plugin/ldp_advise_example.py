"""An example of a package with members for ldp-advise: a protocol, a post-processing method and a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator import FrequencyOracle, Metric, Noise, PostProcessor


@dataclass(frozen=True)
class SampledBit(FrequencyOracle):
    """Report a random category and, by randomised response, whether it is the own one.

    Reports are a ``(n, 2)`` integer array of (category, bit); one with bit 1 supports its category, one with bit 0
    supports nothing. Warner, "Randomized response", J. Amer. Statist. Assoc. 1965, for one bit of the one-hot vector.
    """

    key = "sampled_bit"
    title = "Randomised response on one random bit"
    reference = "Warner, J. Amer. Statist. Assoc. 1965"

    @property
    def truthful(self) -> float:
        """Probability that the bit is the true one."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def p(self) -> float:
        """Probability that a report supports the user's own value."""
        return self.truthful / self.k

    @property
    def q(self) -> float:
        """Probability that a report supports any one other value."""
        return math.exp(-self.epsilon) * self.p

    @property
    def report_bits(self) -> int:
        """Bits of the category, and one more."""
        return (self.k - 1).bit_length() + 1

    @property
    def attack_success(self) -> float:
        """Half of the guesses are the category itself (bit 1), the others anything else (bit 0)."""
        return 2 * self.p

    def perturb(self, values: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Client: ``(n,)`` values to ``(n, 2)`` reports."""
        category = rng.integers(0, self.k, size=len(values))
        lie = rng.random(len(values)) >= self.truthful
        return np.stack([category, (category == values) ^ lie], axis=1)

    def support(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """Server: how many reports support each value."""
        return np.bincount(reports[:, 0], weights=reports[:, 1], minlength=self.k).astype(np.int64)

    def sample_support(self, counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the aggregate: support the own value, or an even draw of all, or none, is the same channel."""
        own = rng.binomial(counts, self.p - self.q)
        rest = (counts - own).sum(axis=-1)
        some = rng.binomial(rest, self.k * self.q / (1 - self.p + self.q))
        return own + rng.multinomial(some, np.full(self.k, 1 / self.k))


def james_stein(estimate: NDArray[np.float64], noise: Noise) -> NDArray[np.float64]:
    """Shrink the estimates ``(..., k)`` towards the uniform distribution, by as much as their noise explains.

    The positive-part estimator of James and Stein, Proc. 4th Berkeley Symp. 1961, around 1/k.
    """
    k = estimate.shape[-1]
    distance = estimate - 1 / k
    squares = (distance**2).sum(axis=-1, keepdims=True)
    explained = (k - 2) * noise.variance_at_zero
    lost = np.divide(explained, squares, out=np.ones_like(squares), where=squares > explained)
    result: NDArray[np.float64] = 1 / k + (1 - lost) * distance
    return result


def max_error(estimate: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest absolute error of a category (frequency)."""
    result: NDArray[np.float64] = np.abs(estimate - truth).max(axis=-1)
    return result


JAMES_STEIN = PostProcessor(
    name="james_stein",
    title="James-Stein",
    function=james_stein,
    nonnegative=False,
    sums_to_one=False,
    reference="James, Stein, Proc. 4th Berkeley Symp. 1961",
)
MAX_ERROR = Metric(name="max_error", title="largest absolute error", function=max_error, unit="frequency")
