"""Simulate the cells of a build that are not there yet, on any joblib backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from knowledge.cells import cell, simulate
from knowledge.store import Store

BACKENDS = ("loky", "threading", "dask")
Result = TypeVar("Result")
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
        As `unordered`.
    """
    present = store.records()
    missing = [index for index in range(cells) if index not in present]
    done = cells - len(missing)
    work = ((index, seed, largest) for index in missing)
    for record in unordered(record_of, work, jobs=jobs, backend=backend, scheduler=scheduler):
        store.add(record)
        done += 1
        if progress is not None:
            progress(done, cells)


def unordered(
    function: Callable[..., Result],
    work: Iterable[tuple[Any, ...]],
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> Iterator[Result]:
    """Return an iterator over what a function makes of each tuple of arguments, as it comes in.

    Parameters
    ----------
    jobs, backend, scheduler
        As in `collect`.

    Raises
    ------
    ValueError
        If the backend is unknown, or ``dask`` has no scheduler or any other has one.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if (backend == "dask") != (scheduler is not None):
        raise ValueError(f"the backend dask needs the address of a scheduler, and no other takes one; got {backend!r}")
    return _results(function, work, jobs, backend, scheduler)


def _results(
    function: Callable[..., Result], work: Iterable[tuple[Any, ...]], jobs: int, backend: str, scheduler: str | None
) -> Iterator[Result]:
    if jobs == 1 and backend != "dask":
        yield from (function(*arguments) for arguments in work)
        return
    from joblib import Parallel, delayed, parallel_config

    delayed_work = (delayed(function)(*arguments) for arguments in work)
    if backend != "dask":
        with parallel_config(backend=backend):
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed_work)
        return
    with _client(str(scheduler)), parallel_config(backend="dask"):
        yield from Parallel(return_as="generator_unordered")(delayed_work)


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    with Client(scheduler) as client:  # type: ignore[no-untyped-call]
        yield client
