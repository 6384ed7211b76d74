"""Simulate the cells of a build that are not there yet, whoever works."""

from __future__ import annotations

from collections.abc import Callable

from knowledge.making.cells import Record, cell, simulate
from knowledge.making.store import Store
from knowledge.making.workers import Workers

Progress = Callable[[int, int], None]
Simulated = Callable[[int, int, int], Record]


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record; what a worker runs."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


def collect(
    store: Store[Record],
    cells: int,
    *,
    seed: int,
    largest: int,
    workers: Workers,
    progress: Progress | None = None,
    simulated: Simulated = record_of,
) -> None:
    """Bring the store to `cells` cells. Cells come in as they finish; what they hold does not depend on the workers.

    store: where finished cells are, and go.
    cells, seed, largest: number of cells, seed, and largest domain.
    progress: called with the cells that are done and their number.
    simulated: what a worker runs, with number, seed and largest domain.
    """
    present = store.records()
    missing = [index for index in range(cells) if index not in present]
    done = cells - len(missing)
    work = ((index, seed, largest) for index in missing)
    for record in workers.results(simulated, work):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)
