"""Protocols of a caller, given by a matrix for each domain size and budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from simulator._types import FloatArray, Reports
from simulator.attacks import Supports
from simulator.channels.channel import EQUAL, MatrixProtocol, spent, stochastic
from simulator.foreign import ForeignError, guard
from simulator.protocols.protocol import StandardProtocol

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

    def informed_guess(self, frequencies: FloatArray) -> float:
        """Return the success of the likeliest value, given the report and the frequencies."""
        return float((frequencies[:, None] * self.matrix).max(axis=0).sum())


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
