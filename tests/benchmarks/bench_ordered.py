"""What the methods for ordered domains cost beside ``wavelet_eb``: run ``python tests/benchmarks/bench_ordered.py``.

A batch of 20 rows at k = 1024, as the benchmark applies methods; milliseconds of one core for one row, the least of a
few times, and the ratio to ``wavelet_eb`` on subset selection in the same run: the median over all settings, and the
most.
"""

import os
import time
from itertools import product

# Before numpy is imported: a second thread of its matrix products waits in a loop, which counts as processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.populations import apportion, frequencies
from simulator.protocols import ORDERED_PROTOCOLS
from simulator.seeding import rng_for

K, ROWS, TIMES = 1024, 20, 5
PAIRS = (("ss", "wavelet_eb"), ("tree", "tree_eb"), ("ss", "tree_eb"), ("tree", "iso_cdf"), ("sw", "em_stopped"))
SETTINGS = tuple(product(("gaussian", "spike"), (0.5, 1.0, 2.0, 4.0), (10**4, 10**5, 10**6)))


def collected(protocol, shape, epsilon, n, k, rows):
    member = (PROTOCOLS | ORDERED_PROTOCOLS)[protocol](k, epsilon)
    counts = np.broadcast_to(apportion(frequencies(shape, k), n), (rows, k))
    return observe(member, member.sample_tally(counts, rng_for(0, "bench", protocol)), ORDERED)


def milliseconds(protocol, method, shape, epsilon, n):
    observed = collected(protocol, shape, epsilon, n, K, ROWS)
    taken = []
    for _ in range(TIMES):
        before = time.process_time()
        POSTPROCESSORS[method].apply(observed)
        taken.append(time.process_time() - before)
    return min(taken) / ROWS * 1e3


def main():
    found = {pair: np.array([milliseconds(*pair, *setting) for setting in SETTINGS]) for pair in PAIRS}
    base = np.median(found[PAIRS[0]])
    print("| pair | ms a row: median | most | over wavelet_eb: median | most |\n|---|--:|--:|--:|--:|")
    for pair, each in found.items():
        cells = (np.median(each), each.max(), np.median(each) / base, each.max() / base)
        print(f"| {' + '.join(pair)} | {' | '.join(f'{cell:.1f}' for cell in cells)} |")


if __name__ == "__main__":
    main()
