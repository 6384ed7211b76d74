"""Base classes of frequency oracles: the unbiased estimate, its variance, user-by-user replay, and fake reports."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, RealArray, Reports
from simulator.attacks import (
    MOST_SYMBOLS,
    Supports,
    evenly_confused,
    independent_support_attack,
    informed_guess_of_sets,
    informed_guess_of_symbols,
    of_largest,
)
from simulator.draws import binomial, multinomial
from simulator.protocols.dyadic import halves
from simulator.protocols.likelihood import FlatLikelihood
from simulator.protocols.protocol import (
    OF_ESTIMATES,
    Blanket,
    Counts,
    Covariance,
    Likelihood,
    Linear,
    Probabilities,
    Protocol,
    StandardProtocol,
    Tally,
    users_of,
)

REPLAY_CELLS = 4_000_000  # users x categories in memory at once during the user-by-user replay
ONE_VALUE = 1e-9  # how far p + (k - 1) q may lie from 1 by rounding
FAKES_TRIED = 1000  # honest reports from which fakes for a protocol of another package are chosen

Support: TypeAlias = Counts
Chance = TypeVar("Chance", float, FloatArray)  # a probability, or an array of them for several settings


@dataclass(frozen=True)
class Noise(Covariance):
    """Noise of a raw estimate whose entries are alike. Most methods see only this, and never the truth.

    Attributes
    ----------
    n
        Number of users who reported.
    p, q
        Probability that a report supports the user's value, and any other value (averaged over the other values if it
        differs between them); None where a protocol has no support sets.
    variance_at_zero
        Variance of an estimate whose true frequency is 0 (frequency squared).
    variance_slope
        The variance of an estimate of true frequency f is ``variance_at_zero + variance_slope * f``.
    sums_to_one
        Whether raw estimates always sum to exactly 1 (protocols whose reports have a fixed size).
    cancels
        1 where estimates always sum to 1, 0 where they are independent, between for partial cancellation; None for 1 or
        0 according to `sums_to_one`.
    """

    n: int
    p: float | None
    q: float | None
    variance_at_zero: float
    variance_slope: float
    sums_to_one: bool
    cancels: float | None = None

    @classmethod
    def of_supports(cls, n: int, p: float, q: float, *, sums_to_one: bool) -> Noise:
        """Return the noise if a report supports the true value with probability p, and each other value with q."""
        scale = n * (p - q) ** 2
        at_zero, at_one = q * (1 - q) / scale, p * (1 - p) / scale
        return cls(n, p, q, at_zero, at_one - at_zero, sums_to_one)

    def of_users(self, n: int) -> Noise:
        """Return the noise of n users, this being that of one."""
        return replace(self, n=n, variance_at_zero=self.variance_at_zero / n, variance_slope=self.variance_slope / n)

    @property
    def sd(self) -> float:
        """Standard deviation of an estimate whose true frequency is 0 (unit: frequency)."""
        return math.sqrt(self.variance_at_zero)

    def mean_variance(self, k: int) -> float:
        """Return the mean variance of the estimates of all k categories, whatever their frequencies."""
        return self.variance_at_zero + self.variance_slope / k

    def entry(self, frequency: FloatArray) -> FloatArray:
        return self.variance_at_zero + self.variance_slope * np.asarray(frequency, dtype=np.float64)

    def line(self, estimate: FloatArray) -> tuple[FloatArray | float, FloatArray | float]:
        """Return a and b of the variance ``a + b f`` of each entry, all other frequencies being as estimated.

        They are `variance_at_zero` and `variance_slope`. Where entries differ, a, or both, are ``(..., k)``.
        """
        return self.variance_at_zero, self.variance_slope

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        shared, result, sizes = self.cancelled / (k - 1), [], np.ones(k)
        while len(sizes) > 1:
            left, right = halves(sizes)
            sizes = left + right
            squares = (1 + shared) * sizes - shared * (left - right) ** 2
            result.append(np.where(right > 0, self.mean_variance(k) * squares, 0.0))
        return tuple(result)

    @property
    def cancelled(self) -> float:
        """`cancels`, or `sums_to_one` as 0 or 1 if that is None."""
        return float(self.sums_to_one) if self.cancels is None else self.cancels

    def provides(self, k: int) -> frozenset[str]:
        return _of_alike_entries(self.p, self.q, k)


def _of_alike_entries(p: float | None, q: float | None, k: int) -> frozenset[str]:
    """Return the needs of methods that estimates with alike entries satisfy, by the probabilities of support.

    A report that supports exactly one of k values, as in randomised response (p + (k - 1) q = 1), has a likelihood that
    p and q determine; a report that supports several values has a pseudo-likelihood, which treats its supports as
    separate reports.
    """
    if p is None or q is None:
        return OF_ESTIMATES | {"iid"}
    one_value = abs(p + (k - 1) * q - 1) < ONE_VALUE
    return OF_ESTIMATES | {"iid", "pq", "likelihood" if one_value else "pseudo_likelihood"}


@dataclass(frozen=True)
class FrequencyOracle(StandardProtocol):
    """Base class of categorical protocols: support counts, with the same p and q for all values.

    A subclass defines `p`, `q`, the client (`perturb`), the server (`support`), the law of the aggregate
    (`sample_support`) and two figures about a report. This class does the rest. The tally of reports is their support
    counts.

    Parameters and errors as for `StandardProtocol`.
    """

    support_dtype: ClassVar[type[np.int64] | type[np.float64]] = np.int64

    @property
    @abstractmethod
    def p(self) -> float | None:
        """Probability that a report supports the user's value; None for a protocol without support sets."""

    @property
    @abstractmethod
    def q(self) -> float | None:
        """Probability that a report supports a given other value; None for a protocol without support sets."""

    @abstractmethod
    def support(self, reports: Reports) -> Support:
        """Server: count for each value the reports that support it, ``(k,)`` of type `support_dtype`.

        Integers for a protocol with support sets. A protocol without them (`p` is None) returns the input of its
        `estimate`.
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

    def replay_support(self, counts: IntArray, rng: np.random.Generator) -> Support:
        """Return support counts after each user perturbs a value: the slow reference that defines the law.

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
        p, q = self.probabilities
        return (support / n - q) / (p - q)

    def variance(self, frequency: FloatArray | float, n: int) -> FloatArray:
        """Return the variance (frequency squared) of the estimate of each true `frequency`, f-term included.

        If the variance also depends on the other frequencies, this is its mean over all assignments of frequencies to
        values.
        """
        noise = self.noise(n)
        return noise.variance_at_zero + noise.variance_slope * np.asarray(frequency, dtype=np.float64)

    def noise(self, n: int) -> Noise:
        """Return the noise of the estimate of `n` users, as post-processing methods see it.

        Raises
        ------
        ValueError
            If `n` is below 1.
        """
        check_users(n)
        return Noise.of_supports(n, *self.probabilities, sums_to_one=self.sums_to_one)

    @property
    def probabilities(self) -> Probabilities:
        """P and q of a protocol with support sets; raises TypeError if it has none."""
        p, q = self.p, self.q
        if p is None or q is None:
            raise TypeError(f"{type(self).__name__} has no p and q, so it must define estimate and noise itself")
        return p, q

    def tally(self, reports: Reports) -> Tally:
        return Tally(self.support(reports), len(reports))

    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        return Tally(self.sample_support(counts, rng), users_of(counts))

    @property
    def linear(self) -> Linear:
        return Linear(lambda tally: self.estimate(tally.counts, tally.n), self.noise)

    @property
    def likelihood(self) -> Likelihood | None:
        return FlatLikelihood(self.k, *self.probabilities) if "likelihood" in self.provides else None

    @property
    def provides(self) -> frozenset[str]:
        offered = _of_alike_entries(self.p, self.q, self.k)
        # Fakes stand out only among reports that support several values.
        return offered | {"suspects"} if self.independent_supports else offered

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values each report supports, and how many of all.

        The default calls `support` once for each distinct report. That is quick for reports with few symbols, and slow
        but correct for arrays. Without support sets, the largest of the k numbers counts as support.
        """
        if self.p is None:
            return of_largest(reports, self.k, values)
        distinct, place = np.unique(reports, return_inverse=True, axis=0)
        each = np.stack([self.support(distinct[row : row + 1]) for row in range(len(distinct))]) > 0
        place = place.reshape(-1)
        return Supports(each[place, values[0]], each[place, values[1]], each.sum(axis=1)[place], self.k)

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        if attack == "pair" and self.p is None:
            raise ValueError(f"attack pair needs support sets, and {self.key} has none")
        return self.supports(reports, values).chances(attack)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities | None:
        if not self.independent_supports:
            return None
        p, q = self.probabilities
        return evenly_confused(self.attack_success, self.k) if attack == "guess" else (p * (1 - q), q * (1 - p))

    def informed_guess(self, frequencies: FloatArray) -> float | None:
        return informed_guess_of_sets(frequencies, *self.probabilities) if self.independent_supports else None

    def sample_rounds(self, value: int, rounds: int, trials: int, rng: np.random.Generator) -> Support:
        """Return the support ``(trials, k)`` of all reports of a user who reports a value `rounds` times.

        All rounds are drawn together, from the law of the aggregate of `rounds` users who hold the value.
        """
        counts = np.zeros((trials, self.k), dtype=np.int64)
        counts[:, value] = rounds
        return self.sample_support(counts, rng)

    def rounds_cells(self, rounds: int) -> int:
        """Return how many numbers `sample_rounds` draws per trial."""
        return self.k

    def fake_reports(self, fake: str | None, users: int, rng: np.random.Generator) -> Reports:
        """Return fake reports for an attribute that was not sampled, as named in `fakes`; here of uniform values."""
        return self.perturb(rng.integers(0, self.k, size=users), rng)

    @property
    def random_rate(self) -> float:
        """Probability that a uniform draw of all reports supports a value, for protocols with independent supports."""
        p, q = self.probabilities
        return q + (p - q) / self.k

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of uniform draws of all reports: here of reports of uniform values.

        The two are the same for randomised response and subset selection. For members of other packages this is the
        closest known approximation.
        """
        if self.p is None:
            return None
        values = multinomial(fakes, np.full(self.k, 1 / self.k), rng)
        return Tally(self.sample_support(values, rng).astype(np.int64), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of the best reports for the targets: here the best of many honest ones of targets."""
        if self.p is None:
            return None
        reports = self.perturb(rng.choice(targets, size=FAKES_TRIED), rng)
        each = [self.support(reports[row : row + 1]) for row in range(FAKES_TRIED)]
        best = max(each, key=lambda support: int(support[targets].sum()))
        return Tally((best * fakes).astype(np.int64), fakes)


class MeanOracle(FrequencyOracle):
    """A frequency oracle without support sets: the estimate is a mean over the reports, and support is their sum."""

    support_dtype = np.float64
    p = q = None

    def estimate(self, support: Support, n: int) -> FloatArray:
        check_users(n)
        return support / n


class SupportOracle(FrequencyOracle):
    """A frequency oracle with support sets, and so with p and q."""

    @property
    @abstractmethod
    def p(self) -> float: ...

    @property
    @abstractmethod
    def q(self) -> float: ...

    @property
    def blanket(self) -> Blanket | None:
        """Of reports that are e^epsilon times likelier if they support the value, with q the same for all others."""
        return Blanket(self.epsilon, self.p - self.q, 1 + self.p * math.expm1(-self.epsilon))


class IndependentSupports(SupportOracle):
    """Reports that support values independently: the true value with probability p, any other with probability q."""

    independent_supports = True

    @property
    def attack_success(self) -> float:
        return independent_support_attack(self.k, self.p, self.q)

    def sample_support(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        return binomial_support(counts, self.p, self.q, rng)

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(binomial(np.full(self.k, fakes), self.random_rate, rng), fakes)


def check_users(n: int) -> None:
    """Raise ValueError if `n` is below 1."""
    if n < 1:
        raise ValueError(f"n must be at least 1, got n={n}")


def binomial_support(counts: IntArray, p: float, q: float, rng: np.random.Generator) -> IntArray:
    """Draw ``Bin(n_v, p) + Bin(n - n_v, q)`` independently for each value: reports that support independently."""
    others = counts.sum(axis=-1, keepdims=True) - counts
    return binomial(counts, p, rng) + binomial(others, q, rng)


def variances_of(protocols: Mapping[str, Protocol], n: int) -> dict[str, float]:
    """Return the mean variance of the raw estimate of n users, for each protocol that is a frequency oracle."""
    oracles = {name: protocol for name, protocol in protocols.items() if isinstance(protocol, FrequencyOracle)}
    return {name: oracle.noise(n).mean_variance(oracle.k) for name, oracle in oracles.items()}


def mean_variance(k: int, p: Chance, q: Chance) -> Chance:
    """Return the variance of estimates from a single user, averaged over the k values: equal for all frequencies."""
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (k * (p - q) ** 2)


def bits_for(symbols: int) -> int:
    """Return the bits needed for a symbol out of `symbols`.

    >>> [bits_for(m) for m in (2, 3, 256, 257)]
    [1, 2, 8, 9]
    """
    return max(1, (symbols - 1).bit_length())


EQUAL = 1e-12  # relative difference up to which two numbers are the same but for rounding
GROUPS = 20  # fake users of a group send the same report


def group_sizes(fakes: int, groups: int) -> IntArray:
    """Split fake users into groups of nearly equal size."""
    sizes = np.full(groups, fakes // groups)
    sizes[: fakes % groups] += 1
    return sizes


def shared_by_best(helped: RealArray, fakes: int, rng: np.random.Generator, most: int | None = None) -> IntArray:
    """Return fake users per report ``(reports,)``, for the most helpful reports up to a maximum, in random order.

    helped: by how much each report raises the targets; those that are equal but for rounding count as such.
    """
    top = helped.max()
    return shared_out(len(helped), np.flatnonzero(helped >= top - EQUAL * abs(top)), fakes, rng, most)


def shared_out(k: int, values: IntArray, supports: int, rng: np.random.Generator, most: int | None = None) -> IntArray:
    """Return supports spread over some values, a maximum of them, as evenly as possible: ``(k,)``."""
    result = np.zeros(k, dtype=np.int64)
    if len(values):
        chosen = rng.permutation(values)[:most]
        result[chosen] = group_sizes(supports, len(chosen))
    return result


def targets_and_others(k: int, targets: IntArray, fakes: int, others: int, rng: np.random.Generator) -> IntArray:
    """Return support counts ``(k,)`` of reports that all support each target and some other values."""
    free: NDArray[np.int64] = np.setdiff1d(np.arange(k), targets)
    result = shared_out(k, free, fakes * min(others, len(free)), rng)
    result[targets] = fakes
    return result


class SymbolProtocol(Protocol):
    """A protocol whose report is the number of a symbol, and whose tally counts the reports of each symbol."""

    @property
    @abstractmethod
    def symbols(self) -> int:
        """Number of symbols: of different reports."""

    @property
    def report_bits(self) -> int:
        return bits_for(self.symbols)

    def tally(self, reports: Reports) -> Tally:
        return Tally(np.bincount(reports, minlength=self.symbols), len(reports))

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(multinomial(fakes, np.full(self.symbols, 1 / self.symbols), rng), fakes)


class SymbolOracle(SupportOracle, SymbolProtocol):
    """Report a symbol out of K: those that support the true value are e^epsilon times as likely as the others."""

    report_kind = "symbol"

    @abstractmethod
    def supporting(self, value: int) -> NDArray[np.bool_]:
        """Return which of the K symbols support a value, ``(K,)``."""

    @property
    @abstractmethod
    def supported_values(self) -> IntArray:
        """How many of the k values each of the K symbols supports, ``(K,)``."""

    @abstractmethod
    def decode(self, histogram: IntArray) -> IntArray:
        """Return the support counts ``(..., k)`` for histograms ``(..., K)`` of the symbols."""

    def added_support(self, value: int) -> IntArray:
        """Return the contribution ``(K,)`` of each symbol to the support of a value."""
        return self.supporting(value).astype(np.int64)

    def support(self, reports: Reports) -> Support:
        return self.decode(np.bincount(reports, minlength=self.symbols))

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        first, second = (_supporting(self, value)[reports] for value in values)
        return Supports(first, second, self.supported_values[reports], self.k)

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        """Add up over all symbols: those that support the true value are e^epsilon times as likely as the others."""
        supported, rare = self.supports(np.arange(self.symbols), values), math.exp(-self.epsilon)
        chance = supported.chances(attack)
        own, other = (float((chance * np.where(held, 1.0, rare)).sum()) for held in (supported.first, supported.second))
        # All values have equally many supporting symbols, so both sums have the same unit.
        unit = self.p / int(supported.first.sum())
        return own * unit, other * unit

    def informed_guess(self, frequencies: FloatArray) -> float:
        if self.symbols > MOST_SYMBOLS:
            return informed_guess_of_sets(frequencies, self.p, self.q)
        inside = self.p / int(np.count_nonzero(self.supporting(0)))
        outside = inside * math.exp(-self.epsilon)
        return informed_guess_of_symbols(frequencies, self.supporting, inside, outside)

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally:
        return Tally(self.decode(multinomial(fakes, np.full(self.symbols, 1 / self.symbols), rng)), fakes)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally:
        helped = np.sum([self.added_support(int(target)) for target in targets], axis=0)
        return Tally(self.decode(shared_by_best(helped, fakes, rng, GROUPS)), fakes)


@lru_cache(maxsize=8)
def _supporting(oracle: SymbolOracle, value: int) -> NDArray[np.bool_]:
    return oracle.supporting(value)
