"""What everything that collects has in common: reports, their tally, and what may be known of its noise."""

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


@dataclass(frozen=True, eq=False)
class Tally:
    """The sufficient statistic of reports; tallies of parts of the users add up.

    Attributes
    ----------
    counts
        ``(..., m)``; what the m cells are is the protocol's business: support counts, counts of outputs, nodes of a
        tree one level after the other.
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
        """Return tallies of equally many users as the rows of one."""
        counts: Counts = np.stack([tally.counts for tally in tallies])
        return cls(counts, tallies[0].n)


class Covariance(ABC):
    """The noise in unbiased estimates ``(k,)`` of the frequencies (unit: frequency squared)."""

    @abstractmethod
    def entry(self, frequency: FloatArray) -> FloatArray:
        """Return the variance of the estimates of the true frequencies ``(..., k)``."""

    @abstractmethod
    def of(self, rows: FloatArray) -> FloatArray:
        """Return the covariance ``(m, m)`` of the sums ``rows @ estimate``, rows being ``(m, k)``.

        Taken at equal frequencies: what is known before anything is.
        """

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        """Return the variances of all Haar differences, the finest first.

        Node i of height t holds the values v with ``v >> t == i``; its difference is the frequency of its left half
        less that of its right half, at equal frequencies. Height t = 1, 2, ... has ``ceil(k / 2^t)`` nodes; a node
        without a right half has nothing to divide, and variance 0.
        """
        result, height = [], 1
        while (1 << (height - 1)) < k:
            values = np.arange(k)
            node, right = values >> height, (values >> (height - 1)) & 1
            rows = np.where(node == np.arange(node[-1] + 1)[:, None], 1.0 - 2.0 * right, 0.0)
            both = (rows < 0).any(axis=1)
            result.append(np.where(both, np.diag(self.of(rows)), 0.0))
            height += 1
        return tuple(result)


@dataclass(frozen=True)
class Linear:
    """An unbiased linear estimate and its noise."""

    estimate: Callable[[Tally], FloatArray]  # ``Tally -> (..., k)`` frequencies; negative ones stay negative
    covariance: Callable[[int], Covariance]  # of the estimate of so many users


class Likelihood(ABC):
    """How likely each output is under given frequencies; the tally counts the outputs."""

    local: ClassVar[bool] = (
        False  # whether the likely outputs of a value lie together, and those of the next beside them
    )

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
        """Return what takes sums ``(cells, batch)`` of frequencies to outputs, and for how many each of these stands.

        Cells lie between edges ``(cells + 1,)`` from 0 to k, and frequencies are even within them.
        """
        sizes = np.diff(edges)

        def forward(sums: FloatArray) -> FloatArray:
            return self.forward(np.repeat(sums.T / sizes, sizes, axis=-1)).T

        return forward, np.ones(self.shape[1], dtype=np.int64)

    def forward_in_step(self, frequencies: FloatArray) -> FloatArray:
        """Return `forward` of rows ``(rows, k)`` of which there is always the same number: digits may depend on it."""
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
        """Return about the same where values and outputs are cells of neighbouring ones, or None.

        most: values of a cell at most.
        window: cells at least that the likely outputs of a value fill.
        """
        return None

    def restricted(self, outputs: NDArray[np.bool_]) -> Likelihood:
        """Return the same for some outputs alone: those that occurred are all that an update looks at."""
        return _Restricted(self, outputs)


class _Restricted(Likelihood):
    def __init__(self, whole: Likelihood, outputs: NDArray[np.bool_]) -> None:
        self._whole, self._outputs = whole, outputs

    @property
    def shape(self) -> tuple[int, int]:
        return self._whole.shape[0], int(self._outputs.sum())

    def forward(self, frequencies: FloatArray) -> FloatArray:
        return self._whole.forward(frequencies)[..., self._outputs]

    def backward(self, weights: FloatArray) -> FloatArray:
        result = np.zeros((*weights.shape[:-1], len(self._outputs)))
        result[..., self._outputs] = weights
        return self._whole.backward(result)


class Protocol(ABC):
    """A way to collect: any domain, any alphabet of reports; frozen.

    A member gives the client (`perturb`), the server (`tally`), the law of the aggregate (`sample_tally`), what an
    estimate can be made of (`linear`, `likelihood`), and what a report is, costs and gives away. Who attacks, audits
    or poisons asks it too; where a member has no answer of its own, it is None.

    Attributes
    ----------
    k
        Domain size.
    epsilon
        Privacy budget of one report.
    key, title, reference
        Name in the table, name in words, and where it was published.
    report_kind
        What one report is: ``"value"``, ``"bits"`` (k zeros and ones), ``"subset"`` (different values), ``"hash"``
        (hash seed and symbol), ``"symbol"`` (number of a symbol), ``"cells"`` (k numbers), ``"node"`` (height of a
        tree, and what is said of the nodes there), or ``"own"``: known to the member alone.
    """

    ordered_only: ClassVar[bool] = False  # whether it is for ordered domains alone
    sums_to_one: ClassVar[bool] = False  # whether raw estimates always do
    fakes: ClassVar[tuple[str | None, ...]] = ()  # ways to fake the report of an attribute that was not sampled
    independent_supports: ClassVar[bool] = False  # whether a report supports the values independently of each other

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
        """Size of one report in bits."""

    @property
    @abstractmethod
    def attack_success(self) -> float:
        """Probability that the best single guess from one report is the user's value (uniform prior).

        Arcolezi and Gambs, "Revealing the true cost of locally differentially private protocols", 2023.
        """

    @property
    def cost(self) -> tuple[float | str, ...]:
        """What a report costs, as `simulator.ranking.preference` weighs it: its size, the server's work, an attack.

        The key comes last, so that of two protocols which are the same at this k and ε always one is named.
        """
        return self.report_bits, self.server_operations(MANY), round(self.attack_success, 9), self.key

    @abstractmethod
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        """Client: turn values ``(n,)`` in 0..k-1 into n reports in the protocol's own format."""

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
        """The unbiased estimate and its noise, where there is a usable one."""
        return None

    @property
    def likelihood(self) -> Likelihood | None:
        """The likelihood of the tally, where the alphabet of reports is small enough."""
        return None

    def offers(self, need: str) -> bool:
        """Tell whether a method that needs this (one of `NEEDS`) can have it."""
        if need in ("likelihood", "local_likelihood"):
            return self.likelihood is not None and (need == "likelihood" or self.likelihood.local)
        return need == "estimate" and self.linear is not None

    @property
    def provides(self) -> frozenset[str]:
        """All that the protocol offers to methods, of `NEEDS`."""
        return frozenset(need for need in NEEDS if self.offers(need))

    def server_operations(self, n: int) -> int:
        """Return about how many operations (additions, hashes) it takes to count `n` reports, once all are read.

        Here one for each user and each value; members that need fewer say so.
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
        """Return how likely the attack names v1 where v1 is held, and where v2 is; None without a closed form."""
        return None

    def informed_guess(self, frequencies: FloatArray) -> float | None:
        """Return how often the best guess from one report is right, of an attacker who knows the frequencies ``(k,)``.

        Of each report such an attacker names the value v with the largest f_v Pr[report | v]; the success is the sum of
        these over all reports. Where a report supports a set of values and says no more, that is the most frequent
        value of the set, or the most frequent of all where this is so much more frequent. None where the likelihoods
        are not known.
        """
        return None

    def privacy_loss(self, values: tuple[int, int]) -> float:
        """Return the log-ratio that is promised for the probabilities of any report under v1 and v2."""
        return self.epsilon

    @property
    def blanket(self) -> Blanket | None:
        """What its reports hide others behind in a shuffler; None where no more is known than of any protocol."""
        return None

    def random_fakes(self, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of even draws of all possible reports; None where there is no such draw."""
        return None

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the tally of the reports that raise the estimates of the targets most; None where nothing bounds them.

        Where a report has to look like others it does.
        """
        return None


@dataclass(frozen=True)
class StandardProtocol(Protocol):
    """A protocol that domain size and budget determine: a member of the table.

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
    report_kind: ClassVar[str] = "own"
    acronym: ClassVar[bool] = False  # whether the key is one, and is written in capitals
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
    """What is known of the reports of two values, and of those that hold nothing of any value.

    With probability `share` a report is drawn from one distribution, the same for all values. A report says that one
    of two values is `loss` likelier (in logarithms) than the other, or that none is.
    """

    loss: float  # largest log-ratio of the probabilities of a report
    variation: float  # largest total variation distance between the reports of two values
    share: float  # of the reports of any value that are drawn from the distribution common to all

    @classmethod
    def of_symbols(cls, epsilon: float, p: float, variation: float) -> Blanket:
        """Return that of reports that are e^epsilon times likelier where they support the own value: p of them do."""
        return cls(epsilon, variation, 1 + p * math.expm1(-epsilon))

    @classmethod
    def of_bits(cls, p: float, q: float) -> Blanket:
        """Return that of independent bits: the own one is 1 with probability p, every other one with q."""
        return cls(math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p), p - q, (1 - p) / (1 - q))

    @classmethod
    def generic(cls, epsilon: float) -> Blanket:
        """Return what any reports of this budget have at least: a yes/no answer is the worst of them.

        Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling for Rényi and approximate differential
        privacy", SODA 2023, Lemma 3.1.
        """
        return cls(epsilon, math.tanh(epsilon / 2), 2 / (math.exp(epsilon) + 1))

    @property
    def opposite(self) -> float:
        """Probability of a report that speaks for the other value."""
        return self.variation / math.expm1(self.loss)

    @property
    def silent(self) -> float:
        """Probability that a report is drawn from the common distribution, and speaks for neither of two values."""
        return max(0.0, self.share - 2 * self.opposite)
