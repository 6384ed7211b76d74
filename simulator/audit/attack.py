"""Distinguishability attacks: how likely each report makes the attacker name the value v1.

Two attacks. ``guess``: name one value of the support set, evenly drawn, or any value where the set is empty (Gursoy et
al. 2022; Arcolezi and Gambs 2023): what an attacker without side knowledge gets. ``pair``: say v1 where the report
supports v1 and not v2: what tells these two apart best, so that it comes near the guarantee itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray, IntArray, Reports
from simulator.audit.symbols import sizes, supporting
from simulator.hashing import HASHES
from simulator.protocols import FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.summation import SHE
from simulator.protocols.unary import UnaryEncoding

ATTACKS = ("guess", "pair")


@dataclass(frozen=True)
class Supports:
    """What an attacker sees of n reports.

    Attributes
    ----------
    first, second
        ``(n,)`` whether a report supports v1, and v2.
    size
        ``(n,)`` how many values it supports.
    k
        Domain size.
    """

    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    size: IntArray
    k: int

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


def of_symbols(oracle: FrequencyOracle, reports: Reports, values: tuple[int, int]) -> Supports:
    """Read reports of any protocol through its own `support`: each different report once.

    For members of other packages: quick where a report is one of few symbols, slow but right where it is an array.
    """
    seen, place = np.unique(reports, return_inverse=True, axis=0)
    each = np.stack([oracle.support(seen[row : row + 1]) for row in range(len(seen))]) > 0
    place = place.reshape(-1)
    return Supports(each[place, values[0]], each[place, values[1]], each.sum(axis=1)[place], oracle.k)


def supports_of(oracle: FrequencyOracle, reports: Reports, values: tuple[int, int]) -> Supports:
    """Return what reports of a protocol of the table, or of another package, support."""
    k = oracle.k
    if isinstance(oracle, UnaryEncoding):
        return of_bits(reports, k, values)
    if isinstance(oracle, GRR):
        return of_values(reports, k, values)
    if isinstance(oracle, SubsetSelection):
        return of_subsets(reports, k, values)
    if isinstance(oracle, LocalHashing):
        return of_hashes(reports[:, 0], reports[:, 1], k, values, g=oracle.g, name=oracle.hash)
    if isinstance(oracle, HadamardResponse | ProjectiveGeometry):
        first, second = (supporting(oracle, value)[reports] for value in values)
        return Supports(first, second, sizes(oracle)[reports], k)
    if oracle.p is None:
        return of_largest(reports, k, values)
    return of_symbols(oracle, reports, values)


def chances(oracle: FrequencyOracle, reports: Reports, values: tuple[int, int], attack: str) -> FloatArray:
    """Return ``(n,)`` probabilities that an attack on each report names ``values[0]``.

    Raises
    ------
    ValueError
        If a protocol without support sets other than `SHE` is asked about a pair.
    """
    if attack == "pair" and oracle.p is None:
        if not isinstance(oracle, SHE):
            raise ValueError(f"attack pair needs support sets, and {oracle.key} has none")
        # The likelihood ratio of two cells is largest, e^epsilon, where one is 1 or more and the other 0 or less.
        return ((reports[:, values[0]] >= 1) & (reports[:, values[1]] <= 0)).astype(np.float64)
    return supports_of(oracle, reports, values).chances(attack)


Sampler = Callable[[int, int, np.random.Generator], FloatArray]
"""``(held, trials, rng)``: let users who hold `held` report, and return ``(trials,)`` chances that v1 is named."""


def protocol_sampler(oracle: FrequencyOracle, values: tuple[int, int], attack: str) -> Sampler:
    """Return the sampler that runs a protocol's own client."""

    def sample(held: int, trials: int, rng: np.random.Generator) -> FloatArray:
        return chances(oracle, oracle.perturb(np.full(trials, held), rng), values, attack)

    return sample
