"""Files to try a page with: made up, the same each time, and so marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from functools import cache

import numpy as np

from advisor.inputs.held import HeldFile
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

ROWS, COLUMNS, PEOPLE = 12, 16, 20_000
CENTRES = ((3, 4, 2.0, 0.6), (8, 11, 1.5, 0.4))  # row, column, width and share of the two parts of the town
CATEGORIES, USERS, EPSILON = 32, 100_000, 1.0  # of the estimate, which is by optimised unary encoding


@cache
def example_file(name: str) -> HeldFile:
    """Return the example of a page by its name."""
    return {"estimate.csv": _estimate, "town.csv": _town}[name]()


def _estimate() -> HeldFile:
    """Return a raw estimate of a collection from people whose answers have a skew of 1."""
    counts = apportion(frequencies("zipf", CATEGORIES, 1.0), USERS)
    oracle = PROTOCOLS["oue"](CATEGORIES, EPSILON)
    tally = oracle.sample_tally(counts, rng_for(0, "example"))
    values = oracle.estimate(tally.counts, tally.n)  # type: ignore[attr-defined]
    names = (f"answer {place}" for place in range(1, CATEGORIES + 1))
    return _file(("answer", "estimate"), zip(names, (f"{value:.6f}" for value in values.tolist()), strict=True))


def _town() -> HeldFile:
    """Return how many people are in each cell of a town with two parts."""
    rows, columns = np.mgrid[:ROWS, :COLUMNS]
    density = np.full((ROWS, COLUMNS), 0.0005)
    for row, column, width, share in CENTRES:
        bell = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * width**2))
        density += share * bell / bell.sum()
    counts = apportion(density.ravel(), PEOPLE).reshape(ROWS, COLUMNS)
    cells = ((row, column, int(counts[row, column])) for row in range(ROWS) for column in range(COLUMNS))
    return _file(("row", "col", "people"), cells)


def _file(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> HeldFile:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return HeldFile(text.getvalue().encode())
