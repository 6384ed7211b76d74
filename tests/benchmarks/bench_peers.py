"""The same work as in published packages, in turns, as ratios of processor time.

``python tests/benchmarks/bench_peers.py`` prints two tables in Markdown.

1. A collection: every user's client, the server, the estimate, for the same users, k and epsilon. One report at a time
   there, as their interfaces are; whole arrays here.
2. A simulated collection, which is what a comparison of protocols and methods repeats: there the same as above, here a
   draw of what the server counts.

The packages are the extra ``peers``. They may stand in an environment of their own: ``--peer-python PATH`` starts its
interpreter, which needs numpy and the packages only. Compilation (numba) and imports are not timed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

from simulator.populations import apportion
from simulator.protocols import PROTOCOLS
from simulator.seeding import rng_for

WORKER = Path(__file__).parents[2] / "studies" / "peers.py"
DRAWS = 50  # simulated collections here for each one there: a single one is too short to be timed
ROUNDS_HERE = 5  # collections here for each one there, for the same reason


class Packages:
    """The packages, in a process of their own that answers one task at a time."""

    def __init__(self, python):
        self._process = subprocess.Popen(
            [python, str(WORKER), "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **task):
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("bench_peers.py: the interpreter of the packages ended; its message stands above")
        return json.loads(line)


def here(protocol, values, k, epsilon, round_number):
    hashed = {"hash": "xxh32"} if protocol in ("blh", "olh") else {}
    oracle = PROTOCOLS[protocol](k, epsilon, **hashed)
    reports = oracle.perturb(values, rng_for(0, "bench peers", protocol, round_number))
    linear = oracle.linear
    assert linear is not None
    return linear.estimate(oracle.tally(reports))


def drawn(protocol, counts, epsilon, round_number):
    oracle = PROTOCOLS[protocol](len(counts), epsilon)
    rows = np.broadcast_to(counts, (DRAWS, len(counts)))
    tally = oracle.sample_tally(rows, rng_for(0, "bench peers, drawn", protocol, round_number))
    linear = oracle.linear
    assert linear is not None
    return linear.estimate(tally)


def seconds_of(work, times):
    start = time.process_time()
    for at in range(times):
        work(at)
    return (time.process_time() - start) / times


def spread(ratios):
    return f"{digits(statistics.median(ratios))} ({digits(min(ratios))}–{digits(max(ratios))})"


def digits(figure):
    return f"{float(f'{figure:.2g}'):,.0f}" if figure >= 100 else f"{figure:.2g}"


def measure(packages, peer, protocol, values, options):
    counts = np.bincount(values, minlength=options.k)
    task = {"peer": peer, "k": options.k, "epsilon": options.eps, "memory": False}
    packages.ask(**task, seed=0, values=values[:20].tolist())  # imports and compiles
    here(protocol, values[:20], options.k, options.eps, 0)
    drawn(protocol, counts, options.eps, 0)
    theirs, collected, simulated = [], [], []
    for turn in range(options.rounds):
        theirs.append(packages.ask(**task, seed=turn, values=values.tolist())["seconds"])
        ours = seconds_of(lambda at: here(protocol, values, options.k, options.eps, at), ROUNDS_HERE)
        draw = seconds_of(lambda at: drawn(protocol, counts, options.eps, at), 1) / DRAWS
        collected.append(theirs[-1] / ours)
        simulated.append(theirs[-1] / draw)
    bytes_there = packages.ask(**{**task, "memory": True}, seed=0, values=values.tolist())["bytes"]
    tracemalloc.start()
    here(protocol, values, options.k, options.eps, 0)
    bytes_here = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cells = (
        digits(statistics.median(theirs) * 1e6 / len(values)),
        spread(collected),
        spread(simulated),
        digits(bytes_there / 1e6),
        digits(bytes_here / 1e6),
    )
    return " | ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the packages")
    parser.add_argument("--n", type=int, default=10_000, help="users")
    parser.add_argument("--k", type=int, default=128, help="categories")
    parser.add_argument("--eps", type=float, default=1.0, help="budget")
    parser.add_argument("--rounds", type=int, default=5, help="pairs that are timed")
    parser.add_argument("--protocol", default="", help="only these protocols")
    options = parser.parse_args()
    packages = Packages(options.peer_python)
    values = np.repeat(np.arange(options.k), apportion(1 / (1 + np.arange(options.k)), options.n))
    print(
        f"n = {options.n:,}, k = {options.k}, epsilon = {options.eps:g}, {options.rounds} pairs, numpy {np.__version__}"
    )
    print(
        "\n| package | protocol | µs per user there | a collection: there / here | simulated: there / here "
        "| peak MB there | here |\n|---|---|---:|---:|---:|---:|---:|"
    )
    for package, version, name, protocol in packages.ask(list=True):
        if options.protocol and protocol not in options.protocol.split(","):
            continue
        cells = measure(packages, [package, name], protocol, values, options)
        print(f"| {package} {version} | {protocol} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
