"""Result of an audit with infinitely many trials: the two probabilities of an attack, in closed form."""

from __future__ import annotations

import math

import numpy as np

from simulator.attacks import evenly_confused, expected_inverse
from simulator.protocols import FrequencyOracle
from simulator.protocols.protocol import Probabilities

SURE = 1e-9  # a success nearer to 1 loses too many digits
NODES = 32  # of the Gauss-Legendre rule, which is exact up to k = 64


def hashing_only(k: int, g: int) -> Probabilities:
    """Return both probabilities of the guess from a hash to g symbols that is not perturbed (LHO)."""
    return evenly_confused(expected_inverse(k - 1, 1 / g), k)


def most_supported(oracle: FrequencyOracle, rounds: int) -> Probabilities | None:
    """Return both probabilities of the averaging attack in closed form, where reports support values independently.

    With Z ~ Bin(rounds, p) the true value's count and F the distribution function, f the mass of the others'
    Bin(rounds, q), the true value is named with probability ``E[(F(Z)^k - F(Z-1)^k) / (k f(Z))]``, ties broken evenly:
    the integral of ``u^(k-1)`` from F(Z-1) to F(Z), over f(Z).
    """
    p, q = oracle.p, oracle.q
    if not oracle.independent_supports or p is None or q is None:
        return None
    from scipy.stats import binom

    z = np.arange(rounds + 1)
    below, upto = binom.cdf(z - 1, rounds, q), binom.cdf(z, rounds, q)
    step = upto - below
    # Where f is lost in rounding the mean of u^(k-1) over no stretch at all is the integrand itself.
    mean = np.where(
        step > 1e-9, (upto**oracle.k - below**oracle.k) / (oracle.k * np.maximum(step, 1e-300)), upto ** (oracle.k - 1)
    )
    own = binom.pmf(z, rounds, p)
    success = float(own @ mean)
    if success < 1 - SURE:
        return evenly_confused(success, oracle.k)
    # The difference to 1 is the integral of 1 - u^(k-1), by the tails 1 - u.
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    low, high = binom.sf(z, rounds, q), binom.sf(z - 1, rounds, q)
    missed = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        tail = np.minimum(low + (high - low) * (1 + node) / 2, 1 - 1e-16)
        missed -= weight / 2 * float(own @ np.expm1((oracle.k - 1) * np.log1p(-tail)))
    return min(success, 1.0), missed / (oracle.k - 1)


def log_ratio(both: Probabilities | None) -> float | None:
    """Return the privacy loss ``ln(p0 / p1)`` that the probabilities of an attack show."""
    return None if both is None else math.log(both[0] / both[1]) if both[1] else math.inf
