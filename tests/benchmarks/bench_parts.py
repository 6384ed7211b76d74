"""What the parts cost beside a sort: run ``python tests/benchmarks/bench_parts.py``.

A batch of 20 estimates at k = 1024; every figure is a ratio to ``numpy.sort`` of the same batch in the same run, or to
the user-by-user replay for the samplers.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator.domain import ORDERED
from simulator.methods import possible
from simulator.methods.power import posterior_mean, prior_exponent
from simulator.populations import apportion, frequencies
from simulator.seeding import rng_for

K, ROUNDS = 1024, 15


def best_of(function: Callable[[], object]) -> float:
    """Return the least of several timings: the one that was disturbed least."""
    times = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        function()
        times.append(time.perf_counter() - before)
    return min(times)


def main() -> None:
    """Print the cost of every method, metric and sampler."""
    truth = frequencies("zipf", K)
    print(f"{'method (20 x 1024)':28} {'sorts, warm':>12} {'sorts, cold':>12}")
    oracle = PROTOCOLS["oue"](K, 1.0)
    for n in (10**6, 10**9):
        counts, noise = apportion(truth, n), oracle.noise(n)
        support = oracle.sample_support(np.broadcast_to(counts, (20, K)), rng_for(0, "bench"))
        estimate = oracle.estimate(support, n)
        sort = best_of(lambda estimate=estimate: np.sort(estimate, axis=-1))
        for name, method in POSTPROCESSORS.items():
            if not possible(method, oracle, ORDERED, n):
                continue
            warm = best_of(lambda method=method, e=estimate, noise=noise: method(e, noise))

            def cold(method=method, e=estimate, noise=noise) -> None:
                posterior_mean.cache_clear()
                prior_exponent.cache_clear()
                method(e, noise)

            print(f"{name:18} n=10^{len(str(n)) - 1:<5} {warm / sort:12.1f} {best_of(cold) / sort:12.1f}")
    print(f"\n{'metric (20 x 1024)':28} {'sorts':>12}")
    for name, metric in METRICS.items():
        print(f"{name:28} {best_of(lambda metric=metric: metric(estimate, truth)) / sort:12.1f}")
    print(f"\n{'one collection, k = 256':28} {'replay n=10^4':>14} {'law, n=10^4':>12} {'n=10^6':>8} {'n=10^9':>8}")
    small = frequencies("zipf", 256)
    for name, protocol in PROTOCOLS.items():
        member = protocol(256, 1.0)
        before = time.perf_counter()
        member.replay_support(apportion(small, 10**4), rng_for(0, "replay"))
        replay = time.perf_counter() - before
        populations = [apportion(small, n) for n in (10**4, 10**6, 10**9)]
        laws = [best_of(lambda m=member, c=c: m.sample_support(c, rng_for(0, "law"))) for c in populations]
        print(f"{name:28} {1.0:14.1f} " + " ".join(f"{law / replay:.5f}".rjust(11) for law in laws))


if __name__ == "__main__":
    main()
