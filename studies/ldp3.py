"""``python studies/ldp3.py``: the tables of the LDP3 benchmark paper again, as its platform computes and as it should.

Khodaie, Balioglu, Gursoy, "Post-processing in local differential privacy: an extensive evaluation and benchmark
platform", name the best of seven methods for each of six protocols in four tables (``ldp3_tables.csv``). Their
platform, LDPcube, hands Power a variance that is about k times too small: the number of categories stands where the
number of users should. It also rescales Norm-Cut, after keeping one value too many, and its Norm-Sub lets whatever is
not negative and sums to 2 at most pass, so that Power-NS is Power.

Each cell is simulated four ways (`WAYS`); its winner is the method that wins most repetitions. Tables 2 and 3 need no
data. For tables 1 and 4 give a folder with ``adult_age.csv`` (ages of the UCI Adult data) and ``kosarak_top128.csv``
(visitors of the 128 most visited pages), both of two columns, category and count.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
import typer
from footer import footer

from advisor.errors import InputError
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import read_histogram
from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator._types import FloatArray, IntArray
from simulator.populations import apportion
from simulator.protocols.oracle import Noise
from simulator.seeding import rng_for

TABLES = Path(__file__).with_name("ldp3_tables.csv")
PROTOCOLS = ("grr", "blh", "olh", "rappor", "oue", "ss")
METHODS = ("base_pos", "norm", "norm_cut", "norm_mul", "norm_sub", "power", "power_ns")
FILES = {"adult": "adult_age.csv", "kosarak": "kosarak_top128.csv"}
# The paper gives the users of Adult. Those of Kosarak fit the errors of raw estimates at epsilon = 1 in the authors'
# toolkit paper: 0.87 to 1.07 million by protocol.
FILE_USERS = {"adult": 45_222, "kosarak": 900_000}
WAYS = ("published", "its platform", "its variance only", "right variance")
GAUSSIAN_DOMAIN, CENTRE, EXPONENT = 100, 50, 1.5  # Section 3.1 of the paper
MADE_USERS = {"gaussian": 100_000, "uniform": 100_000, "zipf": 1_000_000}

Method: TypeAlias = Callable[[FloatArray, Noise], FloatArray]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@dataclass(frozen=True)
class Row:
    """One row of a published table: a setting, and the winner for each protocol."""

    table: int
    data: str
    epsilon: float
    metric: str
    winners: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """What one way of computing says of one cell.

    Attributes
    ----------
    winner, share
        The method that wins most repetitions, and the share of them that it wins.
    lowest
        The method of the lowest mean error.
    """

    winner: str
    share: float
    lowest: str


def published() -> list[Row]:
    """Return the rows of all tables, in the order of the paper."""
    with TABLES.open(encoding="utf-8", newline="") as lines:
        return [
            Row(
                int(row["table"]),
                row["data"],
                float(row["epsilon"]),
                row["metric"],
                tuple(row[protocol] for protocol in PROTOCOLS),
            )
            for row in csv.DictReader(lines)
        ]


def population(data: str, seed: int, folder: Path | None) -> IntArray | None:
    """Return the true counts ``(k,)`` of a dataset; None where its file is not to be had."""
    kind, _, figure = data.partition(" ")
    if kind in MADE_USERS:
        return rng_for(seed, "ldp3", "population", data).multinomial(MADE_USERS[kind], _chances(kind, int(figure)))
    if folder is None or kind not in FILES:
        return None
    read = read_histogram(str(folder / FILES[kind]))
    domain = build_domain(read.labels, read.counts, from_histogram=read.from_histogram)
    return apportion(domain.counts / domain.counts.sum(), FILE_USERS[kind])


def _chances(kind: str, figure: int) -> FloatArray:
    if kind == "zipf":
        weights = np.arange(1, figure + 1) ** -EXPONENT
    elif kind == "uniform":
        weights = np.ones(figure)
    else:
        weights = np.exp(-(((np.arange(GAUSSIAN_DOMAIN) - CENTRE) / figure) ** 2) / 2)
    result: FloatArray = weights / weights.sum()
    return result


def platform_variance(protocol: str, epsilon: float, counts: IntArray) -> float:
    """Return the variance of an estimate (frequency squared) that the platform's Power goes by.

    Its formulas are given the list of counts for the data. So the number of categories stands for the number of users,
    and the number of different counts for the number of categories. Subset selection has the formula of randomised
    response, in which e^epsilon multiplies the number of categories instead of being added to it.
    """
    odds, users, categories = math.exp(epsilon), len(counts), len(np.unique(counts))
    half = math.exp(epsilon / 2)
    numerator, denominator = {
        "grr": (odds * categories - 2, (odds - 1) ** 2),
        "ss": (odds * categories - 2, (odds - 1) ** 2),
        "rappor": (half, (half - 1) ** 2),
        "blh": ((odds + 1) ** 2, (odds - 1) ** 2),
        "olh": (4 * odds, (odds - 1) ** 2),
        "oue": (4 * odds, (odds - 1) ** 2),
    }[protocol]
    return numerator / (denominator * users) / int(counts.sum())


def platform_norm_cut(estimate: FloatArray) -> FloatArray:
    """Keep the largest estimates up to the first that takes their sum past 1, and rescale them to 1."""
    positive = np.maximum(estimate, 0.0)
    falling = -np.sort(-positive, axis=-1)
    kept = (np.cumsum(falling, axis=-1) <= 1).sum(axis=-1, keepdims=True)
    last = np.take_along_axis(falling, np.minimum(kept, estimate.shape[-1] - 1), axis=-1)
    result = np.where(positive >= last, positive, 0.0)
    total = result.sum(axis=-1, keepdims=True)
    return np.divide(result, total, out=np.full_like(result, 1 / result.shape[-1]), where=total > 0)


def platform_power_ns(estimate: FloatArray, noise: Noise) -> FloatArray:
    """Return Power, projected only where its sum is further than 1 from 1."""
    powered = POSTPROCESSORS["power"](estimate, noise)
    near = np.abs(powered.sum(axis=-1, keepdims=True) - 1) <= 1
    return np.where(near, powered, POSTPROCESSORS["norm_sub"](powered, noise))


def platform_kl(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the divergence summed over the categories that have a positive estimate."""
    both = (estimate > 0) & (truth > 0)
    ratio = np.divide(truth, estimate, out=np.ones_like(estimate), where=both)
    result: FloatArray = (truth * np.log(ratio)).sum(axis=-1)
    return result


@lru_cache(maxsize=8)
def _estimates(protocol: str, epsilon: float, data: str, counts: bytes, repetitions: int, seed: int) -> FloatArray:
    true = np.frombuffer(counts, dtype=np.int64)
    oracle = frequency_oracles()[protocol](len(true), epsilon)
    rng = rng_for(seed, "ldp3", "collect", data, repr(epsilon), protocol)
    support = np.stack([oracle.sample_support(true, rng) for _ in range(repetitions)])
    return oracle.estimate(support, int(true.sum()))


def cell(row: Row, protocol: str, counts: IntArray, repetitions: int, seed: int) -> dict[str, Cell]:
    """Return what each of the last three `WAYS` says of the cell of a protocol."""
    n = int(counts.sum())
    estimate = _estimates(protocol, row.epsilon, row.data, counts.astype(np.int64).tobytes(), repetitions, seed)
    right = frequency_oracles()[protocol](len(counts), row.epsilon).noise(n)
    wrong = replace(right, variance_at_zero=platform_variance(protocol, row.epsilon, counts))
    proper: dict[str, Method] = dict(POSTPROCESSORS)
    its_own: dict[str, Method] = {"norm_cut": lambda raw, _: platform_norm_cut(raw), "power_ns": platform_power_ns}
    result = {}
    for way, noise, methods in (
        (WAYS[1], wrong, proper | its_own),
        (WAYS[2], wrong, proper),
        (WAYS[3], right, proper),
    ):
        measure = platform_kl if row.metric == "kl" and way == WAYS[1] else METRICS[row.metric]
        errors = np.stack([measure(methods[name](estimate, noise), counts / n) for name in METHODS])
        wins = np.bincount(errors.argmin(axis=0), minlength=len(METHODS))
        best = int(wins.argmax())
        lowest = METHODS[int(errors.mean(axis=1).argmin())]
        result[way] = Cell(METHODS[best], float(wins[best] / repetitions), lowest)
    return result


def recomputed(
    repetitions: int, seed: int, folder: Path | None, tables: tuple[int, ...] = (1, 2, 3, 4)
) -> Iterator[tuple[Row, list[dict[str, Cell]]]]:
    """Yield the rows whose data are to be had, with the cell of each protocol."""
    for row in published():
        counts = population(row.data, seed, folder) if row.table in tables else None
        if counts is not None:
            yield row, [cell(row, protocol, counts, repetitions, seed) for protocol in PROTOCOLS]


def _shown(name: str, winner: str, share: float) -> str:
    title = POSTPROCESSORS[name].title.replace(" (CLS)", "")
    text = f"{title} {100 * share:.0f}"
    return f"**{text}**" if name == winner else text


@app.command()
def compare(
    folder: Annotated[Path | None, typer.Option("--data", help="folder of the files for tables 1 and 4")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=1, help="collections per cell (the paper: 20)")] = 200,
    table: Annotated[list[int] | None, typer.Option(min=1, max=4, help="repeatable (all)")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
) -> None:
    """Print each table, cell by cell, and in how many cells each way of computing has the published winner."""
    if folder is not None:
        missing = [name for name in FILES.values() if not (folder / name).is_file()]
        if missing:
            raise InputError(f"--data must be a folder with {' and '.join(FILES.values())}; {missing[0]} is not there")
    wanted = tuple(table or (1, 2, 3, 4))
    agree: dict[tuple[int, str, str], int] = {}
    cells: dict[int, int] = {}
    for row, found in recomputed(repetitions, seed, folder, wanted):
        if row.table not in cells:
            typer.echo(f"\n### Table {row.table}\n\n| data, ε, metric | computed | " + " | ".join(PROTOCOLS) + " |")
            typer.echo("|---|---|" + "---|" * len(PROTOCOLS))
        cells[row.table] = cells.get(row.table, 0) + len(PROTOCOLS)
        titles = [POSTPROCESSORS[name].title.replace(" (CLS)", "") for name in row.winners]
        typer.echo(f"| {row.data}, {row.epsilon:g}, {row.metric} | {WAYS[0]} | " + " | ".join(titles) + " |")
        for way in WAYS[1:]:
            own = [cell[way] for cell in found]
            shown = [_shown(one.winner, name, one.share) for one, name in zip(own, row.winners, strict=True)]
            typer.echo(f"| | {way} | " + " | ".join(shown) + " |")
            for rule, names in (("wins", [one.winner for one in own]), ("mean", [one.lowest for one in own])):
                same = sum(one == name for one, name in zip(names, row.winners, strict=True))
                agree[row.table, way, rule] = agree.get((row.table, way, rule), 0) + same
    typer.echo("\n### Cells with the published winner\n\n| table | " + " | ".join(WAYS[1:]) + " |\n|---|" + "--:|" * 3)
    for number, of in cells.items():
        for rule, says in (("wins", "most wins"), ("mean", "lowest mean error")):
            counts = [f"{agree[number, way, rule]} of {of}" for way in WAYS[1:]]
            typer.echo(f"| {number}, by {says} | " + " | ".join(counts) + " |")
    if folder is None:
        typer.echo("\nTables 1 and 4 need --data.")
    typer.echo(f"\n{repetitions} collections per cell; {footer(str(seed))}")


if __name__ == "__main__":
    try:
        app(prog_name="python studies/ldp3.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
