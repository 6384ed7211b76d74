import os
import signal
import time

import pytest

from knowledge.making import workers as module
from knowledge.making.workers import Workers, WorkersError


def square(number, seconds=0.0):
    time.sleep(seconds)
    return number * number


def ends_its_worker(number):
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuses(number):
    raise ValueError(f"number {number}")


@pytest.mark.parametrize("workers", [Workers(), Workers(2, "threading")])
def test_results_are_in_the_order_of_the_tasks_where_that_is_asked(workers):
    tasks = [(number, 0.02 if number == 0 else 0.0) for number in range(9)]
    assert list(workers.results(square, tasks, ordered=True)) == [number * number for number in range(9)]
    assert sorted(workers.results(square, tasks)) == [number * number for number in range(9)]


def test_tasks_are_taken_a_few_at_a_time():
    taken = []

    def tasks():
        for number in range(1000):
            taken.append(number)
            yield (number,)

    results = Workers(2, "threading").results(square, tasks(), ordered=True)
    assert next(results) == 0
    assert len(taken) < 500
    results.close()


@pytest.mark.slow
def test_a_cluster_of_this_machine_gives_the_same_and_says_what_becomes_of_it(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra ldp-advise[cluster] is not installed")
    tasks = [(number, 0.3 if number == 0 else 0.0) for number in range(20)]
    expected = [number * number for number in range(20)]
    assert list(Workers(2, "dask").results(square, tasks, ordered=True)) == expected
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        there = Workers(1, "dask", cluster.scheduler_address)
        assert sorted(there.results(square, tasks)) == expected
        with pytest.raises(ValueError, match="number 3"):
            list(there.results(refuses, [(3,)]))
        with pytest.raises(WorkersError, match="worker after worker was killed"):
            list(there.results(ends_its_worker, [(1,)]))
    monkeypatch.setattr(module, "CONNECTED", 0.5)
    with pytest.raises(WorkersError, match=r"no Dask cluster with a worker at tcp://127\.0\.0\.1:1"):
        list(Workers(1, "dask", "tcp://127.0.0.1:1").results(square, tasks))


@pytest.mark.parametrize(("backend", "scheduler"), [("loky", "tcp://127.0.0.1:1"), ("spark", None)])
def test_backends_that_do_not_go_are_refused(backend, scheduler):
    with pytest.raises(ValueError, match="backend"):
        Workers(1, backend, scheduler)
