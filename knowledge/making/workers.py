"""Simulate the cells of a build that are not there yet, on any joblib backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from knowledge.making.cells import Record, cell, simulate
from knowledge.making.store import Store

BACKENDS = ("loky", "threading", "dask")
Progress = Callable[[int, int], None]


def record_of(index: int, seed: int, largest: int) -> Record:
    """Simulate cell number `index` and return its record; what a worker runs."""
    return simulate(cell(index, seed=seed, largest=largest)).to_record()


def collect(
    store: Store[Record],
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

    store: where finished cells are, and go.
    cells, seed, largest: number of cells, seed, and largest domain.
    jobs, backend: workers, and what joblib runs them on: one of `BACKENDS`.
    scheduler: address of the Dask scheduler, for the backend ``dask``.
    progress: called with the cells that are done and their number.

    Raises ValueError if the backend is unknown, or ``dask`` has no scheduler or any other has one.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise ValueError(f"the backend dask needs the address of a scheduler, and no other takes one; got {backend!r}")
    present = store.records()
    missing = [index for index in range(cells) if index not in present]
    done = cells - len(missing)
    work = ((index, seed, largest) for index in missing)
    for record in _results(work, jobs, backend, scheduler):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)


def _results(work: Iterable[tuple[int, int, int]], jobs: int, backend: str, scheduler: str | None) -> Iterator[Record]:
    """Return an iterator over the records of cells given as for `record_of`, as they come in."""
    if jobs == 1 and backend != "dask":
        yield from (record_of(*numbers) for numbers in work)
        return
    from joblib import Parallel, delayed, parallel_config

    delayed_work = (delayed(record_of)(*numbers) for numbers in work)
    if backend != "dask":
        with parallel_config(backend=backend):
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed_work)
        return
    with _cluster(str(scheduler)), parallel_config(backend="dask"):
        yield from Parallel(return_as="generator_unordered")(delayed_work)


@contextmanager
def _cluster(scheduler: str) -> Iterator[None]:
    from distributed import Client

    with Client(scheduler):  # type: ignore[no-untyped-call]
        yield
