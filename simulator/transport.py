"""Earth mover's distance between histograms over places: exact, and fast with a bound on its error."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator._types import FloatArray
from simulator.places import Places

GAP = 0.03  # the flow stops once its cost is provably within this relative distance of the minimum
MOST_STEPS = 2000
CHECK_EVERY = 20
BLOCK_CELLS = 2**15  # of the grids that are worked on together
STEP = 0.25  # dual step in the natural unit of the problem; 0.1 to 1 converge alike
STEPS_AROUND = ((1, 0), (0, 1), (1, 1), (1, -1), (1, 2), (1, -2), (2, 1), (2, -1))  # half of the 16 neighbours


def emd_exact(estimate: FloatArray, truth: FloatArray, places: Places) -> FloatArray:
    """Return the least cost of moving each estimate ``(..., k)`` onto the truth ``(k,)`` (mass times distance).

    By the network simplex of the library POT (extra ``transport``). Common mass at a place stays there, which never
    costs more under a distance. Where the sums differ, and where estimates are negative, see `differences`.

    Raises ImportError if POT is not installed.
    """
    import ot  # imported when used: an extra

    distances = places.distances()
    rows = differences(estimate, truth)
    result = np.zeros(len(rows))  # a loop: the problem size differs between rows
    for place, row in enumerate(rows):
        give, take = row > 0, row < 0
        if give.any():
            supply, demand = row[give], -row[take]
            demand = demand * (supply.sum() / demand.sum())  # equal but for rounding
            result[place] = ot.emd2(supply, demand, distances[np.ix_(give, take)], numItermax=10_000_000)
    return result.reshape(np.shape(estimate)[:-1])


def differences(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return ``estimate - truth`` as rows that sum to 0, which is all that a transport cost depends on.

    The total excess or deficit of an estimate is spread equally over all cells: a raw estimate need not sum to 1.
    Negative cells are debts, and moved like anything else.
    """
    rows = (estimate - truth).reshape(-1, truth.shape[-1])
    return rows - rows.mean(axis=1, keepdims=True)


def transports(rows: FloatArray, places: Places) -> FloatArray:
    """Return value, low and high ``(3, rows)`` of the earth mover's distances of rows ``(rows, k)`` that sum to 0 each.

    Mass flows from cell to cell: to the 4 neighbours for the Manhattan distance, whose ways are exact, and to 16 (8 and
    the knight's moves) for the Euclidean distance, whose ways are longer by at most `detour` (2.8 % for square cells).
    The cheapest flow (Beckmann, 1952) is found by the primal-dual iteration of Jacobs, Léger, Li, Osher, "Solving
    large-scale optimization problems with a convergence rate independent of grid size", SIAM J. Numer. Anal. 2019,
    whose dual step inverts the Laplacian by cosine transforms. Its flow, made feasible, costs too much; its potential,
    made feasible, proves too little: the two are the bounds, and `GAP` is their maximum relative distance. The value is
    the geometric mean of the bounds, so its relative error is at most about ``(GAP + detour) / 2``.

    On a line the running sums give the exact value. The cost of a step grows little faster than the number of cells.
    The iteration runs in single precision, many independent rows at once; the bounds of its results are computed in
    double precision.
    """
    if 1 in (places.rows, places.columns):
        cost = np.abs(np.cumsum(rows, axis=1)).sum(axis=1) * places.length(*divmod(1, places.columns))
        return np.stack([cost, cost, cost])
    block = max(1, BLOCK_CELLS // places.k)
    network = _network(places)
    return np.concatenate(
        [_between(rows[start : start + block], network) for start in range(0, len(rows), block)], axis=1
    )


def _between(rows: FloatArray, network: _Network) -> FloatArray:
    """Return value, low and high ``(3, rows)`` of a block of rows on a grid."""
    bounds = np.zeros((2, len(rows)))
    smooth = network.solve(rows)
    energy = (rows * smooth).sum(axis=1)
    running = np.flatnonzero(energy > 0)
    bounds[1, running] = np.inf
    mass = rows[running]
    # Flows are counted in primal steps and potentials as they are, so that all rows share their constants.
    dual = (STEP * network.length * np.sqrt(network.k / energy[running]))[:, None]
    push = (dual * smooth[running]).astype(np.float32)
    potential = np.zeros_like(push)
    flow = np.zeros((len(network.steps), *push.shape), np.float32)
    left_over = leaving = np.zeros_like(push)
    for step in range(1, MOST_STEPS + 1):
        if not len(running):
            break
        potential += push - network.solve(2 * leaving - left_over) * np.float32(1 / network.norm)
        network.advance(flow, potential)
        left_over, leaving = leaving, network.divergence(flow)
        if step % CHECK_EVERY == 0 or step == MOST_STEPS:
            exact, moved = potential.astype(np.float64), flow / (dual * network.norm)
            steepest, proven = network.steepest(exact), (exact * mass).sum(axis=1)
            low = np.divide(proven, steepest, out=np.zeros(len(mass)), where=steepest > 0)
            rest = network.solve(mass - network.divergence(moved))
            bounds[0, running] = np.maximum(bounds[0, running], low)
            bounds[1, running] = np.minimum(bounds[1, running], network.cost(moved, rest))
            left = bounds[1, running] > bounds[0, running] * (1 + GAP)
            running, mass, dual, push, potential = running[left], mass[left], dual[left], push[left], potential[left]
            flow, left_over, leaving = flow[:, left], left_over[left], leaving[left]
    bounds[0] /= network.detour
    return np.stack([np.sqrt(bounds[0] * bounds[1]), *bounds])


class _Step(NamedTuple):
    """A step from any cell in a direction. Cells are numbered row by row, so that it is a shift."""

    shift: int
    length: float
    inside: NDArray[np.bool_]  # whether the step from each cell ends on the grid; without the last `shift` cells
    threshold: NDArray[np.float32]  # what a flow costs; none over an edge of the grid, and therefore no flow

    @classmethod
    def of(cls, places: Places, down: int, across: int) -> _Step:
        shift, length = down * places.columns + across, places.length(down, across)
        row, column = np.divmod(np.arange(places.k - shift), places.columns)
        inside = (row + down < places.rows) & (column + across >= 0) & (column + across < places.columns)
        return cls(shift, length, inside, np.where(inside, 1 / length, np.inf).astype(np.float32))

    def fall(self, values: Any) -> Any:
        """Return by how much values ``(rows, k)`` fall along the step from each cell."""
        return values[:, : -self.shift] - values[:, self.shift :]

    def slope(self, values: FloatArray) -> FloatArray:
        """Return the same per squared length, 0 over an edge."""
        return self.fall(values) * (self.inside / self.length**2)


class _Network:
    """The cells and the steps between them; a flow is mass, ``(steps, rows, k)``, at the cell where a step begins."""

    def __init__(self, places: Places) -> None:
        square = places.ground == "manhattan"
        around = [
            (down, across)
            for down, across in (STEPS_AROUND[:2] if square else STEPS_AROUND)
            if down < places.rows and abs(across) < places.columns
        ]
        self.k, self.shape = places.k, (places.rows, places.columns)
        self.steps = [_Step.of(places, down, across) for down, across in around]
        self.straight = sum((down, across) in STEPS_AROUND[:2] for down, across in around)
        self.detour = 1.0 if square else _detour(places)
        self.length = math.sqrt(places.height * places.width)
        curvature = np.add.outer(
            _curvature(places.rows) / places.height**2, _curvature(places.columns) / places.width**2
        )
        inverse = np.divide(1.0, curvature, out=np.zeros(curvature.shape), where=curvature > 1e-14)
        cosines = (_cosines(places.rows), _cosines(places.columns), inverse)
        self.cosines = {np.dtype(kind): tuple(each.astype(kind) for each in cosines) for kind in (np.float32, float)}
        self.norm = self._largest()

    def advance(self, flow: NDArray[np.float32], potential: NDArray[np.float32]) -> None:
        """Move flows, in primal steps, along the fall of the potentials, and towards 0 by the cost of a step."""
        for step, each in zip(self.steps, flow, strict=True):
            moved, inner = step.fall(potential), each[:, : -step.shift]
            if step.length != 1:
                moved *= np.float32(1 / step.length**2)
            moved += inner
            held = np.maximum(moved, -step.threshold)
            np.minimum(held, step.threshold, out=held)
            np.subtract(moved, held, out=inner)

    def divergence(self, flow: FloatArray | NDArray[np.float32]) -> Any:
        """Return the outflow minus the inflow of each cell."""
        result = flow.sum(axis=0)
        for step, each in zip(self.steps, flow, strict=True):
            result[:, step.shift :] -= each[:, : -step.shift]
        return result

    def steepest(self, potential: FloatArray) -> FloatArray:
        """Return the steepest fall of potentials ``(rows, k)`` along a step."""
        falls = [(np.abs(step.fall(potential)) * step.inside).max(axis=1) / step.length for step in self.steps]
        return np.max(falls, axis=0)

    def cost(self, flow: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the cost ``(rows,)`` of a flow whose remaining imbalance is sent straight."""
        total = np.zeros(len(rest))
        for place, step in enumerate(self.steps):
            each = flow[place, :, : -step.shift]
            if place < self.straight:
                each = each + step.slope(rest)
            total += np.abs(each).sum(axis=1) * step.length
        return total

    def solve(self, values: Any) -> Any:
        """Return the potentials whose flow between direct neighbours has this divergence, by cosine transforms."""
        down, across, inverse = self.cosines[values.dtype]
        # One product of matrices per row: the result of a row does not depend on the others.
        spread = (down @ values.reshape(-1, *self.shape) @ across.T) * inverse
        return (down.T @ spread @ across).reshape(values.shape)

    def _largest(self) -> float:
        """Return the largest factor of solve(divergence(gradient(.))), by power iteration, and 5 % more."""
        vector = np.sin(np.arange(self.k) + 1.0)[None]  # no symmetry of the grid
        size = 1.0
        for _ in range(40):
            flow = np.zeros((len(self.steps), 1, self.k))
            for step, each in zip(self.steps, flow, strict=True):
                each[:, : -step.shift] = step.slope(vector)
            vector = self.solve(self.divergence(flow))
            size = float(np.linalg.norm(vector))
            vector /= size
        return 1.05 * size


_network = lru_cache(maxsize=8)(_Network)  # its constants are worked out once for a grid


def _cosines(size: int) -> FloatArray:
    """Return the orthonormal cosine transform, ``(frequencies, cells)``."""
    waves = np.cos(np.pi * np.outer(np.arange(size), np.arange(size) + 0.5) / size) * math.sqrt(2 / size)
    waves[0] /= math.sqrt(2)
    return waves


def _curvature(size: int) -> FloatArray:
    return 2 - 2 * np.cos(np.pi * np.arange(size) / size)


def _detour(places: Places) -> float:
    """Return how much longer than straight a way by steps to the 16 neighbours can be.

    Two neighbouring steps of a quarter turn span all cells between them (their determinant is 1), and a way by both is
    longest, relatively, along the bisector of their angle.
    """
    ways = [(1, 0), (2, 1), (1, 1), (1, 2), (0, 1)]
    angles = [math.atan2(across * places.width, down * places.height) for down, across in ways]
    return max(1 / math.cos((second - first) / 2) for first, second in pairwise(angles))
