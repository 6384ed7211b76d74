"""What a look-up costs: run ``python tests/benchmarks/bench_look_up.py`` in an environment with the tool installed.

The whole process, beside one that imports only numpy, typer and rich; and ``advise`` in a warm process, beside a sort:
for a question that was asked before, and with another epsilon or domain size.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from advisor import advise

ROUNDS = 10
IMPORTS = [sys.executable, "-c", "import numpy, typer, rich"]
LOOK_UP = [str(Path(sys.executable).with_name("ldp-advise")), "--eps", "1", "--k", "256", "--metric", "emd"]


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def seconds_of(work: Callable[[int], object]) -> float:
    """Return the median time of 100 calls after the first; they are numbered."""
    work(0)
    return statistics.median(seconds(lambda number=number: work(number)) for number in range(1, 101))  # type: ignore[misc]


def main() -> None:
    """Print medians of alternating runs, and their ratio."""
    imports, look_ups = [], []
    for _ in range(ROUNDS):
        imports.append(seconds(lambda: subprocess.run(IMPORTS, check=True)))
        look_ups.append(seconds(lambda: subprocess.run(LOOK_UP, check=True, capture_output=True)))
    base, whole = statistics.median(imports), statistics.median(look_ups)
    print(f"whole process: {whole:.2f} s, {whole / base:.2f} times the imports alone ({base:.2f} s)")
    values = np.random.default_rng(0).random(100_000)
    for name, options in (("a skew", {}), ("a shape", {"shape": "zipf:1"})):
        again = seconds_of(lambda _, options=options: advise(1.0, k=256, metric="emd", **options))
        new = seconds_of(lambda number, options=options: advise(1 + number / 100, k=256, metric="emd", **options))
        larger = seconds_of(lambda number, options=options: advise(1.0, k=256 + number, metric="emd", **options))
        sort = seconds_of(lambda _: np.sort(values))
        print(
            f"warm, {name}: {1000 * again:.1f} ms when the same was asked before, {1000 * new:.1f} ms with another "
            f"epsilon, {1000 * larger:.1f} ms with another k; {again / sort:.1f}, {new / sort:.1f} and "
            f"{larger / sort:.1f} sorts of 100,000 numbers"
        )


if __name__ == "__main__":
    main()
