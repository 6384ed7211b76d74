"""Count the supports of hashed reports: hashes a second of one core, and the same by the definition.

``python tests/benchmarks/bench_hashing.py`` prints the figures of docs/speed.md, in CPU seconds of this process.
"""

import argparse
import time

import numpy as np

from simulator import rng_for
from simulator.hashing import HASHES, count_supports

K, SLOW_SHARE = 1024, 20  # the definition is given so many times fewer reports


def cpu_seconds(count, rounds):
    """Return the least CPU time of several rounds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        count()
        times.append(time.process_time() - start)
    return min(times)


def by_definition(name, seeds, symbols, g):
    """Hash every value under every seed, and compare."""
    return (HASHES[name](np.arange(K), seeds[:, None], g) == symbols[:, None]).sum(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200_000, help="reports")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rng = rng_for(0, "hashed reports")
    print("| hash | g | 10⁶ hashes a second and core | by the definition | ratio |\n|---|---:|---:|---:|---:|")
    for name in HASHES:
        for g in (2, 3, 4, 6, 9, 56):
            seeds, symbols = rng.integers(0, 2**32, options.n), rng.integers(0, g, options.n)
            few = slice(0, options.n // SLOW_SHARE)
            slow = cpu_seconds(lambda: by_definition(name, seeds[few], symbols[few], g), options.rounds)  # noqa: B023
            fast = cpu_seconds(lambda: count_supports(name, seeds, symbols, K, g), options.rounds)  # noqa: B023
            rates = options.n * K / fast / 1e6, options.n // SLOW_SHARE * K / slow / 1e6
            print(f"| `{name}` | {g} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[0] / rates[1]:.1f} |")


if __name__ == "__main__":
    main()
