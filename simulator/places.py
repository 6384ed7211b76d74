"""Places in rows and columns, and how far they are from each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._types import FloatArray

GROUNDS = ("euclidean", "manhattan")
ROUNDING = 1e-9  # relative: how much longer than a way over a third place a distance may be


@dataclass(frozen=True)
class Places:
    """A grid of cells, numbered row by row; a single row is a line, the places of an ordered domain.

    Parameters
    ----------
    rows, columns
        Cells each way, at least 2 in all.
    ground
        Distance between two cells: ``"euclidean"`` or ``"manhattan"``.
    height, width
        Size of a cell, in the unit of distances.

    Raises
    ------
    ValueError
        If there are fewer than 2 cells, the ground distance is unknown, or a size is not a positive number.
    """

    rows: int
    columns: int
    ground: str = "euclidean"
    height: float = 1.0
    width: float = 1.0

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1 or self.k < 2:
            raise ValueError(f"places need at least 2 cells, got {self.rows}x{self.columns}")
        if self.ground not in GROUNDS:
            raise ValueError(f"ground must be one of {', '.join(GROUNDS)}, got {self.ground!r}")
        if not all(math.isfinite(size) and size > 0 for size in (self.height, self.width)):
            raise ValueError(f"the size of a cell must be positive, got {self.height}x{self.width}")

    @property
    def k(self) -> int:
        """Number of cells."""
        return self.rows * self.columns

    @property
    def diameter(self) -> float:
        """Largest distance between two cells."""
        return self.length(self.rows - 1, self.columns - 1)

    def length(self, rows: int, columns: int) -> float:
        """Return the distance of two cells at an offset of rows and columns."""
        down, across = abs(rows) * self.height, abs(columns) * self.width
        return down + across if self.ground == "manhattan" else math.hypot(down, across)

    def distances(self) -> FloatArray:
        """Return the distance between any two cells, ``(k, k)``.

        >>> Places(1, 3).distances().tolist()
        [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
        """
        row, column = np.divmod(np.arange(self.k), self.columns)
        down = np.abs(row[:, None] - row) * self.height
        across = np.abs(column[:, None] - column) * self.width
        return down + across if self.ground == "manhattan" else np.hypot(down, across)

    def offsets(self, within: float = math.inf) -> list[tuple[int, int, float]]:
        """Return (rows, columns, distance) of all offsets of two cells, once for both directions, nearest first."""
        ways = [
            (down, across, self.length(down, across))
            for down in range(self.rows)
            for across in range(-self.columns + 1 if down else 1, self.columns)
        ]
        return sorted((way for way in ways if way[2] <= within), key=lambda way: way[2])


def checked_metric(distances: FloatArray, k: int) -> FloatArray:
    """Return the distances ``(k, k)`` of any metric.

    Raises ValueError if they are not square, symmetric, 0 on the diagonal alone, and never longer than over a third
    place.
    """
    if np.shape(distances) != (k, k):
        raise ValueError(f"the distances of {k} places must be a {k}x{k} matrix, got shape {np.shape(distances)}")
    if not (np.isfinite(distances).all() and ((distances > 0) == ~np.eye(k, dtype=bool)).all()):
        raise ValueError("distances must be numbers above 0, and 0 on the diagonal")
    if (distances != distances.T).any():
        raise ValueError("distances must be symmetric: the same there and back")
    for place, row in enumerate(distances):
        wrong = np.flatnonzero((row[:, None] + distances).min(axis=0) < row * (1 - ROUNDING))
        if wrong.size:
            raise ValueError(
                f"distances must keep the triangle inequality: {place} to {wrong[0]} is shorter over others"
            )
    return distances
