"""The built-in channels: randomised response, and noise that falls with the distance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from simulator._types import FloatArray
from simulator.channels.channel import FixedChannel
from simulator.channels.lattice import LatticeMass, geometric_mass, laplace_mass
from simulator.places import Places
from simulator.protocols.grr import GRR


def krr(k: int, epsilon: float) -> FixedChannel:
    """Return k-ary randomised response (the flat mechanism): the channel of the protocol `grr`.

    Kairouz, Bonawitz, Ramage, "Discrete distribution estimation under local privacy", ICML 2016.
    """
    oracle = GRR(k, epsilon)
    matrix = np.full((k, k), oracle.q)
    np.fill_diagonal(matrix, oracle.p)
    return FixedChannel("krr", "k-ary randomised response (flat)", matrix, reference=oracle.reference)


def planar_geometric(places: Places, epsilon: float) -> FixedChannel:
    """Return the truncated planar geometric mechanism: probabilities fall by e^-epsilon for each unit of distance.

    The noise is on the infinite lattice; cells off the grid are reported as the nearest grid cell. That is
    post-processing, so the channel is d-private with exactly this epsilon. On a line, or with the Manhattan distance
    (row and column separately), it is the truncated geometric mechanism (Ghosh, Roughgarden,
    Sundararajan, STOC 2009). ElSalamouny, Palamidessi, "Generalized
    iterative Bayesian update and applications to mechanisms for privacy protection", EuroS&P 2020.

    places: the grid and its ground distance.
    epsilon: per unit of distance.

    Raises ValueError if epsilon is not positive, or so small that the lattice it needs is larger than can be summed.
    """
    matrix = _planar(places, epsilon, _geometric_line, geometric_mass)
    reference = "ElSalamouny, Palamidessi, EuroS&P 2020"
    return FixedChannel("planar_geometric", "truncated planar geometric", matrix, reference=reference)


def planar_laplace(places: Places, epsilon: float) -> FixedChannel:
    """Return planar Laplace noise added to the centre of the cell, reported as the nearest cell of the grid.

    Density ``epsilon^2 / (2 pi) e^(-epsilon r)``; with the Manhattan distance, or on a line, Laplace noise row by row
    and column by column. d-private with this epsilon, but for the corners mostly with less: a cell takes in noise from
    all over it. Andrés, Bordenabe, Chatzikokolakis, Palamidessi, "Geo-indistinguishability", CCS 2013, Section 5.

    Parameters and errors as for `planar_geometric`.
    """
    matrix = _planar(places, epsilon, _laplace_line, laplace_mass)
    reference = "Andrés, Bordenabe, Chatzikokolakis, Palamidessi, CCS 2013"
    return FixedChannel("planar_laplace", "truncated planar Laplace", matrix, reference=reference)


PLANAR: dict[str, Callable[[Places, float], FixedChannel]] = {
    "planar_geometric": planar_geometric,
    "planar_laplace": planar_laplace,
}


def cloaking(places: Places, side: int) -> FixedChannel:
    """Return cloaking: every cell reports the middle of its block of `side` x `side` cells, without any randomness.

    Sides are odd, so that the middle is a cell. Blocks that the edge of the grid cuts may have two; the first counts.

    No d-privacy, whatever the epsilon: two places of one block cannot be told apart, any others always. The competitor
    of Andrés et al., CCS 2013, Section 6.
    """
    row, column = np.divmod(np.arange(places.k), places.columns)
    row, column = (
        (at // side * side + np.minimum(at // side * side + side, size) - 1) // 2
        for at, size in ((row, places.rows), (column, places.columns))
    )
    matrix = np.eye(places.k)[row * places.columns + column]
    return FixedChannel("cloaking", f"cloaking by {side}x{side} cells", matrix, reference="Andrés et al., CCS 2013")


def _planar(
    places: Places,
    epsilon: float,
    line: Callable[[int, float], FloatArray],
    mass: Callable[[Places, float], LatticeMass],
) -> FloatArray:
    """Return noise on a grid: row and column separately for the Manhattan distance and on a line, else on a lattice."""
    _checked(epsilon)
    if places.ground == "manhattan" or 1 in (places.rows, places.columns):
        lines = line(places.rows, epsilon * places.height), line(places.columns, epsilon * places.width)
        return np.asarray(np.kron(*lines), dtype=np.float64)
    return _clamped(places, mass(places, epsilon))


def _checked(epsilon: float) -> float:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    return epsilon


def _geometric_line(k: int, epsilon: float) -> FloatArray:
    if k == 1:
        return np.ones((1, 1))
    ratio, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    matrix = np.exp(-epsilon * np.abs(np.arange(k)[:, None] - np.arange(k))) / (1 + ratio)
    matrix[:, 1:-1] *= rest
    return matrix


def _laplace_line(k: int, epsilon: float) -> FloatArray:
    if k == 1:
        return np.ones((1, 1))
    gap = np.abs(np.arange(k)[:, None] - np.arange(k)).astype(np.float64)
    # Mass of an interval of length 1 around a point `gap` away, and of all that lies from its near end outwards.
    inside = np.where(gap == 0, -math.expm1(-epsilon / 2), np.exp(-epsilon * gap) * math.sinh(epsilon / 2))
    beyond = np.where(gap == 0, 1 - math.exp(-epsilon / 2) / 2, np.exp(-epsilon * (gap - 0.5)) / 2)
    ends = np.zeros(k, dtype=bool)
    ends[[0, -1]] = True
    return np.where(ends, beyond, inside)


def _clamped(places: Places, mass: LatticeMass) -> FloatArray:
    """Return the channel of lattice noise in which cells outside the grid are reported as the nearest grid cell."""
    down, across = (np.abs(np.arange(size)[:, None] - np.arange(size)) for size in (places.rows, places.columns))
    parts = {(False, False): mass.cell, (False, True): mass.right, (True, False): mass.below, (True, True): mass.corner}
    shape = (places.rows, places.columns, places.rows, places.columns)
    result = np.empty(shape)
    for row in range(places.rows):
        for column in range(places.columns):
            part = parts[row in (0, places.rows - 1), column in (0, places.columns - 1)]
            result[:, :, row, column] = part[np.ix_(down[:, row], across[:, column])]
    return result.reshape(places.k, places.k)
