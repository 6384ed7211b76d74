"""Independent tasks in threads: numpy computes without the lock of the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def in_threads(work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[T]:
    """Yield the result of ``work(*task)`` for each task, in their order."""
    if jobs == 1 or len(tasks) == 1:
        yield from (work(*task) for task in tasks)
        return
    from joblib import Parallel, delayed  # only here: starting it costs more than a small simulation

    yield from Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(delayed(work)(*task) for task in tasks)
