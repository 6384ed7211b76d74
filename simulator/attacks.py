"""Leakage of a report: which of two values it supports, and the success rate of the best single guess."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.hashing import HASHES

MOST_SYMBOLS = 4_000  # maximum number of symbols to evaluate exactly; above, support sets are treated as random


@dataclass(frozen=True)
class Supports:
    """Information of n reports for an attacker.

    Two attacks. ``guess``: name a uniform draw of the support set, or of all values if the set is empty (Gursoy et al.
    2022; Arcolezi and Gambs 2023): what an attacker without side knowledge gets. ``pair``: answer v1 if the report
    supports v1 and not v2. This is the best test between the two, and comes near the guarantee.
    """

    # first, second: ``(n,)`` whether a report supports v1, and v2
    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    size: IntArray  # ``(n,)`` how many values it supports
    k: int  # domain size

    def chances(self, attack: str) -> FloatArray:
        """Return ``(n,)`` probabilities that the attacker names v1, over the attacker's random choices."""
        if attack == "pair":
            return (self.first & ~self.second).astype(np.float64)
        return np.where(self.size > 0, self.first / np.maximum(self.size, 1), 1 / self.k)


def of_values(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n,)`` values."""
    return Supports(reports == values[0], reports == values[1], np.ones(len(reports), dtype=np.int64), k)


def of_hashes(
    seeds: IntArray, symbols: IntArray, k: int, values: tuple[int, int], *, g: int, name: str = "mix64"
) -> Supports:
    """Read ``(n,)`` hash seeds and symbols in 0..g-1: a report supports the values that its hash maps to its symbol."""
    sent = HASHES[name](np.arange(k), seeds[:, None], g) == symbols[:, None]
    return Supports(sent[:, values[0]], sent[:, values[1]], np.count_nonzero(sent, axis=1), k)


def of_largest(reports: Reports, k: int, values: tuple[int, int]) -> Supports:
    """Read ``(n, k)`` numbers of which the largest (any of them if tied) is the best guess."""
    top = reports == reports.max(axis=1, keepdims=True)
    return Supports(top[:, values[0]], top[:, values[1]], np.count_nonzero(top, axis=1), k)


def expected_inverse(trials: int, q: float) -> float:
    """Return ``E[1 / (1 + Bin(trials, q))]``, the chance to be picked from a set that q fills at random.

    >>> expected_inverse(1, 0.5)
    0.75
    """
    if q == 0.0:
        return 1.0
    # 1 - (1 - q)^(trials + 1) without cancellation for tiny q
    return -math.expm1((trials + 1) * math.log1p(-q)) / ((trials + 1) * q)


def evenly_confused(success: float, k: int) -> tuple[float, float]:
    """Return both probabilities of a guess that is right with `success` and else any of the other values evenly.

    Return the probabilities that a guess names v1 if the user holds v1, and if v2.

    >>> evenly_confused(0.5, 3)
    (0.5, 0.25)
    """
    return success, (1 - success) / (k - 1)


def independent_support_attack(k: int, p: float, q: float) -> float:
    """Return the success of guessing uniformly in the support set, or in the domain when the set is empty.

    For protocols whose reports support each value independently (unary encodings, local hashing with a fully random
    hash): true value with probability `p`, any other with `q`. Gursoy, Liu, Chow, Truex, Wei, "An adversarial approach
    to protocol analysis and selection in local differential privacy", 2022.
    """
    return p * expected_inverse(k - 1, q) + (1 - p) * (1 - q) ** (k - 1) / k


def informed_guess_of_sets(frequencies: FloatArray, p: float, q: float) -> float:
    """Return the success of an informed guess where a report supports the true value with probability p.

    And each other value with probability q, independently.

    frequencies: ``(k,)`` of the values.
    """
    falling = -np.sort(-frequencies)
    inside, outside = p / q, (1 - p) / (1 - q)
    # The most frequent value of the set is number j with probability q (1 - q)^j, or there is none.
    first = q * np.exp(np.arange(len(falling)) * math.log1p(-q))
    best = np.maximum(inside * falling, outside * falling[0])
    best[0] = inside * falling[0]
    return float(first @ best + (1 - q) ** len(falling) * outside * falling[0])


def informed_guess_of_symbols(
    frequencies: FloatArray,
    supporting: Callable[[int], NDArray[np.bool_]],
    inside: FloatArray | float,
    outside: FloatArray | float,
) -> float:
    """Return the success of an informed guess from a symbol out of K: the most frequent value that it supports.

    Or the most frequent of all, where this is so much more frequent.

    frequencies: ``(k,)`` of the values.
    supporting: which of the symbols support a value, ``(K,)``.
    inside, outside: probability ``(K,)`` of a symbol that supports the user's value, and of a symbol that does not.
    """
    order = np.argsort(-frequencies, kind="stable")
    top = supporting(int(order[0]))
    first: FloatArray = np.full(len(top), -1.0)  # the frequency of the first value that each symbol supports
    for value in order.tolist():
        first[(first < 0) & supporting(value)] = frequencies[value]
        if first.min() >= 0:
            break
    likely = inside * np.maximum(first, 0.0)
    return float(np.where(top, likely, np.maximum(likely, outside * frequencies[order[0]])).sum())
