"""Count hashed reports in one process and on a local Dask cluster, one worker of which is killed meanwhile.

``python -m tests.benchmarks.bench_cluster --n 1e7`` gives what docs/speed.md says and fails where a tally is not
the very one of the single process. CPU seconds are those of all processes, the start of the cluster included; seconds
of the clock say little where the machine does other work too.
"""

import argparse
import json
import os
import resource
import signal
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from advisor.inputs.reports import count_reports
from advisor.inputs.reports.settings import ReportSettings
from advisor.inputs.reports.tallies import tally_text
from knowledge.making.workers import Workers
from simulator import PROTOCOLS, rng_for

K, EPSILON, FILES = 1024, 1.0, 4
HEAD = "| who counts | CPU seconds | ratio | seconds | tally |\n|---|---:|---:|---:|---|"


def make(folder, n):
    """Write n reports of OLH into a few files."""
    rng, olh = rng_for(0, "reports for a cluster"), PROTOCOLS["olh"](K, EPSILON)
    for number in range(FILES):
        values = (K * rng.random(n // FILES) ** 3).astype(np.int64)
        table = pd.DataFrame(olh.perturb(values, rng), columns=["seed", "symbol"])
        table.to_csv(folder / f"reports-{number}.csv", index=False)


@contextmanager
def cluster_of(workers):
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:
        with Client(cluster) as client:
            processes = list(client.run(os.getpid).values())
        yield cluster.scheduler_address, processes


def counted(folder, workers=None):
    start = time.perf_counter()
    counts = count_reports([str(folder / "*.csv")], ReportSettings("olh", EPSILON, k=K), workers=workers, digests=True)
    return time.perf_counter() - start, tally_text(counts)


def cpu_seconds():
    """Return the CPU time of this process and of those that it has started and that have ended."""
    every = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in every)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=float, default=1e6, help="reports")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, n = Path(name), int(options.n)
        make(folder, n)
        print(f"{n:,} reports of OLH at k = {K:,}\n\n{HEAD}")
        start = cpu_seconds()
        alone, tally = counted(folder)
        least = cpu_seconds() - start
        print(f"| this process | {least:.0f} | 1.00 | {alone:.0f} | {tally_sum(tally)} |", flush=True)
        for killed in (False, True):
            start = cpu_seconds()
            with cluster_of(options.workers) as (address, processes):
                if killed:  # in the middle of it
                    threading.Timer(alone / 3, os.kill, (processes[0], signal.SIGKILL)).start()
                seconds, other = counted(folder, Workers(1, "dask", address))
                with Client(address) as client:
                    left = set(processes) & set(client.run(os.getpid).values())
            if killed == (len(left) == options.workers):
                raise SystemExit("no worker was killed before the end" if killed else "a worker ended by itself")
            if other != tally:
                raise SystemExit("the tally of the cluster is another one")
            what = f"{options.workers} workers of a cluster" + (", one of which is killed" if killed else "")
            spent = cpu_seconds() - start
            print(f"| {what} | {spent:.0f} | {spent / least:.2f} | {seconds:.0f} | the same |", flush=True)


def tally_sum(tally):
    return f"`{json.loads(tally)['check'][:12]}…`"


if __name__ == "__main__":
    main()
