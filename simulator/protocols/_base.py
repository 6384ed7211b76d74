"""What every frequency oracle shares: the unbiased estimate, its variance, and the user-by-user replay."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports

EPSILON_MIN, EPSILON_MAX = 1e-6, 32.0
REPLAY_CELLS = 4_000_000  # users x categories held at once while users are replayed one by one


@dataclass(frozen=True)
class Noise:
    """What a post-processing method may know of the noise in a raw estimate; never the truth.

    Attributes
    ----------
    n
        Number of users who reported.
    p, q
        Probability that a report supports the user's own value, and another one; None where a protocol has no
        support sets.
    variance_at_zero
        Variance of an estimate whose true frequency is 0 (frequency squared).
    variance_slope
        The variance of an estimate of true frequency f is ``variance_at_zero + variance_slope * f``.
    sums_to_one
        Whether raw estimates always sum to exactly 1 (protocols whose reports have a fixed size).
    """

    n: int
    p: float | None
    q: float | None
    variance_at_zero: float
    variance_slope: float
    sums_to_one: bool

    @property
    def sd(self) -> float:
        """Standard deviation of an estimate whose true frequency is 0 (unit: frequency)."""
        return math.sqrt(self.variance_at_zero)


@dataclass(frozen=True)
class FrequencyOracle(ABC):
    """A protocol for one domain size and budget.

    A member gives `p`, `q`, the client (`perturb`), the server (`support`), the law of the aggregate
    (`sample_support`) and two figures about a report; the rest is here, once.

    Parameters
    ----------
    k
        Domain size, at least 2.
    epsilon
        Privacy budget of one report, between 1e-6 and 32. Below, p - q drowns in rounding; above, e^epsilon
        exceeds 7e13 and nothing is protected.

    Raises
    ------
    ValueError
        If `k` is not a whole number, or `k` or `epsilon` is outside its range.
    """

    k: int
    epsilon: float

    key: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    sums_to_one: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.k, int | np.integer) or self.k < 2:
            raise ValueError(f"k must be a whole number of at least 2, got k={self.k}")
        if not EPSILON_MIN <= self.epsilon <= EPSILON_MAX:
            raise ValueError(f"epsilon must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got epsilon={self.epsilon}")

    @property
    @abstractmethod
    def p(self) -> float:
        """Probability that a report supports the user's own value."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Probability that a report supports any one other value."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Size of one report in bits."""

    @property
    @abstractmethod
    def attack_success(self) -> float:
        """Probability that the best single guess from one report is the user's value (uniform prior).

        Arcolezi and Gambs, "Revealing the true cost of locally differentially private protocols", 2023.
        """

    @abstractmethod
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        """Client: turn values ``(n,)`` in 0..k-1 into n reports in the protocol's own format."""

    @abstractmethod
    def support(self, reports: Reports) -> IntArray:
        """Server: count for each value the reports that support it, ``(k,)``."""

    @abstractmethod
    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw support counts from the law of the aggregate, at a cost that does not depend on n.

        Parameters
        ----------
        counts
            ``(..., k)`` users who hold each value.

        Returns
        -------
        ``(..., k)`` integer support counts.
        """

    def replay_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Let every user perturb and the server count: the slow reference that defines the law.

        Parameters and result as in `sample_support`; time grows with n times k.
        """
        rows = np.ascontiguousarray(counts).reshape(-1, self.k)
        step = max(1, REPLAY_CELLS // self.k)
        result = np.zeros(rows.shape, dtype=np.int64)
        for row, out in zip(rows, result, strict=True):
            values = np.repeat(np.arange(self.k), row)
            for start in range(0, len(values), step):
                out += self.support(self.perturb(values[start : start + step], rng))
        return result.reshape(counts.shape)

    def estimate(self, support: IntArray, n: int) -> FloatArray:
        """Return the unbiased frequency estimates ``(..., k)`` of `n` users; negative ones stay negative.

        Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", 2017, eq. 3.

        Raises
        ------
        ValueError
            If `n` is below 1.
        """
        _check_users(n)
        return (support / n - self.q) / (self.p - self.q)

    def variance(self, frequency: FloatArray | float, n: int) -> FloatArray:
        """Return the variance (frequency squared) of the estimate of each true `frequency`, f-term included."""
        noise = self.noise(n)
        return noise.variance_at_zero + noise.variance_slope * np.asarray(frequency, dtype=np.float64)

    def noise(self, n: int) -> Noise:
        """Return what a post-processing method may know when `n` users reported.

        Raises
        ------
        ValueError
            If `n` is below 1.
        """
        _check_users(n)
        scale = n * (self.p - self.q) ** 2
        at_zero, at_one = self.q * (1 - self.q) / scale, self.p * (1 - self.p) / scale
        return Noise(n, self.p, self.q, at_zero, at_one - at_zero, self.sums_to_one)


def _check_users(n: int) -> None:
    if n < 1:
        raise ValueError(f"n must be at least 1, got n={n}")


def binomial_support(counts: IntArray, p: float, q: float, rng: np.random.Generator) -> IntArray:
    """Draw ``Bin(n_v, p) + Bin(n - n_v, q)`` independently for each value: reports that support independently."""
    others = counts.sum(axis=-1, keepdims=True) - counts
    return rng.binomial(counts, p) + rng.binomial(others, q)


def bits_for(symbols: int) -> int:
    """Return the bits that one of `symbols` symbols takes.

    >>> [bits_for(m) for m in (2, 3, 256, 257)]
    [1, 2, 8, 9]
    """
    return max(1, (symbols - 1).bit_length())
