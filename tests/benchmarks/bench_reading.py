"""Time reading against what pandas needs for the same columns in blocks, both in turns.

``python tests/benchmarks/bench_reading.py`` prints the ratio of the best times of several rounds, and the
peak memory for a tenth of the rows and for all of them.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from advisor.extensions.places.cells import read_places
from advisor.inputs.histogram import read_histogram
from advisor.inputs.reports import count_reports
from advisor.inputs.reports.settings import ReportSettings
from simulator.protocols import PROTOCOLS

BLOCK = 65_536
K_REPORTS = 2  # hashing for many categories takes longer than any reading


def make(folder, n, rng):
    """Write one file of each kind with n rows."""
    states, ages = np.minimum(rng.geometric(0.1, n), 50), rng.integers(0, 99, n)
    seeds, symbols = rng.integers(0, 2**32, n), rng.integers(0, 4, n)
    tables = {
        "sample": pd.DataFrame({"id": np.arange(n), "state": np.char.add("state", states.astype(str)), "age": ages}),
        "olh": pd.DataFrame({"seed": seeds, "symbol": symbols}),
        "pgr": pd.DataFrame({"symbol": PROTOCOLS["pgr"](256, 1.0).perturb(ages, rng)}),
        "grid": pd.DataFrame({"row": rng.integers(0, 32, n), "col": rng.integers(0, 32, n)}),
        "degrees": pd.DataFrame({"lon": (8 + rng.random(n) / 5).round(6), "lat": (50 + rng.random(n) / 5).round(6)}),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    tables["sample"].to_csv(folder / "quoted.csv", index=False, quoting=2)


def counted(path, columns):
    result = Counter()
    for block in pd.read_csv(path, usecols=columns, dtype=str, keep_default_na=False, chunksize=BLOCK):
        for key, users in block.value_counts().items():
            result[key if isinstance(key, tuple) else (key,)] += users
    return result


def read_only(path, columns):
    # Where nearly all rows differ, counting them would be no fair comparison.
    for _ in pd.read_csv(path, usecols=columns, dtype=str, keep_default_na=False, chunksize=BLOCK):
        pass


def peak(action):
    tracemalloc.start()
    action()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    kinds = {
        "sample": (lambda path: read_histogram(str(path), column="state"), counted, ["state"]),
        "quoted": (lambda path: read_histogram(str(path), column="state"), counted, ["state"]),
        "olh": (
            lambda path: count_reports([str(path)], ReportSettings("olh", 1.0, k=K_REPORTS)),
            read_only,
            ["seed", "symbol"],
        ),
        "pgr": (lambda path: count_reports([str(path)], ReportSettings("pgr", 1.0, k=256)), counted, ["symbol"]),
        "grid": (lambda path: read_places(str(path), columns="row,col", grid="32x32"), counted, ["row", "col"]),
        "degrees": (lambda path: read_places(str(path), columns="lon,lat", cell_km=1.0), read_only, ["lon", "lat"]),
    }
    with tempfile.TemporaryDirectory() as name:
        large, small = Path(name) / "large", Path(name) / "small"
        for folder, n in ((large, options.rows), (small, options.rows // 10)):
            folder.mkdir()
            make(folder, n, np.random.default_rng(1))
        print(f"{options.rows:,} rows   ours    pandas  ratio   peak of a tenth and of all (MB)")
        for kind, (ours, pandas, columns) in kinds.items():
            path = large / f"{kind}.csv"
            times = [[], []]
            for _ in range(options.rounds):
                for action, spent in zip((partial(ours, path), partial(pandas, path, columns)), times, strict=True):
                    start = time.perf_counter()
                    action()
                    spent.append(time.perf_counter() - start)
            mine, theirs = map(min, times)
            peaks = [peak(partial(ours, folder / f"{kind}.csv")) for folder in (small, large)]
            print(f"{kind:<14} {mine:7.3f} {theirs:7.3f} {mine / theirs:6.2f}   {peaks[0]:.1f} {peaks[1]:.1f}")


if __name__ == "__main__":
    main()
