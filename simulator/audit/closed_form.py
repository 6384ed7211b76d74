"""What an audit with infinitely many trials would find: the two probabilities of each attack, in closed form."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from simulator.attacks import expected_inverse
from simulator.audit.symbols import sizes, supporting
from simulator.protocols import FrequencyOracle
from simulator.protocols.grr import GRR
from simulator.protocols.hadamard import HadamardResponse
from simulator.protocols.local_hashing import LocalHashing
from simulator.protocols.projective_geometry import ProjectiveGeometry
from simulator.protocols.subset import SubsetSelection
from simulator.protocols.summation import SHE
from simulator.protocols.unary import UnaryEncoding

Probabilities: TypeAlias = tuple[float, float]


def probabilities(
    oracle: FrequencyOracle, values: tuple[int, int] = (0, 1), attack: str = "guess"
) -> Probabilities | None:
    """Return the probabilities that v1 is named when it is held, and when v2 is; None where no closed form is known.

    For the members of our table; the values matter for `hr` and `pgr` alone. Local hashing is taken with a fully
    random hash.
    """
    if isinstance(oracle, HadamardResponse | ProjectiveGeometry):
        return _of_symbols(oracle, values, attack)
    if attack == "pair":
        return _pair(oracle)
    if isinstance(oracle, GRR):
        return oracle.p, oracle.q
    if isinstance(oracle, SubsetSelection):
        return oracle.p / oracle.omega, oracle.q / oracle.omega
    if isinstance(oracle, UnaryEncoding | LocalHashing | SHE):
        return evenly_confused(oracle.attack_success, oracle.k)
    return None


def evenly_confused(success: float, k: int) -> Probabilities:
    """Return both probabilities of a guess that is right with `success` and else any of the other values evenly."""
    return success, (1 - success) / (k - 1)


def hashing_only(k: int, g: int) -> Probabilities:
    """Return both probabilities of the guess from a hash to g symbols that is not perturbed (LHO)."""
    return evenly_confused(expected_inverse(k - 1, 1 / g), k)


def log_ratio(both: Probabilities | None) -> float | None:
    """Return the privacy loss ``ln(p0 / p1)`` that the probabilities of an attack show."""
    return None if both is None else math.log(both[0] / both[1]) if both[1] else math.inf


def _pair(oracle: FrequencyOracle) -> Probabilities | None:
    if isinstance(oracle, GRR):
        return oracle.p, oracle.q
    if isinstance(oracle, SubsetSelection):
        others = oracle.k - 1
        return oracle.p * (oracle.k - oracle.omega) / others, (1 - oracle.p) * oracle.omega / others
    if isinstance(oracle, UnaryEncoding | LocalHashing):
        return oracle.p * (1 - oracle.q), oracle.q * (1 - oracle.p)
    if isinstance(oracle, SHE):
        return 0.25, math.exp(-oracle.epsilon) / 4
    return None


def _of_symbols(oracle: HadamardResponse | ProjectiveGeometry, values: tuple[int, int], attack: str) -> Probabilities:
    """Add up over all symbols: those that support the held value are e^epsilon times as likely as the others."""
    first, second = (supporting(oracle, value) for value in values)
    if attack == "pair":
        chance = (first & ~second).astype(np.float64)
    else:
        size = sizes(oracle)
        chance = np.where(size > 0, first / np.maximum(size, 1), 1 / oracle.k)
    rare = math.exp(-oracle.epsilon)
    own, other = (float((chance * np.where(held, 1.0, rare)).sum()) for held in (first, second))
    # Every value is supported by equally many symbols, so that both sums are of the same unit.
    unit = oracle.p / int(first.sum())
    return own * unit, other * unit
