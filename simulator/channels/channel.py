"""Protocols given by a matrix: input x becomes output y with the probability in row x, column y."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simulator._types import FloatArray, IntArray, Reports
from simulator.attacks import Supports
from simulator.draws import multinomial
from simulator.foreign import ForeignError, guard
from simulator.protocols.dyadic import differences
from simulator.protocols.likelihood import MatrixLikelihood
from simulator.protocols.oracle import EQUAL, Noise, SymbolProtocol, shared_by_best
from simulator.protocols.protocol import (
    OF_ESTIMATES,
    Covariance,
    Linear,
    Probabilities,
    StandardProtocol,
    Tally,
    users_of,
)

ALIKE = 1e-6  # relative difference up to which the noise of two entries is the same
ROW_SLACK = 1e-9  # how far the sum of a row may be from 1
DRAWN_CELLS = 2**20  # counts that a batch of draws keeps at a time
WORST_CONDITION = 2**26.5  # times 1/sqrt(2^53), the least noise there can be: as large as all frequencies together


class MatrixProtocol(SymbolProtocol):
    """A protocol given by its matrix; a report is the number of an output, and the tally counts them."""

    if TYPE_CHECKING:  # members give it as a field or a property

        @property
        def matrix(self) -> FloatArray:
            """``(inputs, outputs)`` probabilities; each row sums to 1."""

    @property
    def symbols(self) -> int:
        """Number of outputs."""
        return int(self.matrix.shape[1])

    @property
    def report_kind(self) -> str:
        """``"value"`` if there are as many outputs as inputs, treated as the same places; else ``"symbol"``."""
        return "value" if self.symbols == self.k else "symbol"

    @property
    def attack_success(self) -> float:
        """Probability that the best single guess from a report is the user's value (uniform prior)."""
        return float(self.matrix.max(axis=0).sum() / self.k)

    def informed_guess(self, frequencies: FloatArray) -> float:
        """Return the success of the likeliest value, given the report and the frequencies."""
        return float((frequencies[:, None] * self.matrix).max(axis=0).sum())

    def perturb(self, values: IntArray, rng: np.random.Generator) -> IntArray:
        """Client: draw from the row of each value ``(n,)``, by the inverse of its running sums."""
        running = np.cumsum(self.matrix, axis=1)
        running[:, -1] = np.inf  # rounding must not leave a draw without an output
        draws = rng.random(len(values))
        reports = np.empty(len(values), dtype=np.int64)
        for value in np.unique(values):
            own = values == value
            reports[own] = np.searchsorted(running[value], draws[own], side="right")
        return reports

    def sample_tally(self, counts: IntArray, rng: np.random.Generator) -> Tally:
        """Draw the counts of the outputs: reports of users with the same value come independently from one row."""
        rows = np.ascontiguousarray(counts).reshape(-1, self.k)
        result = np.empty((len(rows), self.symbols), dtype=np.int64)
        step = max(1, DRAWN_CELLS // self.matrix.size)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            held = np.flatnonzero(some.any(axis=0))
            result[start : start + step] = multinomial(some[:, held], self.matrix[held], rng).sum(axis=1)
        return Tally(result.reshape(*counts.shape[:-1], self.symbols), users_of(counts))

    def expected_distance(self, frequencies: FloatArray, distances: FloatArray) -> float:
        """Return the mean distance between the true and the reported place, in the unit of the distances.

        The quality of service of Shokri et al., "Protecting location privacy: optimal strategy against localization
        attacks", CCS 2012, for a channel whose outputs are places.

        Parameters
        ----------
        frequencies
            ``(k,)`` true frequencies.
        distances
            ``(k, outputs)``.
        """
        return float(frequencies @ (self.matrix * distances).sum(axis=1))

    def adversary_error(self, prior: FloatArray, distances: FloatArray) -> float:
        """Return the mean distance between the true place and the best guess of it from a report.

        The adversary knows the prior ``(k,)`` and the matrix, and guesses the place that is the nearest on average
        given the report (Bayes). Privacy in the sense of Shokri et al. (as for `expected_distance`), who call it the
        expected error. It never exceeds the `expected_distance` between the same places, as the report is a guess too.

        distances: ``(k, k)``, of the true place from the guess.
        """
        return float(((prior[:, None] * self.matrix).T @ distances).min(axis=1).sum())

    def server_operations(self, n: int) -> int:
        """Return the approximate number of operations of a product with the matrix."""
        return self.k * self.symbols

    @cached_property
    def decoder(self) -> FloatArray:
        """The matrix ``(outputs, k)`` that undoes the channel.

        Raises
        ------
        SingularChannelError
            If there is none that does not magnify the noise beyond use.
        """
        return left_inverse(self.matrix, self.key)

    @property
    def linear(self) -> Linear | None:
        """Matrix inversion, where the channel can be inverted."""
        return Linear(self._inverted, self._covariance) if self._invertible else None

    @cached_property
    def likelihood(self) -> MatrixLikelihood:
        """The likelihood of the outputs."""
        return MatrixLikelihood(self.matrix)

    @cached_property
    def provides(self) -> frozenset[str]:
        """Needs of methods that the channel satisfies: the likelihood always, others by inversion."""
        if not self._invertible:
            return self.likelihood.provides
        of_noise = {"iid": self._alike is not None, "pq": self._flat is not None}
        return self.likelihood.provides | OF_ESTIMATES | {need for need, offered in of_noise.items() if offered}

    @cached_property
    def _invertible(self) -> bool:
        try:
            return bool(self.decoder.size)
        except SingularChannelError:
            return False

    def _inverted(self, tally: Tally) -> FloatArray:
        """Agrawal, Srikant, Thomas, "Privacy preserving OLAP", SIGMOD 2005; Kairouz, Bonawitz, Ramage, ICML 2016."""
        return tally.counts / tally.counts.sum(axis=-1, keepdims=True) @ self.decoder

    def _covariance(self, n: int) -> Covariance:
        return InversionCovariance(self, n) if self._alike is None else self._alike.of_users(n)

    @cached_property
    def _flat(self) -> Probabilities | None:
        """The probabilities (p, q) where this is randomised response; else None."""
        both = _own_and_other(self.matrix) if self.symbols == self.k else None
        return both if both and both[0] > both[1] else None

    @cached_property
    def _alike(self) -> Noise | None:
        """The noise of the estimate from one report where it is alike in all entries; else None."""
        if self._flat is not None:
            return Noise.of_supports(1, *self._flat, sums_to_one=True)
        joint = InversionCovariance(self, 1)
        if np.ptp(total := joint.entry(np.full(self.k, 1 / self.k))) > ALIKE * total.max():
            return None  # in far fewer operations than the whole matrices need
        at = _own_and_other(self.matrix @ self.decoder**2 - np.eye(self.k))
        shared = _own_and_other(joint.of(np.eye(self.k)))
        if at is None or shared is None:
            return None
        whole = bool(np.abs(self.decoder.sum(axis=1) - 1).max() < ROW_SLACK)
        return Noise(1, None, None, at[1], at[0] - at[1], whole, -shared[1] * (self.k - 1) / shared[0])

    def chances(self, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
        """Return ``(n,)`` probabilities that an attack on each report names ``values[0]``."""
        return self._named(values, attack)[reports]

    def attack_probabilities(self, attack: str, values: tuple[int, int]) -> Probabilities:
        """Return the probabilities that the attack names v1 if the user holds v1, and if v2."""
        named = self._named(values, attack)
        return float(self.matrix[values[0]] @ named), float(self.matrix[values[1]] @ named)

    def _named(self, values: tuple[int, int], attack: str) -> FloatArray:
        """Return for each output the probability that the attacker names v1.

        ``guess``: a uniform draw of the likeliest values. ``pair``: v1 where the ratio of its probability to that of v2
        is the largest of all outputs.
        """
        if attack == "guess":
            best = self.matrix >= self.matrix.max(axis=0) * (1 - EQUAL)
            return best[values[0]] / best.sum(axis=0)
        first, second = self.matrix[list(values)]
        ratio = np.divide(first, second, out=np.where(first > 0, math.inf, 0.0), where=second > 0)
        return (ratio >= ratio.max() * (1 - EQUAL)).astype(np.float64)

    def crafted(self, targets: IntArray, fakes: int, rng: np.random.Generator) -> Tally | None:
        """Return the outputs that inversion turns into the most of the targets; None where it cannot be inverted."""
        if not self._invertible:
            return None
        return Tally(shared_by_best(self.decoder[:, targets].sum(axis=1), fakes, rng), fakes)


@dataclass(frozen=True, eq=False)  # holds an array, whose comparison is not a single truth value
class FixedChannel(MatrixProtocol):
    """Any row-stochastic matrix as a protocol; a report is the number of an output, and the tally counts them.

    Parameters
    ----------
    key, title
        Short name, and name in words.
    matrix
        ``(inputs, outputs)`` probabilities; each row sums to 1.
    reference
        Where it was published.

    Raises
    ------
    ValueError
        If the matrix is not row-stochastic or has fewer than 2 inputs or outputs.

    Examples
    --------
    >>> channel = FixedChannel("rr", "randomised response", np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> round(float(np.exp(channel.epsilon)), 6), channel.attack_success
    (3.0, 0.75)
    """

    key: str
    title: str
    matrix: FloatArray = field(repr=False)
    _: KW_ONLY
    reference: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", stochastic(self.matrix))

    def __repr__(self) -> str:
        """Return the name of the channel and a digest of its matrix, which together determine a simulation."""
        return f"FixedChannel({self.key!r}, {hashlib.blake2b(self.matrix.tobytes(), digest_size=8).hexdigest()})"

    @property
    def k(self) -> int:
        """Number of inputs: the size of the domain."""
        return int(self.matrix.shape[0])

    @cached_property
    def epsilon(self) -> float:
        """Epsilon of local differential privacy: the largest log-ratio of two rows, infinite if just one has a 0."""
        return spent(self.matrix)

    def privacy_loss(self, values: tuple[int, int]) -> float:
        """Return the largest log-ratio of the two rows: less than `epsilon`, where nearer values are protected more."""
        first, second = self.matrix[list(values)]
        some = (first > 0) | (second > 0)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(first[some]) - np.log(second[some])).max())


def stochastic(given: FloatArray) -> FloatArray:
    """Return a matrix as a channel keeps it, rows summing to 1; raises ValueError if it is not row-stochastic."""
    matrix = np.ascontiguousarray(given, dtype=np.float64)
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        raise ValueError(f"a channel needs at least 2 inputs and 2 outputs, got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or matrix.min() < 0:
        raise ValueError("the probabilities of a channel must be finite and at least 0")
    sums = matrix.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    if abs(sums[worst] - 1) > ROW_SLACK:
        raise ValueError(f"every row of a channel must sum to 1, row {worst} sums to {sums[worst]:.9g}")
    matrix = matrix / sums[:, None]
    matrix.flags.writeable = False
    return matrix


def spent(matrix: FloatArray) -> float:
    """Return the epsilon of a channel: the largest log-ratio of two rows, infinite if just one has a 0."""
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    high, low = high[high > 0], low[high > 0]
    return float("inf") if low.min() == 0 else float(np.log(high / low).max())


def _own_and_other(square: FloatArray) -> Probabilities | None:
    """Return the number on the diagonal, and that off it, of a matrix that has no others; else None."""
    own, other = np.diag(square), square[~np.eye(len(square), dtype=np.bool_)]
    if max(np.ptp(own), np.ptp(other)) > ALIKE * np.abs(square).max():
        return None
    return float(own.mean()), float(other.mean())


class InversionCovariance(Covariance):
    """Noise of matrix inversion: each user adds a row of the decoder, drawn from the channel row of the true value."""

    def __init__(self, channel: MatrixProtocol, n: int) -> None:
        self._channel, self._n = channel, n

    def entry(self, frequency: FloatArray) -> FloatArray:
        """Return the variance of each estimate of the true frequencies ``(..., k)``."""
        matrix, weights = self._channel.matrix, self._channel.decoder
        mean, square = matrix @ weights, matrix @ weights**2
        return frequency @ (square - mean**2) / self._n

    def of(self, rows: FloatArray) -> FloatArray:
        """Return the covariance ``(m, m)`` of ``rows @ estimate`` at equal frequencies."""
        matrix, k = self._channel.matrix, self._channel.k
        weights = self._channel.decoder @ rows.T
        mean = matrix @ weights
        return ((weights.T * matrix.mean(axis=0)) @ weights - mean.T @ mean / k) / self._n

    def haar(self, k: int) -> tuple[FloatArray, ...]:
        """Return the variances of all Haar differences, as `Covariance.haar`, from their rows."""
        result = []
        for detail in differences(np.eye(k)):
            rows = np.ascontiguousarray(detail.T)
            both = (rows < 0).any(axis=1)
            result.append(np.where(both, np.diag(self.of(rows)), 0.0))
        return tuple(result)


class SingularChannelError(ValueError):
    """The outputs do not determine the frequencies, or only with more reports than can be counted."""


def left_inverse(matrix: FloatArray, key: str) -> FloatArray:
    """Return the matrix ``(outputs, inputs)`` that undoes a channel: the inverse, or the one of least noise.

    Raises SingularChannelError if there is none, or if it can magnify the noise in the shares of the outputs 2^26.5
    times.
    """
    inputs, outputs = matrix.shape
    if outputs < inputs:
        raise SingularChannelError(
            f"channel {key} has {inputs} inputs and only {outputs} outputs: its matrix has no inverse"
        )
    try:
        if outputs == inputs:
            inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        else:  # of least variance at equal frequencies: shares of outputs, weighted by what they vary
            root = np.sqrt(matrix.mean(axis=0))
            scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)  # 0 for outputs that never come
            inverse = np.linalg.pinv(matrix * scale) * scale[:, None]
    except np.linalg.LinAlgError:
        raise SingularChannelError(f"the matrix of channel {key} is singular: it has no inverse") from None
    magnified = float(np.abs(inverse).sum(axis=1).max())  # the condition: that of a row-stochastic matrix itself is 1
    wrong = float(np.abs(matrix @ inverse - np.eye(inputs)).max())
    if not (magnified <= WORST_CONDITION and wrong < 1 / inputs):
        raise SingularChannelError(
            f"the matrix of channel {key} is singular or nearly so (condition {magnified:.3g}, at most "
            f"{WORST_CONDITION:.3g} is taken): its inverse would give nothing but magnified noise; use ibu"
        )
    inverse.flags.writeable = False
    return inverse


SLACK = 1e-9  # of a budget, for the rounding of a matrix


@dataclass(frozen=True, eq=False)  # may hold an array, whose comparison is not a single truth value
class Channel:
    """A protocol of one's own, given by the probabilities of its reports; it goes wherever a protocol goes.

    Parameters
    ----------
    key
        Its name in tables: lower-case words joined by underscores.
    matrix_for
        ``matrix_for(k, epsilon)``: the ``(k, outputs)`` matrix whose row x has the probabilities of the reports of
        users who hold x, at most e^epsilon times those of any other row; or one such matrix.
    title, reference
        Name in words, and where it was published.

    Notes
    -----
    It stands where a protocol is named: ``advise(1.0, sample_counts=counts, protocol=mine)``, or in a file ``--protocol
    mine.py:mine``. Reports are drawn from the rows, for any number of users at once. The estimate is the unbiased
    linear one of least variance at equal frequencies (least squares), and its noise is exact. A matrix that spends more
    than epsilon is refused.

    Examples
    --------
    >>> def warner(k, epsilon):
    ...     return (np.ones((k, k)) + np.expm1(epsilon) * np.eye(k)) / (np.exp(epsilon) + k - 1)
    >>> mine = Channel("mine", warner)
    >>> mine(2, np.log(3)).round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    key: str
    matrix_for: Callable[[int, float], FloatArray] | FloatArray = field(repr=False)
    title: str = ""
    reference: str = ""

    def __call__(self, k: int, epsilon: float) -> FloatArray:
        """Return the matrix at a domain size and a budget."""
        return self.matrix_for(k, epsilon) if callable(self.matrix_for) else self.matrix_for


@dataclass(frozen=True)
class ChannelProtocol(MatrixProtocol, StandardProtocol):
    """The protocol of a `Channel`, as `channel_protocol` makes it; raises ForeignError for a matrix it cannot be."""

    report_kind = "own"
    assumed = "its estimate is the least squares one of its matrix"
    channel: ClassVar[Channel]

    def __new__(cls, k: int, epsilon: float) -> ChannelProtocol:  # noqa: D102 - shared, see below
        return _instance(cls, k, epsilon)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.matrix  # refused here

    @cached_property
    def matrix(self) -> FloatArray:
        """``(k, outputs)`` probabilities."""
        called = f"the matrix of {self.key} at k = {self.k}, epsilon = {self.epsilon:g}"
        try:
            matrix = stochastic(guard(lambda: np.asarray(self.channel(self.k, self.epsilon), dtype=np.float64)))
        except ValueError as error:
            form = "it is called as f(k, epsilon), and returns a matrix (k, outputs)"
            raise ForeignError(f"{called}: {error} ({form})") from None
        if len(matrix) != self.k:
            raise ForeignError(f"{called} must have k rows, one for each value, got shape {matrix.shape}")
        if (loss := spent(matrix)) > self.epsilon + SLACK:
            high, low, column = _widest(matrix)
            rows = f"rows {high} and {low}"
            raise ForeignError(f"{called} spends {loss:.6g}, more than epsilon, between {rows} in column {column}")
        return matrix

    @property
    def widest_pair(self) -> tuple[int, int]:
        """The two values that a report tells apart best, which an audit looks at."""
        return _widest(self.matrix)[:2]

    def supports(self, reports: Reports, values: tuple[int, int]) -> Supports:
        """Return which of two values are among the likeliest of each report, and how many are."""
        best = (self.matrix >= self.matrix.max(axis=0) * (1 - EQUAL))[:, reports]
        return Supports(best[values[0]], best[values[1]], best.sum(axis=0), self.k)


def _widest(matrix: FloatArray) -> tuple[int, int, int]:
    """Return the rows with the largest ratio of their probabilities, and its column."""
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    column = int(np.divide(high, low, out=np.where(high > 0, np.inf, 0), where=low > 0).argmax())
    return int(matrix[:, column].argmax()), int(matrix[:, column].argmin()), column


@lru_cache(maxsize=16)
def _instance(cls: type[ChannelProtocol], k: int, epsilon: float) -> Any:
    """Return the protocol at a setting, which keeps its matrix and all that follows from it."""
    return object.__new__(cls)


def channel_protocol(channel: Channel, reference: str = "") -> type[ChannelProtocol]:
    """Return the class of a channel, for `simulator.register` and the table.

    reference: what stands for one that the channel does not name.
    """
    texts = {"title": channel.title or channel.key, "reference": channel.reference or reference or channel.key}
    return type(
        channel.key, (ChannelProtocol,), {**texts, "key": channel.key, "channel": channel, "__module__": __name__}
    )
