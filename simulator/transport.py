"""Earth mover's distance between histograms over places: exact, and fast with a bound on its error."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.places import Places

GAP = 0.03  # the flow stops once its cost is proven to be this near, relatively, to the cheapest one
MOST_STEPS = 2000
CHECK_EVERY = 20
STEP = 0.25  # dual step in the natural unit of the problem; 0.1 to 1 converge alike
STEPS_AROUND = ((1, 0), (0, 1), (1, 1), (1, -1), (1, 2), (1, -2), (2, 1), (2, -1))  # half of the 16 neighbours


class Transport(NamedTuple):
    """An earth mover's distance and what is proven of it: ``low <= exact <= high``, in the unit of the places."""

    value: float
    low: float
    high: float


def emd_exact(estimate: FloatArray, truth: FloatArray, places: Places) -> FloatArray:
    """Return the least cost of moving each estimate ``(..., k)`` onto the truth ``(k,)`` (mass times distance).

    By the network simplex of the library POT (extra ``transport``). Mass that both have at one place stays there, which
    costs nothing more with a distance. Where the sums differ, and where estimates are negative, see `differences`.

    Raises ImportError if POT is not installed.
    """
    import ot  # imported when used: an extra

    distances = places.distances()
    rows = differences(estimate, truth)
    result = np.zeros(len(rows))  # a loop: each row has a problem of its own size
    for place, row in enumerate(rows):
        give, take = row > 0, row < 0
        if give.any():
            supply, demand = row[give], -row[take]
            demand = demand * (supply.sum() / demand.sum())  # equal but for rounding
            result[place] = ot.emd2(supply, demand, distances[np.ix_(give, take)], numItermax=10_000_000)
    return result.reshape(np.shape(estimate)[:-1])


def differences(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return ``estimate - truth`` as rows that sum to 0, which is all that a transport cost depends on.

    What an estimate has too much or too little in all is taken from, or given to, every cell alike: a raw estimate
    need not sum to 1. Negative cells are debts, and moved like anything else.
    """
    rows = (estimate - truth).reshape(-1, truth.shape[-1])
    result: FloatArray = rows - rows.mean(axis=1, keepdims=True)
    return result


def transport(difference: FloatArray, places: Places, gap: float = GAP) -> Transport:
    """Return the earth mover's distance of a `difference` ``(k,)`` that sums to 0, within proven bounds.

    Mass flows from cell to cell: to the 4 neighbours for the Manhattan distance, whose ways are exact, and to 16 (8 and
    the knight's moves) for the Euclidean one, whose ways are longer by at most `detour` (2.8 % for square cells). The
    cheapest flow (Beckmann, 1952) is found by the primal-dual iteration of Jacobs, Léger, Li, Osher, "Solving
    large-scale optimization problems with a convergence rate independent of grid size", SIAM J. Numer. Anal. 2019,
    whose dual step inverts the Laplacian by cosine transforms. Its flow, made feasible, costs too much; its potential,
    made feasible, proves too little: the two are the bounds, and `gap` is how far apart they may be, relatively. The
    value is the geometric mean of the bounds, so its relative error is at most about ``(gap + detour) / 2``.

    On a line the running sums give the exact value. The cost of a step grows little faster than the number of cells.
    """
    if 1 in (places.rows, places.columns):
        cost = float(np.abs(np.cumsum(difference)).sum()) * places.length(*divmod(1, places.columns))
        return Transport(cost, cost, cost)
    network = _network(places)
    smooth = network.solve(difference)
    energy = float(difference @ smooth)
    if energy <= 0:
        return Transport(0.0, 0.0, 0.0)
    dual_step = STEP * network.length * math.sqrt(places.k / energy)
    primal_step = 1 / (dual_step * network.norm)
    flow: FloatArray = np.zeros(len(network.tails))
    ahead = flow
    potential: FloatArray = np.zeros(places.k)
    low, high = 0.0, math.inf
    for step in range(1, MOST_STEPS + 1):
        potential = potential + dual_step * network.solve(difference - network.divergence(ahead))
        slope = network.gradient(potential)
        moved = flow + primal_step * slope
        new: FloatArray = moved - np.clip(moved, -primal_step, primal_step)
        ahead, flow = 2 * new - flow, new
        if step % CHECK_EVERY == 0 or step == MOST_STEPS:
            steepest = float(np.abs(slope).max())
            low = max(low, float(potential @ difference) / steepest if steepest else 0.0)
            rest = network.solve(difference - network.divergence(flow))
            high = min(high, float(np.abs(flow + network.patch(rest)).sum()))
            if high <= low * (1 + gap):
                break
    low /= network.detour
    return Transport(math.sqrt(low * high), low, high)


class _Network:
    """The cells and the steps between them; a flow counts in cost (mass times length), one number a step."""

    def __init__(self, places: Places) -> None:
        square = places.ground == "manhattan"
        around = STEPS_AROUND[:2] if square else STEPS_AROUND
        pairs = [
            (*places.pairs_at(down, across), places.length(down, across))
            for down, across in around
            if down < places.rows and abs(across) < places.columns
        ]
        self.tails = np.concatenate([tails for tails, _, _ in pairs])
        self.heads = np.concatenate([heads for _, heads, _ in pairs])
        self.lengths = np.concatenate([np.full(len(tails), length) for tails, _, length in pairs])
        self.k, self.shape = places.k, (places.rows, places.columns)
        self.detour = 1.0 if square else _detour(places)
        self.length = math.sqrt(places.height * places.width)
        self.straight = sum(len(tails) for tails, _, _ in pairs[:2])
        self.down, self.across = _cosines(places.rows), _cosines(places.columns)
        curvature = np.add.outer(
            _curvature(places.rows) / places.height**2, _curvature(places.columns) / places.width**2
        )
        self.inverse = np.divide(1.0, curvature, out=np.zeros(curvature.shape), where=curvature > 1e-14)
        self.norm = self._largest()

    def gradient(self, potential: FloatArray) -> FloatArray:
        """Return the fall of the potential along each step, over its length."""
        result: FloatArray = (potential[self.tails] - potential[self.heads]) / self.lengths
        return result

    def divergence(self, flow: FloatArray) -> FloatArray:
        """Return what leaves each cell, less what arrives: the transpose of the gradient."""
        mass = flow / self.lengths
        difference = np.bincount(self.tails, mass, self.k) - np.bincount(self.heads, mass, self.k)
        return difference.astype(np.float64, copy=False)

    def solve(self, values: FloatArray) -> FloatArray:
        """Return the potential whose flow between direct neighbours has this divergence, by cosine transforms."""
        table = values.reshape(self.shape)
        spread = (self.down @ table @ self.across.T) * self.inverse
        result: FloatArray = (self.down.T @ spread @ self.across).ravel()
        return result

    def patch(self, potential: FloatArray) -> FloatArray:
        """Return the flow of a potential between direct neighbours, which stand first, and 0 elsewhere."""
        flow = self.gradient(potential)
        flow[self.straight :] = 0.0
        return flow

    def _largest(self) -> float:
        """Return the largest factor of solve(divergence(gradient(.))), by power iteration, and 5 % more."""
        vector = np.sin(np.arange(self.k) + 1.0)  # no symmetry of the grid
        size = 1.0
        for _ in range(40):
            vector = self.solve(self.divergence(self.gradient(vector)))
            size = float(np.linalg.norm(vector))
            vector /= size
        return 1.05 * size


@lru_cache(maxsize=8)
def _network(places: Places) -> _Network:
    return _Network(places)


def _cosines(size: int) -> FloatArray:
    """Return the orthonormal cosine transform, ``(frequencies, cells)``."""
    waves = np.cos(np.pi * np.outer(np.arange(size), np.arange(size) + 0.5) / size) * math.sqrt(2 / size)
    waves[0] /= math.sqrt(2)
    return waves


def _curvature(size: int) -> FloatArray:
    result: FloatArray = 2 - 2 * np.cos(np.pi * np.arange(size) / size)
    return result


def _detour(places: Places) -> float:
    """Return how much longer than straight a way by steps to the 16 neighbours can be.

    Two neighbouring steps of a quarter turn span all cells between them (their determinant is 1), and a way by both is
    longest, relatively, along the bisector of their angle.
    """
    ways = [(1, 0), (2, 1), (1, 1), (1, 2), (0, 1)]
    angles = [math.atan2(across * places.width, down * places.height) for down, across in ways]
    return max(1 / math.cos((second - first) / 2) for first, second in pairwise(angles))
