"""The built-in channels: randomised response, noise that falls with the distance, and the nearest under a prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.channels.channel import FixedChannel
from simulator.places import Places, checked_metric
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
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    if places.ground == "manhattan" or 1 in (places.rows, places.columns):
        sides = ((places.rows, places.height), (places.columns, places.width))
        lines = [line(cells, epsilon * size) if cells > 1 else np.ones((1, 1)) for cells, size in sides]
        return np.asarray(np.kron(*lines), dtype=np.float64)
    return _clamped(places, mass(places, epsilon))


def _geometric_line(k: int, epsilon: float) -> FloatArray:
    ratio, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    matrix = np.exp(-epsilon * np.abs(np.arange(k)[:, None] - np.arange(k))) / (1 + ratio)
    matrix[:, 1:-1] *= rest
    return matrix


def _laplace_line(k: int, epsilon: float) -> FloatArray:
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


REACH = 40.0  # noise is summed until it has fallen by e^-40, below the rounding of nearer cells
MOST_CELLS = 40_000_000
NEAR = 3  # cells so near to the source need more nodes: the distance has a kink there


class LatticeMass(NamedTuple):
    """Mass by the offset (rows down, columns to the right) from the source, each ``(rows, columns)``.

    `cell` is that of the cell, `right` of it and all to its right, `below` of it and all below, `corner` of all cells
    neither above nor to the left of it.
    """

    cell: FloatArray
    right: FloatArray
    below: FloatArray
    corner: FloatArray


def geometric_mass(places: Places, epsilon: float) -> LatticeMass:
    """Return ``e^(-epsilon r)`` at each cell of the lattice, over the sum of all of them."""

    def row_of(down: int, across: FloatArray) -> FloatArray:
        return np.exp(-epsilon * np.hypot(down * places.height, across * places.width))

    return _summed(places, epsilon, row_of)


def laplace_mass(places: Places, epsilon: float) -> LatticeMass:
    """Return the integral of ``e^(-epsilon r)`` over each cell of the lattice, over the sum of all of them.

    Gauss-Legendre quadrature, by polar coordinates in the cell of the source.
    """
    steep = epsilon * max(places.height, places.width) > 1
    fine, coarse = (np.polynomial.legendre.leggauss(nodes) for nodes in (24, 24 if steep else 8))

    def row_of(down: int, across: FloatArray) -> FloatArray:
        mass = np.empty(len(across))
        near = min(len(across), NEAR + 1) if down <= NEAR else 0
        mass[:near] = _cells(places, epsilon, down, across[:near], fine)
        mass[near:] = _cells(places, epsilon, down, across[near:], coarse)
        if down == 0:
            mass[0] = _source(places, epsilon)
        return mass

    return _summed(places, epsilon, row_of)


def _cells(
    places: Places, epsilon: float, down: int, across: FloatArray, rule: tuple[FloatArray, FloatArray]
) -> FloatArray:
    nodes, weights = rule
    y = (down + nodes / 2) * places.height
    x = (across[:, None] + nodes / 2) * places.width
    values = np.exp(-epsilon * np.hypot(y[:, None], x[:, None, :]))
    area = places.height * places.width / 4
    return np.einsum("cyx,y,x->c", values, weights, weights) * area


def _source(places: Places, epsilon: float) -> float:
    """Integrate over the cell around the source: eight triangles, along each ray in closed form."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for near, far in ((places.height / 2, places.width / 2), (places.width / 2, places.height / 2)):
        widest = math.atan2(far, near)
        edge = epsilon * near / np.cos(widest * (nodes + 1) / 2)
        total += 4 * widest / 2 * float(weights @ (1 - (1 + edge) * np.exp(-edge))) / epsilon**2
    return total


def _summed(places: Places, epsilon: float, row_of: Callable[[int, FloatArray], FloatArray]) -> LatticeMass:
    rows, columns = places.rows, places.columns
    last_row = rows + math.ceil(REACH / (epsilon * places.height))
    last_column = columns + math.ceil(REACH / (epsilon * places.width))
    if last_row * last_column > MOST_CELLS:
        raise ValueError(
            f"epsilon {epsilon:g} per unit of distance is so small that noise spreads over {last_row:,} rows and "
            f"{last_column:,} columns, more than can be summed up"
        )
    across = np.arange(last_column, dtype=np.float64)
    cell, right, below, corner = np.zeros((4, rows, columns))
    axis = 0.0
    sums, tails = np.zeros(columns), np.zeros(columns)
    for down in reversed(range(last_row)):
        mass = row_of(down, across)
        tail = np.cumsum(mass[::-1])[::-1]
        sums, tails = sums + mass[:columns], tails + tail[:columns]
        axis += float(mass[0])
        if down < rows:
            cell[down], right[down], below[down], corner[down] = mass[:columns], tail[:columns], sums, tails
    # Four quarters, in which the axes were counted twice, and the source four times.
    total = 4 * corner[0, 0] - 2 * right[0, 0] - 2 * axis + cell[0, 0]
    return LatticeMass(cell / total, right / total, below / total, corner / total)


MOST_PLACES = 100  # a solution has their square of unknowns; 100 take minutes
ON_THE_WAY = 1e-12  # relative: a place that lies on a shortest way between two others, despite rounding
GAP = 1e-6  # of the largest distance: how far from the least expected distance a solution may be
MOST_LOG_RATIO = 16.0  # of one constraint: larger coefficients spoil the solution


def optimal(distances: FloatArray, epsilon: float, prior: FloatArray) -> FixedChannel:
    """Return the mechanism whose reports are nearest to the truth on average, of all that are d-private.

    Bordenabe, Chatzikokolakis, Palamidessi, "Optimal geo-indistinguishable mechanisms for location privacy", CCS 2014,
    without their spanner: of two places with a third one on a shortest way between them, the constraint follows from
    those of its two parts, and is left out. What the tolerance of the solver leaves of a broken constraint is repaired
    by a little uniform noise, and that no other mechanism is nearer is proven by its dual.

    distances: ``(k, k)``, of a metric.
    epsilon: per unit of distance.
    prior: ``(k,)`` frequencies under which the mean is taken. Whoever knows the mechanism may learn them.

    A constraint that would allow a ratio above e^16 allows e^16, to stay solvable: that costs at most k e^-16 times the
    largest distance.

    Raises ValueError if there are more than 100 places, epsilon is not positive, the distances are not those of a
    metric, or the optimum is not reached.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    k = len(prior)
    if k > MOST_PLACES or not epsilon > 0:
        raise ValueError(f"optimal takes at most {MOST_PLACES} places and an epsilon above 0, got {k} and {epsilon:g}")
    distances = checked_metric(distances, k)
    ways = distances[:, :, None] + distances[None, :, :]
    ways[np.arange(k), np.arange(k)] = ways[:, np.arange(k), np.arange(k)] = np.inf
    one, other = np.nonzero((ways.min(axis=1) > distances * (1 + ON_THE_WAY)) & ~np.eye(k, dtype=bool))
    ratio = np.exp(np.minimum(epsilon * distances[one, other], MOST_LOG_RATIO))
    rows = np.arange(len(one))
    values, columns = np.concatenate([ratio**-0.5, -(ratio**0.5)]), np.concatenate([one, other])
    bounds = sparse.csr_array((values, (np.concatenate([rows, rows]), columns)), (len(one), k))
    each: Any = sparse.kron(bounds, sparse.eye_array(k), format="csr")
    sums: Any = sparse.kron(sparse.eye_array(k), np.ones((1, k)), format="csr")
    cost = (prior[:, None] * distances).ravel()
    for method in ("highs-ipm", "highs-ds"):  # the first is faster, and now and then wrong
        solution: Any = linprog(cost, A_ub=each, b_ub=np.zeros(len(one) * k), A_eq=sums, b_eq=np.ones(k), method=method)
        if solution.status != 0:
            continue
        matrix = np.maximum(solution.x.reshape(k, k), 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
        excess = (matrix[one] - ratio[:, None] * matrix[other]).max(axis=1)
        uniform = 1.01 * max(0.0, float((excess * k / (ratio - 1)).max()))
        matrix = (matrix + uniform / k) / (1 + uniform)
        # Any weights of the constraints prove that no mechanism has less than this.
        proven = (cost - each.T @ np.minimum(solution.ineqlin.marginals, 0.0)).reshape(k, k).min(axis=1).sum()
        if cost @ matrix.ravel() - proven <= GAP * distances.max():
            return FixedChannel("optimal", "optimal d-private", matrix, reference="Bordenabe et al., CCS 2014")
    raise ValueError("the linear programme of the optimal mechanism was not solved to its optimum")
