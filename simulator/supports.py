"""Which of two values reports support: what the attacks on protocols with support sets look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.hashing import HASHES


@dataclass(frozen=True)
class Supports:
    """What an attacker sees of n reports.

    Two attacks. ``guess``: name one value of the support set, evenly drawn, or any value where the set is empty (Gursoy
    et al. 2022; Arcolezi and Gambs 2023): what an attacker without side knowledge gets. ``pair``: say v1 where the
    report supports v1 and not v2: what tells these two apart best, so that it comes near the guarantee itself.
    """

    # first, second: ``(n,)`` whether a report supports v1, and v2
    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    size: IntArray  # ``(n,)`` how many values it supports
    k: int  # domain size

    def chances(self, attack: str) -> FloatArray:
        """Return ``(n,)`` probabilities that the attacker names v1, over the attacker's own coins."""
        if attack == "pair":
            return (self.first & ~self.second).astype(np.float64)
        return np.where(self.size > 0, self.first / np.maximum(self.size, 1), 1 / self.k)


def of_bits(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n, k)`` zeros and ones."""
    bits = reports.view(np.bool_) if reports.dtype == np.uint8 else reports.astype(np.bool_)
    return Supports(bits[:, values[0]], bits[:, values[1]], np.count_nonzero(bits, axis=1), k)


def of_values(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n,)`` values."""
    return Supports(reports == values[0], reports == values[1], np.ones(len(reports), dtype=np.int64), k)


def of_subsets(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n, omega)`` distinct values each."""
    first, second = ((reports == value).any(axis=1) for value in values)
    return Supports(first, second, np.full(len(reports), reports.shape[1]), k)


def of_hashes(
    seeds: IntArray, symbols: IntArray, k: int, values: tuple[int, int], *, g: int, name: str = "mix64"
) -> Supports:
    """Read ``(n,)`` hash seeds and symbols in 0..g-1: a report supports what its hash sends to its symbol."""
    sent = HASHES[name](np.arange(k), seeds[:, None], g) == symbols[:, None]
    return Supports(sent[:, values[0]], sent[:, values[1]], np.count_nonzero(sent, axis=1), k)


def of_largest(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n, k)`` numbers of which the largest, or one of them where there are several, is the best guess."""
    top = reports == reports.max(axis=1, keepdims=True)
    return Supports(top[:, values[0]], top[:, values[1]], np.count_nonzero(top, axis=1), k)
