"""Simulate the cells of a build that are not there yet, on any joblib backend."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, TypeVarTuple, Unpack

from knowledge.making.cells import Record, cell, simulate
from knowledge.making.store import Store

BACKENDS = ("loky", "threading", "dask")
WATCHED = 0.5  # seconds between two looks of a worker at whether its parent lives
T = TypeVar("T")
Task = TypeVarTuple("Task")
Progress = Callable[[int, int], None]
Simulated = Callable[[int, int, int], Record]


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record; what a worker runs."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


@dataclass(frozen=True)
class Workers:
    """Who simulates the cells.

    Raises ValueError if the backend is unknown, or ``dask`` has no scheduler or any other has one.
    """

    jobs: int = 1
    backend: str = BACKENDS[0]  # what joblib runs them on
    scheduler: str | None = None  # address of the Dask scheduler, for the backend ``dask``

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {self.backend!r}")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise ValueError(
                f"the backend dask needs the address of a scheduler, and no other takes one; got {self.backend!r}"
            )


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
    for record in _results(simulated, work, workers):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)


def _results(simulated: Simulated, work: Iterable[tuple[int, int, int]], workers: Workers) -> Iterator[Record]:
    """Return an iterator over the records of cells, as they come in."""
    if workers.scheduler is None:
        yield from in_processes(simulated, work, workers.jobs, workers.backend)
        return
    from distributed import Client
    from joblib import Parallel, delayed, parallel_config

    with Client(workers.scheduler), parallel_config(backend="dask"):  # type: ignore[no-untyped-call]
        yield from Parallel(return_as="generator_unordered")(delayed(simulated)(*numbers) for numbers in work)


def in_processes(
    function: Callable[[Unpack[Task]], T], tasks: Iterable[tuple[*Task]], jobs: int, backend: str = "loky"
) -> Iterator[T]:
    """Yield ``function(*task)`` of each task as it comes in; workers end soon after this process, however it ends."""
    if jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    from joblib import Parallel, delayed, parallel_config

    work = (delayed(_watched)(os.getpid(), function, task) for task in tasks)
    with parallel_config(backend=backend):
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(work)


def _watched(parent: int, function: Callable[[Unpack[Task]], T], task: tuple[*Task]) -> T:
    """Run a task in a worker that does not outlive its parent: one that is killed cannot end its workers itself."""
    if os.getppid() == parent:
        _end_with(parent)
    return function(*task)


@cache
def _end_with(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCHED)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
