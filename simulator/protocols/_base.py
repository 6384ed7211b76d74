"""What every frequency oracle shares: the unbiased estimate, its variance, and the user-by-user replay."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray, Reports

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPSILON_MIN, EPSILON_MAX = 1e-6, 32.0
REPLAY_CELLS = 4_000_000  # users x categories held at once while users are replayed one by one

Support: TypeAlias = "NDArray[np.int64 | np.float64]"  # counts, but where reports are real numbers to be added up


@dataclass(frozen=True)
class Noise:
    """What a post-processing method may know of the noise in a raw estimate; never the truth.

    Attributes
    ----------
    n
        Number of users who reported.
    p, q
        Probability that a report supports the user's own value, and another one (averaged over the other values
        where it differs between them); None where a protocol has no support sets.
    variance_at_zero
        Variance of an estimate whose true frequency is 0 (frequency squared).
    variance_slope
        The variance of an estimate of true frequency f is ``variance_at_zero + variance_slope * f``.
    sums_to_one
        Whether raw estimates always sum to exactly 1 (protocols whose reports have a fixed size).
    cancels
        Share of the variances of all estimates that cancels in their sum: 1 where they sum to 1, 0 where they are
        independent; None where it is one of the two, by `sums_to_one`.
    """

    n: int
    p: float | None
    q: float | None
    variance_at_zero: float
    variance_slope: float
    sums_to_one: bool
    cancels: float | None = None

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
    support_dtype: ClassVar[type[np.int64] | type[np.float64]] = np.int64

    def __post_init__(self) -> None:
        if not isinstance(self.k, int | np.integer) or self.k < 2:
            raise ValueError(f"k must be a whole number of at least 2, got k={self.k}")
        if not EPSILON_MIN <= self.epsilon <= EPSILON_MAX:
            raise ValueError(f"epsilon must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got epsilon={self.epsilon}")

    @property
    @abstractmethod
    def p(self) -> float | None:
        """Probability that a report supports the user's own value; None for a protocol without support sets."""

    @property
    @abstractmethod
    def q(self) -> float | None:
        """Probability that a report supports any one other value; None for a protocol without support sets."""

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
    def support(self, reports: Reports) -> Support:
        """Server: count for each value the reports that support it, ``(k,)`` of type `support_dtype`.

        Integers, for a protocol with support sets; one without (`p` is None) gives what its `estimate` takes.
        """

    @abstractmethod
    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> Support:
        """Draw support counts from the law of the aggregate, at a cost that does not depend on n.

        Parameters
        ----------
        counts
            ``(..., k)`` users who hold each value.

        Returns
        -------
        ``(..., k)`` support counts of type `support_dtype`.
        """

    def server_operations(self, n: int) -> int:
        """Return about how many operations (additions, hashes) it takes to count `n` reports, once all are read.

        Here one for each user and each value; members that need fewer say so.
        """
        return n * self.k

    def replay_support(self, counts: IntArray, rng: np.random.Generator) -> Support:
        """Let every user perturb and the server count: the slow reference that defines the law.

        Parameters and result as in `sample_support`; time grows with n times k.
        """
        rows = np.ascontiguousarray(counts).reshape(-1, self.k)
        step = max(1, REPLAY_CELLS // self.k)
        result: Support = np.zeros(rows.shape, dtype=self.support_dtype)
        for row, out in zip(rows, result, strict=True):
            values = np.repeat(np.arange(self.k), row)
            for start in range(0, len(values), step):
                out += self.support(self.perturb(values[start : start + step], rng))
        return result.reshape(counts.shape)

    def estimate(self, support: Support, n: int) -> FloatArray:
        """Return the unbiased frequency estimates ``(..., k)`` of `n` users; negative ones stay negative.

        Wang, Blocki, Li, Jha, "Locally differentially private protocols for frequency estimation", 2017, eq. 3.

        Raises
        ------
        ValueError
            If `n` is below 1.
        """
        check_users(n)
        p, q = self._probabilities
        return (support / n - q) / (p - q)

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
        check_users(n)
        p, q = self._probabilities
        scale = n * (p - q) ** 2
        at_zero, at_one = q * (1 - q) / scale, p * (1 - p) / scale
        return Noise(n, p, q, at_zero, at_one - at_zero, self.sums_to_one)

    @property
    def _probabilities(self) -> tuple[float, float]:
        p, q = self.p, self.q
        if p is None or q is None:
            raise TypeError(f"{type(self).__name__} has no p and q, so it must define estimate and noise itself")
        return p, q


def check_users(n: int) -> None:
    """Raise ValueError if `n` users are too few to estimate anything."""
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
