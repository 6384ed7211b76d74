"""What audits and attacks cost: run ``python tests/benchmarks/bench_audit.py [TRIALS]``.

Seconds for a million trials (of each of the two values) of every protocol at k = 100 and epsilon = 1, with one thread
and with two, and for the poisoning attacks on every protocol and method.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from simulator import POSTPROCESSORS, PROTOCOLS
from simulator.audit import audit_protocol, rounds_subject, run_audit
from simulator.benchmark import Experiment
from simulator.gains import gains
from simulator.poisoning import MAXIMAL, Attack, draw_targets
from simulator.populations import apportion, frequencies

K, EPSILON = 100, 1.0


def seconds(function: Callable[[], object]) -> float:
    before = time.perf_counter()
    function()
    return time.perf_counter() - before


def main(trials: int = 1_000_000) -> None:
    audit_protocol(PROTOCOLS["grr"](K, EPSILON), trials=100)  # imports
    print(f"{'audit, k = 100':20} {trials:>10,} trials {'2 threads':>10} {'10 rounds, trials / 10':>24}")
    for key, protocol in PROTOCOLS.items():
        oracle = protocol(K, EPSILON)
        one, two = (seconds(lambda o=oracle, j=jobs: audit_protocol(o, trials=trials, jobs=j)) for jobs in (1, 2))
        many = seconds(lambda o=oracle: run_audit(rounds_subject(o, 10), trials=trials // 10, alpha=0.01, seed=0))
        print(f"{key:20} {one:15.2f} s {two:8.2f} s {many:22.2f} s")
    counts = apportion(frequencies("zipf", K), 1_000_000)
    methods = {name: method for name, method in POSTPROCESSORS.items() if method.needs <= {"estimate", "iid", "ground"}}
    print(f"\n{'poisoning, 20 collections, all methods':20}")
    for key, protocol in PROTOCOLS.items():
        attack = Attack(MAXIMAL, 0.05, tuple(draw_targets(K, 0).tolist()))
        pairs = tuple((key, name) for name in methods)
        task = Experiment(counts, {key: protocol(K, EPSILON)}, methods, {}, pairs, attack=attack)
        took = seconds(lambda task=task: gains(task, task.pairs, repetitions=20))
        print(f"{key:20} {took:15.2f} s")


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
