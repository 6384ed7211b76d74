"""Likelihoods given by p and q only, and by a matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray
from simulator.protocols.protocol import Likelihood, Probabilities, Product

EVEN = 1e-12  # relative: rows are divided by their sums


class FlatLikelihood(Likelihood):
    """Randomised response: output y is the value itself with probability p, any other value with probability q."""

    def __init__(self, k: int, p: float, q: float) -> None:
        self._k, self._p, self._q = k, p, q

    @property
    def shape(self) -> tuple[int, int]:
        return self._k, self._k

    @property
    def flat(self) -> Probabilities:
        return self._p, self._q

    def forward(self, frequencies: FloatArray) -> FloatArray:
        return self._q * frequencies.sum(axis=-1, keepdims=True) + (self._p - self._q) * frequencies

    def backward(self, weights: FloatArray) -> FloatArray:
        return self._q * weights.sum(axis=-1, keepdims=True) + (self._p - self._q) * weights

    def in_cells(self, edges: IntArray) -> tuple[Callable[[FloatArray], FloatArray], IntArray]:
        sizes = np.diff(edges)

        def forward(sums: FloatArray) -> FloatArray:
            return self._q * sums.sum(axis=0) + (self._p - self._q) * sums / sizes[:, None]

        return forward, sizes


class MatrixLikelihood(Likelihood):
    """Value x becomes output y with the probability in row x, column y of a matrix ``(k, outputs)``."""

    def __init__(self, matrix: FloatArray) -> None:
        # Two copies, so that both products of a vector run along the memory.
        self._matrix = np.ascontiguousarray(matrix)

    @cached_property
    def _transposed(self) -> FloatArray:
        return np.ascontiguousarray(self._matrix.T)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._matrix.shape[0]), int(self._matrix.shape[1])

    @cached_property
    def flat(self) -> Probabilities | None:
        """Probabilities p on the diagonal and a lower q everywhere else, if the matrix is of that form."""
        k, outputs = self.shape
        if outputs != k:
            return None
        p, q = float(self._matrix[0, 0]), float(self._matrix[0, 1])
        off = self._matrix[~np.eye(k, dtype=bool)]
        same = np.ptp(np.diag(self._matrix)) <= EVEN * p and np.ptp(off) <= EVEN * q
        return (p, q) if same and p > q > 0 else None

    def forward(self, frequencies: FloatArray) -> FloatArray:
        return (self._transposed @ frequencies[..., None])[..., 0]

    def backward(self, weights: FloatArray) -> FloatArray:
        return (self._matrix @ weights[..., None])[..., 0]

    def forward_in_step(self, frequencies: FloatArray) -> FloatArray:
        return (self._transposed @ frequencies.T).T

    def backward_in_step(self, weights: FloatArray) -> FloatArray:
        return (self._matrix @ weights.T).T

    def restricted(self, outputs: NDArray[np.bool_]) -> tuple[Product, Product]:
        some = MatrixLikelihood(self._matrix[:, outputs])
        return some.forward, some.backward
