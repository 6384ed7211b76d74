"""Simulate the cells of a build that are not there yet, on any joblib backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from knowledge.cells import cell, simulate
from knowledge.store import Store

BACKENDS = ("loky", "threading", "dask")
Progress = Callable[[int, int], None]


def record_of(index: int, seed: int, largest: int) -> dict[str, Any]:
    """Simulate cell number `index` and return its record; what a worker runs."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


def collect(
    store: Store,
    cells: int,
    *,
    seed: int,
    largest: int,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Bring the store to `cells` cells. Cells come in as they finish; what they hold does not depend on the workers.

    Parameters
    ----------
    store
        Where finished cells are, and go.
    cells, seed, largest
        Number of cells, seed, and largest domain.
    jobs, backend
        Workers, and what joblib runs them on: one of `BACKENDS`.
    scheduler
        Address of the Dask scheduler, for the backend ``dask``.
    progress
        Called with the cells that are done and their number.

    Raises
    ------
    ValueError
        If the backend is unknown, or ``dask`` has no scheduler or any other has one.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise ValueError(f"the backend dask needs the address of a scheduler, and no other takes one; got {backend!r}")
    present = store.records()
    missing = [index for index in range(cells) if index not in present]
    done = cells - len(missing)
    for record in _records(missing, seed, largest, jobs, backend, scheduler):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)


def _records(
    missing: list[int], seed: int, largest: int, jobs: int, backend: str, scheduler: str | None
) -> Iterator[dict[str, Any]]:
    if jobs == 1 and backend != "dask":
        yield from (record_of(index, seed, largest) for index in missing)
        return
    from joblib import Parallel, delayed, parallel_config

    work = (delayed(record_of)(index, seed, largest) for index in missing)
    if backend != "dask":
        with parallel_config(backend=backend):
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
        return
    with _client(str(scheduler)), parallel_config(backend="dask"):
        yield from Parallel(return_as="generator_unordered")(work)


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        yield client
