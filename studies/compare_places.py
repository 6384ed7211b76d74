"""``python studies/compare_places.py FILE``: noise that falls with the distance against k-RR, at the same promise.

For each grid (the whole, and blocks of it around the most users): collections with the planar geometric mechanism at
ε = ln 8 within ``--radius``, and with randomised response at ln 8; the iterative Bayesian update, and 300 plain ones;
the earth mover's distance of each estimate (exact, by POT of the extra ``transport``), and the share of the ten most
frequent places that the ten largest estimates hit. As the experiment of C. Palamidessi's lectures on local differential
privacy and utility, with figures instead of pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from common import Repetitions, footer, head, line, run

from advisor.errors import InputError
from advisor.extensions.places.cells import read_places
from advisor.question.settings import parse_grid
from simulator._types import FloatArray, IntArray
from simulator.channels import FixedChannel, krr, planar_geometric
from simulator.methods.maximum_likelihood import maximum
from simulator.places import Places
from simulator.populations import apportion
from simulator.ranking import t_quantile
from simulator.seeding import rng_for
from simulator.transport import emd_exact

HOT, EPSILON = 10, float(np.log(8))


def grids(counts: IntArray, places: Places, zooms: Sequence[str]) -> Iterator[tuple[str, Places, IntArray]]:
    """Yield the whole grid, and of each size the block that holds the most users.

    Raises InputError if a block is larger than the grid.
    """
    yield f"{places.rows}x{places.columns}", places, counts
    table = counts.reshape(places.rows, places.columns)
    for zoom in zooms:
        rows, columns = parse_grid(zoom)
        if rows > places.rows or columns > places.columns:
            raise InputError(f"--zoom must fit into the {places.rows}x{places.columns} grid, got {zoom}")
        sums = np.lib.stride_tricks.sliding_window_view(table, (rows, columns)).sum(axis=(2, 3))
        row, column = np.unravel_index(sums.argmax(), sums.shape)
        part = Places(rows, columns, places.ground, places.height, places.width)
        yield f"block {zoom} at ({row}, {column})", part, table[row : row + rows, column : column + columns].ravel()


def estimates(channel: FixedChannel, observed: IntArray) -> dict[str, FloatArray]:
    """Return the estimate of every method from the counts of the outputs."""
    plain = maximum(channel.likelihood, observed, accelerate=False, closed=False, tolerance=0.0, most_updates=300)
    return {"ibu, 300 plain updates": plain.frequencies, "ibu": maximum(channel.likelihood, observed).frequencies}


def compare(name: str, places: Places, counts: IntArray, radius: float, repetitions: int) -> pd.DataFrame:
    """Simulate both mechanisms on one grid and measure every method: emd, and share of hot spots."""
    truth = counts / counts.sum()
    hottest = np.argsort(-truth, kind="stable")[: min(HOT, places.k // 2)]
    made = []
    channels = planar_geometric(places, EPSILON / radius), krr(places.k, EPSILON)
    for channel, repetition in product(channels, range(repetitions)):
        rng = rng_for(0, "compare places", name, channel.key, repetition)
        for method, estimate in estimates(channel, channel.sample_tally(counts, rng).counts.astype(np.int64)).items():
            largest = np.argsort(-estimate, kind="stable")[: len(hottest)]
            hot = len(np.intersect1d(largest, hottest)) / len(hottest)
            made.append((channel.key, method, float(emd_exact(estimate, truth, places)), hot))
    return pd.DataFrame(made, columns=["mechanism", "method", "emd", "hot"])


def main(
    file: Annotated[str, typer.Argument(help="places: two columns of coordinates, and perhaps one of counts")],
    grid: Annotated[str | None, typer.Option(metavar="ROWSxCOLS", help="size of the grid")] = None,
    radius: Annotated[float, typer.Option(min=1e-9, help="in cells, or km where places are in degrees")] = 3.0,
    zoom: Annotated[list[str] | None, typer.Option(metavar="ROWSxCOLS", help="also its busiest block")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="users (default: those of the file)")] = None,
    repetitions: Repetitions = 10,
) -> None:
    """Print a Markdown table: earth mover's distance, and hot spots found."""
    read = read_places(file, grid=grid)
    typer.echo(f"ε = {EPSILON:.4g} within {radius:g} {read.unit}; {repetitions} collections each")
    typer.echo("emd: exact, with its 95 % interval\n")
    typer.echo(head("grid", "n:", "mechanism", "method", "emd:", "hot spots found:"))
    for name, places, counts in grids(read.counts, read.places, zoom or ()):
        users = apportion(counts, int(counts.sum()) if n is None else n)
        found = compare(name, places, users, radius, repetitions)
        for row, own in found.groupby(["mechanism", "method"], sort=False):
            reach = t_quantile(repetitions) * own.emd.std() / repetitions**0.5
            figures = f"{own.emd.mean():.4g} ± {reach:.2g}", f"{100 * own.hot.mean():.0f} %"
            typer.echo(line(name, f"{users.sum():,}", *row, *figures))
    typer.echo("\n" + footer())


if __name__ == "__main__":
    run(main)
