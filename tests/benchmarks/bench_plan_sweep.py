"""What plans, sweeps and pages cost: run ``python tests/benchmarks/bench_plan_sweep.py``.

Wall seconds of whole commands, the least of a few runs (machines are shared). Stated limits: a plan from the grid alone
under 1 s; a sweep of 5 ε x 4 n x 6 protocols x every method at k = 256 under 60 s on two cores; a page under 500 kB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIX = [word for name in ("grr", "rappor", "oue", "blh", "olh", "ss") for word in ("-p", name)]
QUESTION = ["plan", "--metric", "l1", "--target", "0.05", "--k", "256", "--eps", "1", "-q"]
COMMANDS = {
    "plan, grid alone": (5, [*QUESTION, "--instant"]),
    "plan, settled by simulation": (2, QUESTION),
    "plan, detection": (3, ["plan", "--detect", "0.001", "--k", "256", "--eps", "1", "-q"]),
    "sweep, 5 x 4 cells, 6 protocols": (
        1,
        ["sweep", "--eps", "0.5,1,2,3,4", "--n", "1e4,1e5,1e6,1e7", "--k", "256", "--jobs", "2", "-q", *SIX],
    ),
}


def seconds(words: list[str]) -> float:
    """Return the wall time of one command."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    before = time.perf_counter()
    subprocess.run([sys.executable, "-m", "advisor", *words], stdout=subprocess.DEVNULL, check=True, env=environment)
    return time.perf_counter() - before


def main() -> None:
    """Time every command, and measure a page."""
    for name, (rounds, words) in COMMANDS.items():
        print(f"{name:36} {min(seconds(words) for _ in range(rounds)):7.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        words = ["--eps", "1", "--k", "4096", "--shape", "gaussian", "--metric", "all", "-q", "--report", str(page)]
        print(f"{'page, every metric, k = 4096':36} {seconds(words):7.2f} s {page.stat().st_size / 1000:7.0f} kB")


if __name__ == "__main__":
    main()
