"""How time and memory of the main command grow: run ``python tests/benchmarks/bench_scaling.py``.

Machines differ and are shared, so what counts are the ratios within one run: medians of alternating whole-process
runs, all protocols x all methods x 20 repetitions at k = 1024.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from simulator.populations import apportion, frequencies

ROUNDS = 5
K = 1024


def timed(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def main():
    base = [sys.executable, "-m", "advisor", "--eps", "1", "--metric", "l1", "--quiet", "--format", "value"]
    twenty = ["--reps", "20", "--max-reps", "20"]
    with tempfile.TemporaryDirectory() as folder:
        histogram, values = Path(folder, "histogram.csv"), Path(folder, "values.csv")
        counts = apportion(frequencies("zipf", K), 1_000_000)
        histogram.write_text("value,count\n" + "".join(f"{v},{c}\n" for v, c in enumerate(counts)), encoding="utf-8")
        values.write_text("value\n" + "".join(f"{v}\n" * int(c) for v, c in enumerate(counts)), encoding="utf-8")
        commands = {
            "import numpy, scipy.special, typer": [sys.executable, "-c", "import numpy, scipy.special, typer"],
            "n = 10^4": [*base, *twenty, "--n", "1e4", str(histogram)],
            "n = 10^6": [*base, *twenty, "--n", "1e6", str(histogram)],
            "n = 10^9": [*base, *twenty, "--n", "1e9", str(histogram)],
            "n = 10^6, as 10^6 rows of raw values": [*base, *twenty, str(values)],
            "n = 10^6, racing to a resolved top": [*base, "--n", "1e6", str(histogram)],
        }
        rows = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                rows[name].append(timed(command))
    reference = statistics.median(seconds for seconds, _ in rows["n = 10^6"])
    print(f"{'whole command, k = 1024':40} {'CPU s':>9} {'ratio to n = 10^6':>18} {'peak MB':>8}")
    for name, measured in rows.items():
        seconds = statistics.median(s for s, _ in measured)
        print(f"{name:40} {seconds:9.2f} {seconds / reference:18.2f} {max(m for _, m in measured):8.0f}")
    print(f"peak of any child: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
