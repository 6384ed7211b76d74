"""What the methods for ordered domains cost beside ``wavelet_eb``: run ``python tests/benchmarks/bench_ordered.py``.

A batch of 20 rows at k = 1024, as the benchmark applies methods; milliseconds of processor time for one row, and the
ratio to ``wavelet_eb`` on subset selection in the same run: the median over all settings, and the most.
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.methods.ordered import ORDERED_METHODS
from simulator.populations import apportion, frequencies
from simulator.protocols.ordered import ORDERED_PROTOCOLS
from simulator.seeding import rng_for

K, ROWS = 1024, 20
PAIRS = (
    ("ss", "wavelet_eb"), ("tree", "tree_eb"), ("ss", "tree_eb"), ("tree", "iso_cdf"), ("sw", "em_stopped"),
    ("sw", "em"), ("sw", "ems"),
)  # fmt: skip
SETTINGS = tuple(product(("gaussian", "spike"), (0.5, 1.0, 2.0, 4.0), (10**4, 10**5, 10**6)))


def milliseconds(protocol: str, method: str, shape: str, epsilon: float, n: int) -> float:
    """Return the processor time that one row takes."""
    member = (PROTOCOLS | ORDERED_PROTOCOLS)[protocol](K, epsilon)
    counts = np.broadcast_to(apportion(frequencies(shape, K), n), (ROWS, K))
    observed = observe(member, member.sample_tally(counts, rng_for(0, "bench", protocol)), ORDERED)
    before = time.process_time()
    (POSTPROCESSORS | ORDERED_METHODS)[method].apply(observed)
    return (time.process_time() - before) / ROWS * 1e3


def main() -> None:
    """Print the cost of every pair."""
    found = {pair: np.array([milliseconds(*pair, *setting) for setting in SETTINGS]) for pair in PAIRS}
    base = np.median(found[PAIRS[0]])
    print("| pair | ms a row: median | most | over wavelet_eb: median | most |\n|---|--:|--:|--:|--:|")
    for pair, each in found.items():
        cells = (np.median(each), each.max(), np.median(each) / base, each.max() / base)
        print(f"| {' + '.join(pair)} | {' | '.join(f'{cell:.1f}' for cell in cells)} |")


if __name__ == "__main__":
    main()
