"""Noise on an infinite lattice around a cell: the mass of each cell, and of all cells beyond a given cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.places import Places

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
    cell, right = np.zeros((rows, columns)), np.zeros((rows, columns))
    below, corner = np.zeros((rows, columns)), np.zeros((rows, columns))
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
