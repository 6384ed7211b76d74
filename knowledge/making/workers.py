"""Workers: this process, more processes, or a Dask cluster. No result depends on it."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from distributed import Client

BACKENDS = ("loky", "threading", "dask")
AHEAD = 3  # tasks that are sent for each core of a cluster, so that none waits for work
PATIENCE, CONNECTED = 60, 10  # seconds until a cluster has a worker, and until its scheduler answers
T = TypeVar("T")
Task = TypeVarTuple("Task")


class WorkersError(RuntimeError):
    """No worker is available, or all have left; the message names the workers and the reason."""


@dataclass(frozen=True)
class Workers:
    """Workers of a build.

    Raises ValueError if the backend is unknown, or any other than ``dask`` has a scheduler.
    """

    jobs: int = 1  # processes, or threads; of Dask, workers of a cluster on this machine
    backend: str = BACKENDS[0]  # backend of joblib, or ``dask``
    scheduler: str | None = None  # address of the Dask scheduler; None for a cluster on this machine

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {self.backend!r}")
        if self.backend != "dask" and self.scheduler is not None:
            raise ValueError(f"only the backend dask takes the address of a scheduler, got {self.backend!r}")

    def results(
        self, function: Callable[[Unpack[Task]], T], tasks: Iterable[tuple[*Task]], *, ordered: bool = False
    ) -> Iterator[T]:
        """Yield ``function(*task)`` of each task: as it comes in, or in the order of the tasks.

        Tasks are submitted a few at a time. In a cluster, another worker repeats the task of a killed worker.

        Raises WorkersError if there is no cluster, or workers end again and again.
        """
        if self.backend == "dask":
            return _on_dask(self, function, tasks, ordered=ordered)
        return _on_this_machine(self, function, tasks, ordered=ordered)


def _on_dask(
    workers: Workers, function: Callable[[Unpack[Task]], T], tasks: Iterable[tuple[*Task]], *, ordered: bool
) -> Iterator[T]:
    """Yield results from a Dask cluster. Tasks carry their inputs, so that they survive the loss of a worker."""
    from distributed import wait

    rest, pending = iter(tasks), deque()  # type: ignore[var-annotated]
    with _cluster(workers) as client:
        try:
            while True:
                room = AHEAD * max(1, sum(client.ncores().values())) - len(pending)
                pending.extend(client.submit(function, *task, pure=False) for task in islice(rest, max(0, room)))
                if not pending:
                    return
                if not ordered:
                    done = wait(pending, return_when="FIRST_COMPLETED").done
                    pending = deque(sorted(pending, key=lambda future: future not in done))
                yield pending.popleft().result()
        finally:
            client.cancel(list(pending))


@contextmanager
def _cluster(workers: Workers) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine, which stops with the context.

    Raises WorkersError if there is none, or if it fails.
    """
    from concurrent.futures import CancelledError

    from distributed import Client, KilledWorker, LocalCluster
    from distributed.comm import CommClosedError

    with ExitStack() as stack:
        address = workers.scheduler or stack.enter_context(
            LocalCluster(n_workers=workers.jobs, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR")
        )
        try:
            client = stack.enter_context(Client(address, timeout=CONNECTED))
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise WorkersError(f"no Dask cluster with a worker at {address}: {error}") from None
        try:
            yield client
        except KilledWorker:
            raise WorkersError(
                "worker after worker was killed at the same piece of work: give them more memory, or read their logs"
            ) from None
        except (CancelledError, CommClosedError) as error:
            raise WorkersError(f"the connection to the Dask scheduler was lost ({error})") from None


def _on_this_machine(
    workers: Workers, function: Callable[[Unpack[Task]], T], tasks: Iterable[tuple[*Task]], *, ordered: bool
) -> Iterator[T]:
    """Yield results of processes or threads."""
    if workers.jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    from joblib import Parallel, delayed, parallel_config

    work = (delayed(function)(*task) for task in tasks)
    # How a matrix product is rounded depends on how many threads share it, and that must not depend on the jobs.
    single = {"inner_max_num_threads": 1} if workers.backend == "loky" else {}
    with parallel_config(backend=workers.backend, **single):
        results = Parallel(n_jobs=workers.jobs, return_as="generator" if ordered else "generator_unordered")(work)
    try:
        for result in results:  # noqa: UP028 - closing this generator must close the inner generator
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the remaining results are no longer needed
            results.close()
