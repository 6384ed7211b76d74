"""Base classes of all protocols: reports, their tally, and its known noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports

Counts: TypeAlias = "NDArray[np.int64 | np.float64]"  # counts, but where reports are real numbers to be added up
Probabilities: TypeAlias = tuple[float, float]

EPSILON_MIN, EPSILON_MAX = 1e-6, 32.0
MANY = 1_000_000  # reports by which the work of servers is compared
NEEDS = ("estimate", "iid", "haar", "pq", "likelihood", "local_likelihood", "pseudo_likelihood", "suspects")
"""What a protocol may offer to a method; `simulator.domain` adds what a domain may."""
OF_ESTIMATES = frozenset({"estimate", "haar"})  # of those what every unbiased estimate offers


@dataclass(frozen=True, eq=False)
class Tally:
    """The sufficient statistic of reports; tallies of parts of the users add up.

    Attributes
    ----------
    counts
        ``(..., m)``; the protocol defines the m cells: support counts, counts of outputs, nodes of a tree level by
        level.
    n
        Number of users who reported, in each row.
    """

    counts: Counts
    n: int

    def __add__(self, other: Tally) -> Tally:
        """Join the reports of two groups of users."""
        return Tally(cast("Counts", self.counts + other.counts), self.n + other.n)

    @classmethod
    def stack(cls, tallies: Sequence[Tally]) -> Tally:
        """Stack tallies with equal numbers of users as rows."""
        counts: Counts = np.stack([tally.counts for tally in tallies])
        return cls(counts, tallies[0].n)


class Covariance(ABC):
    """The noise in unbiased estimates ``(k,)`` of the frequencies (unit: frequency squared)."""

    def provides(self, k: int) -> frozenset[str]:
        """Return the members of `NEEDS` that an estimate of k frequencies with this noise offers to methods."""
        return OF_ESTIMATES

    @abstractmethod
    def entry(self, frequency: FloatArray) -> FloatArray:
        """Return the variance of the estimates of the true frequencies ``(..., k)``."""

    @abstractmethod
    def haar(self, k: int) -> tuple[FloatArray, ...]:
        """Return the variances of all Haar differences, the finest first.

        Node i of height t holds the values v with ``v >> t == i``; its difference is the frequency of its left half
        minus that of its right half, at equal frequencies. Height t = 1, 2, ... has ``ceil(k / 2^t)`` nodes; a node
        without a right half has nothing to divide, and variance 0.
        """


@dataclass(frozen=True)
class Linear:
    """An unbiased linear estimate and its noise."""

    estimate: Callable[[Tally], FloatArray]  # ``Tally -> (..., k)`` frequencies; negative ones stay negative
    covariance: Callable[[int], Covariance]  # of the estimate of n users


Product: TypeAlias = "Callable[[FloatArray], FloatArray]"


class Likelihood(ABC):
    """How likely each output is under given frequencies; the tally counts the outputs."""

    local: ClassVar[bool] = False  # whether neighbouring values have neighbouring likely outputs

    @property
    def provides(self) -> frozenset[str]:
        """The members of `NEEDS` that it offers to methods."""
        return frozenset({"likelihood", "local_likelihood"} if self.local else {"likelihood"})

    @abstractmethod
    def forward(self, frequencies: FloatArray) -> FloatArray:
        """Return the probabilities ``(..., outputs)`` of the outputs under frequencies ``(..., k)``."""

    @abstractmethod
    def backward(self, weights: FloatArray) -> FloatArray:
        """Return for each value the mean ``(..., k)`` of weights ``(..., outputs)`` over its reports: the transpose."""

    def backward_squares(self, weights: FloatArray) -> FloatArray:
        """Return `backward` for the squares of the probabilities, value by value."""
        k = self.shape[0]
        rows = (self.forward(np.eye(1, k, value)[0]) ** 2 for value in range(k))
        return np.stack([(row * weights).sum(axis=-1) for row in rows], axis=-1)

    def in_cells(self, edges: IntArray) -> tuple[Callable[[FloatArray], FloatArray], IntArray]:
        """Return a function from sums ``(cells, batch)`` of frequencies to outputs, and how many outputs each row is.

        Cells lie between edges ``(cells + 1,)`` from 0 to k, and frequencies are even within them.
        """
        sizes = np.diff(edges)

        def forward(sums: FloatArray) -> FloatArray:
            return self.forward(np.repeat(sums.T / sizes, sizes, axis=-1)).T

        return forward, np.ones(self.shape[1], dtype=np.int64)

    def forward_in_step(self, frequencies: FloatArray) -> FloatArray:
        """Return `forward` of a fixed number of rows ``(rows, k)``: the last digits may depend on that number."""
        return self.forward(frequencies)

    def backward_in_step(self, weights: FloatArray) -> FloatArray:
        """Return `backward` of rows ``(rows, outputs)`` in the same way."""
        return self.backward(weights)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of values and of outputs."""

    @property
    def flat(self) -> Probabilities | None:
        """Probabilities (p, q) where this is randomised response, which has a closed form; else None."""
        return None

    def coarser(self, most: float, window: int) -> Likelihood | None:
        """Return an approximation on cells of neighbouring values and outputs, or None.

        most: maximum number of values in a cell.
        window: minimum number of cells that the likely outputs of a value fill.
        """
        return None

    def restricted(self, outputs: NDArray[np.bool_]) -> tuple[Product, Product]:
        """Return `forward` and `backward` for some outputs only: an update needs only those that occurred."""

        def backward(weights: FloatArray) -> FloatArray:
            result = np.zeros((*weights.shape[:-1], len(outputs)))
            result[..., outputs] = weights
            return self.backward(result)

        return lambda frequencies: self.forward(frequencies)[..., outputs], backward


class Protocol(ABC):
    """A collection protocol with any domain and any alphabet of reports; frozen.

    A subclass defines the client (`perturb`), the server (`tally`), the law of the aggregate (`sample_tally`), the
    inputs of an estimate (`linear`, `likelihood`), and the form, cost and leakage of a report. Attacks, audits and
    poisoning use its other methods; the default answer is None.

    Attributes
    ----------
    k
        Domain size.
    epsilon
        Privacy budget per report.
    key, title, reference
        Name in the table, name in words, and where it was published.
    report_kind
        Form of a report: ``"value"``, ``"bits"`` (k zeros and ones), ``"subset"`` (different values), ``"hash"`` (hash
        seed and symbol), ``"symbol"`` (number of a symbol), ``"cells"`` (k numbers), ``"node"`` (height of a tree, and
        the report on its nodes), or ``"own"``: a format that only the member knows.
    """

    ordered_only: ClassVar[bool] = False  # whether it is for ordered domains only
    sums_to_one: ClassVar[bool] = False  # whether raw estimates always do
    fakes: ClassVar[tuple[str | None, ...]] = ()  # ways to fake the report of an attribute that was not sampled
    independent_supports: ClassVar[bool] = False  # whether a report supports the values independently of each other
    slow: ClassVar[bool] = False  # whether users can only be replayed one by one, up to `most_users`
    most_users: ClassVar[int] = 10_000_000

    if TYPE_CHECKING:  # members give these as fields, class attributes or properties

        @property
        def k(self) -> int: ...
        @property
        def epsilon(self) -> float: ...
        @property
        def key(self) -> str: ...
        @property
        def title(self) -> str: ...
        @property
        def reference(self) -> str: ...
        @property
        def report_kind(self) -> str: ...

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Report size in bits."""

    @property
    @abstractmethod
    def attack_success(self) -> float:
        """Probability that the best single guess from a report is the user's value (uniform prior).

        Arcolezi and Gambs, "Revealing the true cost of locally differentially private protocols", 2023.
        """

    @property
    def cost(self) -> tuple[float | str, ...]:
        """Cost of a report for `simulator.ranking.preference`: report size, server operations, attack success, key.

        The key comes last, so that the choice between protocols that are the same at this k and ε is deterministic.
        """
        return self.report_bits, self.server_operations(MANY), round(self.attack_success, 9), self.key

    @property
    def same_as(self) -> str | None:
        """Key of another protocol that has the same channel at this k and ε; None if there is none."""
        return None

    @abstractmethod
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        """Client: turn values ``(n,)`` in 0..k-1 into n reports in the protocol's format."""

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Server: the sufficient statistic ``(m,)`` of some reports."""

    @abstractmethod
    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        """Draw the tally from the law of the aggregate, at a cost that does not depend on n.

        Parameters
        ----------
        counts
            ``(..., k)`` users who hold each value, equally many in each row.
        """

    @property
    def linear(self) -> Linear | None:
        """The unbiased estimate and its noise, or None without a usable estimate."""
        return None

    @property
    def likelihood(self) -> Likelihood | None:
        """The likelihood of the tally, or None if the alphabet of reports is too large."""
        return None

    @property
    def provides(self) -> frozenset[str]:
        """The members of `NEEDS` that the protocol offers to methods."""
        of_estimates = OF_ESTIMATES if self.linear is not None else frozenset[str]()
        return of_estimates if self.likelihood is None else of_estimates | self.likelihood.provides

    def offers(self, need: str) -> bool:
        """Return whether the protocol satisfies a need of a method."""
        return need in self.provides

    def server_operations(self, n: int) -> int:
        """Return the approximate number of operations (additions, hashes) to count `n` reports in memory.

        Here n k; protocols that need fewer operations override it.
        """
        return n * self.k

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        """Return ``(n,)`` probabilities that an attack (``"guess"``, ``"pair"``) on each report names ``values[0]``.

        Raises
        ------
        ValueError
            If this attack is not known on such reports.
        """
        raise ValueError(f"attack {attack} is not known on reports of {self.key}")

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities | None:
        """Return the probabilities that the attack names v1 if v1, and if v2, is the value; or None."""
        return None

    def informed_guess(self, frequencies: FloatArray) -> float | None:
        """Return the success rate of the best guess from a report, for an attacker who knows the frequencies ``(k,)``.

        Such an attacker names the value v with the largest f_v Pr[report | v]; the success is the sum of these maxima
        over all reports. If a report only supports a set of values, v is the most frequent value of the set, or a much
        more frequent value outside it. None if the likelihoods are not known.
        """
        return None

    def privacy_loss(self, values: tuple[int, int]) -> float:
        """Return the guaranteed log-ratio of the probabilities of any report under v1 and v2."""
        return self.epsilon

    @property
    def blanket(self) -> Blanket | None:
        """Privacy blanket: the part of reports that does not depend on the data; None if only the worst case holds."""
        return None

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of uniform draws of all possible reports; None if no such draw exists."""
        return None

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of the reports that raise the targets' estimates most; None if reports are unbounded.

        If honest reports share a form, such as a fixed size, these have it too.
        """
        return None


@dataclass(frozen=True)
class StandardProtocol(Protocol):
    """A protocol determined by domain size and budget: a member of the table.

    Parameters
    ----------
    k
        Domain size, at least 2.
    epsilon
        Privacy budget per report, between 1e-6 and 32. Below, p - q drowns in rounding; above, e^epsilon exceeds 7e13
        and nothing is protected.

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
    report_kind: ClassVar[str] = "own"
    acronym: ClassVar[bool] = False  # whether the key is an acronym, written in capitals
    assumed: ClassVar[str] = ""  # what its figures rest on, where they are not exact
    aliases: ClassVar[tuple[str, ...]] = ()  # other names, in small letters without hyphens and underscores

    @abstractmethod
    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values each report supports, and how many of all."""

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        return self.supports(reports, values).chances(attack)

    def __post_init__(self) -> None:
        check_setting(self.k, self.epsilon)
        object.__setattr__(self, "k", int(self.k))  # numbers of numpy have other methods, and another repr
        object.__setattr__(self, "epsilon", float(self.epsilon))


def check_setting(k: int, epsilon: float) -> None:
    """Raise ValueError if a domain size is not a whole number of at least 2, or a budget is outside its range."""
    if not isinstance(k, int | np.integer) or k < 2:
        raise ValueError(f"k must be a whole number of at least 2, got k={k}")
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise ValueError(f"epsilon must be between {EPSILON_MIN:g} and {EPSILON_MAX:g}, got epsilon={epsilon}")


def users_of(counts: IntArray) -> int:
    """Return the number of users in each row of counts ``(..., k)``."""
    rows = counts.reshape(-1, counts.shape[-1])
    return int(rows[0].sum()) if len(rows) else 0


class Blanket(NamedTuple):
    """Privacy blanket of a protocol: the reports of two values, and the part that does not depend on the data.

    With probability `share` a report is drawn from a distribution that is the same for all values. A report makes v1
    likelier than v2 by `loss` (a log-ratio), or v2 likelier than v1, or favours neither.
    """

    loss: float  # largest log-ratio of the probabilities of a report
    variation: float  # largest total variation distance between the reports of two values
    share: float  # of the reports of any value that are drawn from the distribution common to all

    @classmethod
    def of_bits(cls, p: float, q: float) -> Blanket:
        """Return the blanket of independent bits: 1 with probability p for the true value, with q for other values."""
        return cls(math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p), p - q, (1 - p) / (1 - q))

    @classmethod
    def generic(cls, epsilon: float) -> Blanket:
        """Return the worst-case blanket of any ε-LDP protocol; binary randomised response attains it.

        Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling for Rényi and approximate differential
        privacy", SODA 2023, Lemma 3.1.
        """
        return cls(epsilon, math.tanh(epsilon / 2), 2 / (math.exp(epsilon) + 1))

    @property
    def opposite(self) -> float:
        """Probability of a report that favours the other value."""
        return self.variation / math.expm1(self.loss)

    @property
    def silent(self) -> float:
        """Probability that a report is drawn from the common distribution and favours neither of two values."""
        return max(0.0, self.share - 2 * self.opposite)
