"""``python studies/compare_places.py FILE``: noise that falls with the distance against k-RR, at the same promise.

For each grid (the whole, and blocks of it around the most users): collections with the planar geometric and the planar
Laplace mechanism at ε = ln 8 within ``--radius``, and with randomised response at ln 8; matrix inversion,
inversion projected on the simplex, and the iterative Bayesian update; the earth mover's distance of each estimate
(exact, by POT), the share of the ten most frequent places that the ten largest estimates hit, and the mean distance
between the true and the reported place. As the experiment of C. Palamidessi's lectures on local differential privacy
and utility, with figures instead of pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from common import Seed, footer, head, line, run, study

from advisor.errors import InputError
from advisor.extensions.places.cells import read_places
from advisor.question.settings import parse_grid
from simulator._types import FloatArray, IntArray
from simulator.channels import FixedChannel, krr, planar_geometric, planar_laplace
from simulator.methods.maximum_likelihood import maximum
from simulator.methods.simplex import norm_sub
from simulator.methods.wavelet import wavelet_eb
from simulator.places import Places
from simulator.populations import apportion
from simulator.protocols.grr import GRR
from simulator.protocols.protocol import Tally
from simulator.ranking import t_quantile
from simulator.seeding import rng_for
from simulator.transport import emd_exact

HOT, EPSILON = 10, float(np.log(8))

app = study()


def busiest_block(counts: IntArray, places: Places, rows: int, columns: int) -> tuple[int, int]:
    """Return the first row and column of the block of so many cells that holds the most users.

    Raises InputError if the block is larger than the grid.
    """
    if not (1 <= rows <= places.rows and 1 <= columns <= places.columns):
        raise InputError(f"a block must fit into the {places.rows}x{places.columns} grid, got {rows}x{columns}")
    table = counts.reshape(places.rows, places.columns)
    sums = np.lib.stride_tricks.sliding_window_view(table, (rows, columns)).sum(axis=(2, 3))
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    return int(row), int(column)


def grids(counts: IntArray, places: Places, zooms: Sequence[str]) -> Iterator[tuple[str, Places, IntArray]]:
    """Yield the whole grid and its busiest blocks; raises InputError if a block does not fit."""
    yield f"{places.rows}x{places.columns}", places, counts
    table = counts.reshape(places.rows, places.columns)
    for zoom in zooms:
        rows, columns = parse_grid(zoom)
        row, column = busiest_block(counts, places, rows, columns)
        part = Places(rows, columns, places.ground, places.height, places.width)
        yield f"block {zoom} at ({row}, {column})", part, table[row : row + rows, column : column + columns].ravel()


def estimates(channel: FixedChannel, places: Places, tally: Tally) -> dict[str, FloatArray]:
    """Return the estimate of every method from the counts of the outputs."""
    found: dict[str, FloatArray] = {}
    if channel.linear is not None:
        raw = channel.linear.estimate(tally)
        noise = GRR(places.k, EPSILON).noise(tally.n)  # of randomised response; norm_sub reads none
        found |= {"inversion": raw, "inversion + norm_sub": norm_sub(raw, noise)}
        if channel.key == "krr":
            found["wavelet_eb"] = wavelet_eb(raw, noise, places.rows, places.columns)
    observed = tally.counts.astype(np.int64)
    plain = maximum(channel.likelihood, observed, accelerate=False, closed=False, tolerance=0.0, most_updates=300)
    fit = maximum(channel.likelihood, observed)
    return found | {"ibu, 300 plain updates": plain.frequencies, "ibu": fit.frequencies}


def compare(name: str, places: Places, counts: IntArray, radius: float, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate all mechanisms on one grid and measure every method: emd, share of hot spots, and distance moved."""
    truth = counts / counts.sum()
    hottest = np.argsort(-truth, kind="stable")[: min(HOT, places.k // 2)]
    made = []
    rate = EPSILON / radius
    channels = (planar_geometric(places, rate), planar_laplace(places, rate), krr(places.k, EPSILON))
    for channel, repetition in product(channels, range(repetitions)):
        rng = rng_for(seed, "compare places", name, channel.key, repetition)
        moved = channel.expected_distance(truth, places.distances())
        for method, estimate in estimates(channel, places, channel.sample_tally(counts, rng)).items():
            largest = np.argsort(-estimate, kind="stable")[: len(hottest)]
            hot = len(np.intersect1d(largest, hottest)) / len(hottest)
            made.append((channel.key, method, float(emd_exact(estimate, truth, places)), hot, moved))
    return pd.DataFrame(made, columns=["mechanism", "method", "emd", "hot", "moved"])


@app.command()
def main(
    file: Annotated[str, typer.Argument(help="places: two columns of coordinates, and perhaps one of counts")],
    columns: Annotated[str, typer.Option(metavar="A,B", help="the two coordinates")] = "row,col",
    grid: Annotated[str | None, typer.Option(metavar="ROWSxCOLS", help="size of the grid")] = None,
    cell_km: Annotated[float | None, typer.Option(metavar="KM", help="for longitude,latitude")] = None,
    radius: Annotated[float, typer.Option(min=1e-9, help="in cells, or km with --cell-km")] = 3.0,
    zoom: Annotated[list[str] | None, typer.Option(metavar="ROWSxCOLS", help="also its busiest block")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="users (default: those of the file)")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="collections with each mechanism")] = 10,
    seed: Seed = 0,
) -> None:
    """Print a Markdown table: earth mover's distance, hot spots found and quality of service."""
    try:
        import ot  # noqa: F401 - the figures are exact ones
    except ImportError:
        raise InputError("exact transport costs need POT: pip install 'ldp-advise[transport]'") from None
    read = read_places(file, columns=columns, grid=grid, cell_km=cell_km)
    typer.echo(
        f"ε = {EPSILON:.4g} within {radius:g} {read.unit}; {repetitions} collections each, seed {seed}; "
        "emd: exact, with its 95 % interval\n"
    )
    typer.echo(head("grid", "n:", "mechanism", "method", "emd:", "hot spots found:", "reports off by:"))
    for name, places, counts in grids(read.counts, read.places, zoom or ()):
        users = apportion(counts, int(counts.sum()) if n is None else n)
        found = compare(name, places, users, radius, repetitions, seed)
        for row, own in found.groupby(["mechanism", "method"], sort=False):
            reach = t_quantile(repetitions) * own.emd.std() / repetitions**0.5
            figures = (
                f"{own.emd.mean():.4g} ± {reach:.2g}",
                f"{100 * own.hot.mean():.0f} %",
                f"{own.moved.mean():.2f}",
            )
            typer.echo(line(name, f"{users.sum():,}", *row, *figures))
    typer.echo("\n" + footer(seed))


if __name__ == "__main__":
    run(app)
