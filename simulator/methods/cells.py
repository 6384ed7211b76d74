"""A line of places cut into fewer cells of one size, and how numbers go from the one to the other."""

from __future__ import annotations

import numpy as np

from simulator._types import FloatArray


class Cells:
    """So many places cut into so many cells, which lie about their middle: the first and the last take what is left.

    size: of a cell in places, which need not be a whole number: a place is then shared by two cells.
    """

    def __init__(self, places: int, cells: int, size: float) -> None:
        first = (places - cells * size) / 2
        edges = first + size * np.arange(cells + 1)
        edges[[0, -1]] = 0, places
        self._cut = np.minimum(edges.astype(np.int64), places - 1)  # the place in which a cell begins
        self._former = edges - self._cut  # the share of it that is the former cell's
        self._former[-1] = 0  # of which there is no place left
        middles = np.clip((np.arange(places) + 0.5 - first) / size - 0.5, 0, cells - 1)
        self._before = np.minimum(middles.astype(np.int64), cells - 2)
        self._beyond = middles - self._before

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums ``(rows, cells)`` of the values ``(rows, places)`` in each cell."""
        result = np.add.reduceat(values, self._cut[:-1], axis=1)
        former = values.take(self._cut, axis=1)
        former *= self._former
        result += former[:, 1:]
        result -= former[:, :-1]
        return result

    def spread(self, values: FloatArray) -> FloatArray:
        """Return for each place ``(rows, places)`` what lies on the lines between the values ``(rows, cells)``."""
        result = np.diff(values, axis=1).take(self._before, axis=1)
        result *= self._beyond
        result += values.take(self._before, axis=1)
        return result
