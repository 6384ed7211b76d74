"""``python studies/compare_places.py FILE``: noise that falls with the distance against k-RR, at the same promise.

For each grid (the whole, and blocks of it around the most users): collections with the planar geometric and the planar
Laplace mechanism at ``--eps`` within ``--radius``, and with randomised response at ``--eps``; matrix inversion,
inversion projected on the simplex, and the iterative Bayesian update; the earth mover's distance of each estimate
(exact, by POT), the share of the ten most frequent places that the ten largest estimates hit, and the mean distance
between the true and the reported place. As the experiment of C. Palamidessi's lectures on local differential privacy
and utility, with figures instead of pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from footer import footer
from numpy.typing import NDArray

from advisor.checks import budget
from advisor.errors import InputError
from advisor.inputs.places import parse_grid, read_places
from simulator.channels import Channel, SingularChannelError, ibu, invert, krr, planar_geometric, planar_laplace
from simulator.methods.simplex import norm_sub
from simulator.methods.wavelet_grid import wavelet_eb_grid
from simulator.places import Places
from simulator.populations import apportion
from simulator.protocols.grr import GRR
from simulator.ranking import t_quantile
from simulator.seeding import rng_for
from simulator.transport import emd_exact

HOT = 10
METHODS = ("inversion", "inversion + norm_sub", "wavelet_eb", "ibu, 300 plain updates", "ibu")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@dataclass(frozen=True)
class Outcome:
    """One mechanism with one method on one grid: errors of the repetitions."""

    grid: str
    mechanism: str
    method: str
    emd: NDArray[np.float64]
    hot: NDArray[np.float64]
    moved: float


def busiest_block(counts: NDArray[np.int64], places: Places, rows: int, columns: int) -> tuple[int, int]:
    """Return the first row and column of the block of so many cells that holds the most users.

    Raises InputError if the block is larger than the grid.
    """
    if not (1 <= rows <= places.rows and 1 <= columns <= places.columns):
        raise InputError(f"a block must fit into the {places.rows}x{places.columns} grid, got {rows}x{columns}")
    table = counts.reshape(places.rows, places.columns)
    sums = np.lib.stride_tricks.sliding_window_view(table, (rows, columns)).sum(axis=(2, 3))
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    return int(row), int(column)


def grids(
    counts: NDArray[np.int64], places: Places, zooms: tuple[str, ...]
) -> Iterator[tuple[str, Places, NDArray[np.int64]]]:
    """Yield the whole grid and its busiest blocks.

    Raises
    ------
    InputError
        If a block does not fit.
    """
    yield f"{places.rows}x{places.columns}", places, counts
    table = counts.reshape(places.rows, places.columns)
    for zoom in zooms:
        rows, columns = parse_grid(zoom)
        row, column = busiest_block(counts, places, rows, columns)
        part = Places(rows, columns, places.ground, places.height, places.width)
        yield f"block {zoom} at ({row}, {column})", part, table[row : row + rows, column : column + columns].ravel()


def estimates(
    channel: Channel, places: Places, epsilon: float, observed: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Return the estimate of every method from the counts of the outputs."""
    found: dict[str, NDArray[np.float64]] = {}
    try:
        raw = invert(channel, observed)
        noise = GRR(places.k, epsilon).noise(int(observed.sum()))  # of randomised response; norm_sub reads none
        found |= {"inversion": raw, "inversion + norm_sub": norm_sub(raw, noise)}
        if channel.key == "krr":
            found["wavelet_eb"] = wavelet_eb_grid(raw, noise, places.rows, places.columns)
    except SingularChannelError:
        pass
    plain = ibu(channel, observed, accelerate=False, closed=False, tolerance=0.0, most_updates=300)
    return found | {"ibu, 300 plain updates": plain.frequencies, "ibu": ibu(channel, observed).frequencies}


def compare(
    name: str, places: Places, counts: NDArray[np.int64], epsilon: float, radius: float, repetitions: int, seed: int
) -> list[Outcome]:
    """Simulate all mechanisms on one grid and measure every method."""
    truth = counts / counts.sum()
    hottest = np.argsort(-truth, kind="stable")[: min(HOT, places.k // 2)]
    made = []
    rate = epsilon / radius
    for channel in (planar_geometric(places, rate), planar_laplace(places, rate), krr(places.k, epsilon)):
        emd: dict[str, list[float]] = {}
        hot: dict[str, list[float]] = {}
        for repetition in range(repetitions):
            rng = rng_for(seed, "compare places", name, channel.key, repetition)
            for method, estimate in estimates(channel, places, epsilon, channel.sample_observed(counts, rng)).items():
                emd.setdefault(method, []).append(float(emd_exact(estimate, truth, places)))
                largest = np.argsort(-estimate, kind="stable")[: len(hottest)]
                hot.setdefault(method, []).append(len(np.intersect1d(largest, hottest)) / len(hottest))
        moved = channel.expected_distance(truth, places.distances())
        made += [
            Outcome(name, channel.key, method, np.array(emd[method]), np.array(hot[method]), moved)
            for method in METHODS
            if method in emd
        ]
    return made


@app.command()
def main(
    file: Annotated[str, typer.Argument(help="places: two columns of coordinates, and perhaps one of counts")],
    columns: Annotated[str, typer.Option(metavar="A,B", help="the two coordinates")] = "row,col",
    grid: Annotated[str | None, typer.Option(metavar="ROWSxCOLS", help="size of the grid")] = None,
    cell_km: Annotated[float | None, typer.Option(metavar="KM", help="for longitude,latitude")] = None,
    eps: Annotated[float, typer.Option(help="promised within the radius (ln 8)")] = float(np.log(8)),
    radius: Annotated[float, typer.Option(min=1e-9, help="in cells, or km with --cell-km")] = 3.0,
    zoom: Annotated[list[str] | None, typer.Option(metavar="ROWSxCOLS", help="also its busiest block")] = None,
    n: Annotated[int | None, typer.Option(min=1, help="users (default: those of the file)")] = None,
    distance: Annotated[str, typer.Option(help="euclidean or manhattan")] = "euclidean",
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="collections with each mechanism")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="same seed, same numbers")] = 0,
) -> None:
    """Print a Markdown table: earth mover's distance, hot spots found and quality of service."""
    try:
        import ot  # noqa: F401 - the figures are exact ones
    except ImportError:
        raise InputError("exact transport costs need POT: pip install 'ldp-advise[transport]'") from None
    budget("--eps", eps)
    read = read_places(file, columns=columns, grid=grid, cell_km=cell_km, ground=distance)
    typer.echo(
        f"ε = {eps:.4g} within {radius:g} {read.unit}; {repetitions} collections each, seed {seed}; "
        "emd: exact, with its 95 % interval\n"
    )
    typer.echo(
        "| grid | n | mechanism | method | emd | hot spots found | reports off by |\n|---|---:|---|---|---:|---:|---:|"
    )
    for name, places, counts in grids(read.counts, read.places, tuple(zoom or ())):
        users = apportion(counts, int(counts.sum()) if n is None else n)
        for row in compare(name, places, users, eps, radius, repetitions, seed):
            reach = t_quantile(repetitions) * float(row.emd.std(ddof=1)) / repetitions**0.5
            typer.echo(
                f"| {row.grid} | {users.sum():,} | {row.mechanism} | {row.method} "
                f"| {row.emd.mean():.4g} ± {reach:.2g} | {100 * row.hot.mean():.0f} % | {row.moved:.2f} |"
            )
    typer.echo("\n" + footer(str(seed)))


if __name__ == "__main__":
    try:
        app(prog_name="python studies/compare_places.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
