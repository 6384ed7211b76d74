"""What places cost: run ``python tests/benchmarks/bench_places.py`` (needs the extra ``transport``).

32 x 32 cells. Times are ratios to one product of the channel's matrix with a vector, of which a plain Bayesian update
needs two, measured in the same run; seconds are only shown beside them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from simulator.channels import Channel, ibu, invert, krr, planar_geometric
from simulator.places import Places
from simulator.populations import apportion
from simulator.seeding import rng_for
from simulator.transport import _network, differences, emd_exact, transports

SIDE, ROUNDS, USERS = 32, 5, 100_000


def best_of(function: Callable[[], object]) -> float:
    """Return the least of several timings: the one that was disturbed least."""
    times = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        function()
        times.append(time.perf_counter() - before)
    return min(times)


def town(places: Places) -> np.ndarray:
    """Return frequencies with a few hot spots on an almost empty map."""
    row, column = np.divmod(np.arange(places.k), places.columns)
    weights = np.full(places.k, 1e-6)
    for r, c, size, width in ((21, 7, 1.0, 2.0), (25, 17, 0.6, 3.0), (14, 26, 0.2, 1.5)):
        weights += size * np.exp(-((row - r) ** 2 + (column - c) ** 2) / width)
    return weights / weights.sum()


def updates_to(channel: Channel, observed: np.ndarray, target: float) -> int:
    """Return the fewest accelerated updates that reach a log-likelihood, by bisection."""
    low, high = 1, 300
    while low < high:
        middle = (low + high) // 2
        done = ibu(channel, observed, closed=False, tolerance=0.0, most_updates=middle)
        low, high = (low, middle) if done.log_likelihood >= target else (middle + 1, high)
    return low


def main() -> None:
    """Print the cost of the parts, the gain by acceleration, and the error of the fast transport cost."""
    places = Places(SIDE, SIDE)
    truth = town(places)
    counts = apportion(truth, USERS)
    estimates: dict[str, np.ndarray] = {"uniform": np.full(places.k, 1 / places.k)}
    unit = 0.0
    print(f"{'':44} {'products':>9} {'seconds':>9}")
    for channel in (planar_geometric(places, np.log(2)), krr(places.k, np.log(8))):
        observed = channel.sample_observed(counts, rng_for(0, "bench", channel.key))
        vector = np.full(places.k, 1 / places.k)
        unit = unit or best_of(lambda c=channel, v=vector: c.matrix @ v)
        plain = ibu(channel, observed, accelerate=False, closed=False, tolerance=0.0, most_updates=300)
        cases: dict[str, Callable[[], object]] = {
            "sample one collection": lambda c=channel: c.sample_observed(counts, rng_for(1, "bench")),
            "invert": lambda c=channel, o=observed: (c.__dict__.pop("decoder", None), invert(c, o)),
            "ibu, 300 plain updates": lambda c=channel, o=observed: ibu(
                c, o, accelerate=False, closed=False, tolerance=0.0, most_updates=300
            ),
            "ibu": lambda c=channel, o=observed: ibu(c, o),
        }
        for name, case in cases.items():
            seconds = best_of(case)
            print(f"{f'{channel.key}: {name}':44} {seconds / unit:9.0f} {seconds:9.4f}")
        needed = updates_to(channel, observed, plain.log_likelihood)
        print(f"{channel.key}: {needed} accelerated updates reach the log-likelihood of {plain.updates} plain ones")
        estimates |= {f"{channel.key} raw": invert(channel, observed), f"{channel.key} ibu": plain.frequencies}
    print(f"\n{'earth mover, 32 x 32':44} {'exact s':>9} {'fast s':>9} {'error':>8} {'proven':>8}")
    for ground in ("euclidean", "manhattan"):
        on = Places(SIDE, SIDE, ground)
        _network(on)
        for name, estimate in estimates.items():
            difference, exact = differences(estimate, truth), float(emd_exact(estimate, truth, on))
            value, _, high = transports(difference, on)[:, 0]
            slow = best_of(lambda e=estimate, p=on: emd_exact(e, truth, p))
            quick = best_of(lambda d=difference, p=on: transports(d, p))
            print(
                f"{f'{ground}: {name}':44} {slow:9.4f} {quick:9.4f} {100 * abs(value / exact - 1):6.2f} % "
                f"{100 * (high / value - 1):6.2f} %"
            )


if __name__ == "__main__":
    main()
