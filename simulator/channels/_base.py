"""A protocol given by its matrix: input x becomes output y with the probability in row x, column y."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.protocols._base import bits_for

ROW_SLACK = 1e-9  # how far the sum of a row may be from 1


@dataclass(frozen=True, eq=False)  # holds an array, which does not compare to one truth
class Channel:
    """Any row-stochastic matrix as a protocol; a report is the number of an output.

    Parameters
    ----------
    key, title
        Short name, and name in words.
    matrix
        ``(inputs, outputs)`` probabilities; every row sums to 1.
    reference
        Where it was published.

    Raises
    ------
    ValueError
        If the matrix is not row-stochastic or has fewer than 2 inputs or outputs.

    Examples
    --------
    >>> channel = Channel("rr", "randomised response", np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> round(float(np.exp(channel.epsilon)), 6), channel.attack_success
    (3.0, 0.75)
    """

    key: str
    title: str
    matrix: FloatArray = field(repr=False)
    reference: str = ""

    def __post_init__(self) -> None:
        matrix = np.ascontiguousarray(self.matrix, dtype=np.float64)
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
        object.__setattr__(self, "matrix", matrix)

    @property
    def k(self) -> int:
        """Number of inputs: the size of the domain."""
        return int(self.matrix.shape[0])

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.matrix.shape[1])

    @property
    def report_bits(self) -> int:
        """Size of one report in bits."""
        return bits_for(self.outputs)

    @property
    def attack_success(self) -> float:
        """Probability that the best single guess from one report is the user's value (uniform prior)."""
        return float(self.matrix.max(axis=0).sum() / self.k)

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy: the largest log-ratio of two rows, infinite if one excludes."""
        high, low = self.matrix.max(axis=0), self.matrix.min(axis=0)
        high, low = high[high > 0], low[high > 0]
        return float("inf") if low.min() == 0 else float(np.log(high / low).max())

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

    def observe(self, reports: IntArray) -> IntArray:
        """Server: count the reports of each output, ``(outputs,)``."""
        return np.bincount(reports, minlength=self.outputs)

    def sample_observed(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the counts of the outputs from their exact law, at a cost that does not depend on n.

        Those who hold one value report independently from one row, so their reports are one multinomial.

        Parameters
        ----------
        counts
            ``(..., k)`` users who hold each value.

        Returns
        -------
        ``(..., outputs)`` reports of each output.
        """
        rows = np.ascontiguousarray(counts).reshape(-1, self.k)
        result = np.empty((len(rows), self.outputs), dtype=np.int64)
        for row, out in zip(rows, result, strict=True):
            held = np.flatnonzero(row)
            out[:] = rng.multinomial(row[held], self.matrix[held]).sum(axis=0)
        return result.reshape(*counts.shape[:-1], self.outputs)

    def replay_observed(self, counts: IntArray, rng: np.random.Generator) -> IntArray:
        """Let every user ``(k,)`` perturb and the server count: the slow reference that defines the law."""
        return self.observe(self.perturb(np.repeat(np.arange(self.k), counts), rng))

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
