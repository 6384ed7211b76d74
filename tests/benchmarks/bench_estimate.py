"""What the answer for an estimate costs: run ``python tests/benchmarks/bench_estimate.py``.

Beside the answer for a sample of the same domain in the same run, which simulates a single population. Then what two
threads take, in shares of what one takes, on both sides of the domain size from which they are started.
"""

from __future__ import annotations

import time

import numpy as np

from advisor import advise
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

N, EPSILON = 100_000, 1.0


def answers(k: int, *, jobs: int | None = None) -> tuple[float, float]:
    """Return the seconds that an estimate and a sample take."""
    counts = apportion(frequencies("gaussian", k), N)
    oracle = PROTOCOLS["oue"](k, EPSILON)
    estimate = np.asarray(oracle.estimate(oracle.sample_support(counts, rng_for(0, "bench")), N))
    before = time.perf_counter()
    advise(EPSILON, estimate=estimate, protocol="oue", n=N, metric="emd", ordered=True, jobs=jobs)
    between = time.perf_counter()
    advise(EPSILON, sample_counts=counts, n=N, metric="emd", ordered=True, jobs=jobs)
    return between - before, time.perf_counter() - between


def main() -> None:
    """Print seconds and ratios for some domain sizes."""
    print(f"{'k':>6} {'estimate, s':>12} {'sample, s':>10} {'ratio':>6}")
    for k in (64, 256, 1024):
        taken, plain = answers(k)
        print(f"{k:6,} {taken:12.2f} {plain:10.2f} {taken / plain:6.1f}")
    print(f"\n{'k':>6} {'two threads over one: estimate':>31} {'sample':>7}")
    for k in (1024, 4096, 16384):
        one, two = (answers(k, jobs=jobs) for jobs in (1, 2))
        print(f"{k:6,} {two[0] / one[0]:31.2f} {two[1] / one[1]:7.2f}")


if __name__ == "__main__":
    main()
