"""What the answer for an estimate costs: run ``python tests/benchmarks/bench_estimate.py``.

Beside the answer for a sample of the same domain in the same run, which simulates a single population.
"""

from __future__ import annotations

import time

import numpy as np

from advisor import advise
from simulator import PROTOCOLS
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

N, EPSILON = 100_000, 1.0


def main() -> None:
    """Print seconds and the ratio for three domain sizes."""
    print(f"{'k':>6} {'estimate, s':>12} {'sample, s':>10} {'ratio':>6}")
    for k in (64, 256, 1024):
        counts = apportion(frequencies("gaussian", k), N)
        oracle = PROTOCOLS["oue"](k, EPSILON)
        estimate = oracle.estimate(oracle.sample_support(counts, rng_for(0, "bench")), N)
        before = time.perf_counter()
        advise(EPSILON, estimate=np.asarray(estimate), protocol="oue", n=N, metric="emd", ordered=True)
        between = time.perf_counter()
        advise(EPSILON, sample_counts=counts, n=N, metric="emd", ordered=True)
        after = time.perf_counter()
        taken, plain = between - before, after - between
        print(f"{k:6,} {taken:12.2f} {plain:10.2f} {taken / plain:6.1f}")


if __name__ == "__main__":
    main()
