"""``python studies/ldp3.py``: the tables of the LDP3 benchmark paper again, as its platform computes and as it should.

Khodaie, Balioglu, Gursoy, "Post-processing in local differential privacy: an extensive evaluation and benchmark
platform", name the best of seven methods for each of six protocols in four tables (``ldp3_tables.csv``). Their
platform, LDPcube, hands Power a variance that is about k times too small: the number of categories stands where the
number of users should. What else it does in its own way is in ``ldp3_platform.py``.

Each cell is simulated three ways (`WAYS`); its winner is the method that wins most repetitions. Tables 2 and 3 need no
data. For tables 1 and 4 give a folder with the data: ``Adult.csv``, ``Kosarak.csv`` and ``BMS.csv`` as the platform's
successor has them (a number a line), or histograms of two columns, ``adult_age.csv`` (ages of the UCI Adult data) and
``kosarak_top128.csv`` (visitors of the 128 most visited pages). What is not there is left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

import ldp3_platform as platform
import numpy as np
import pandas as pd
import typer
from common import footer, head, line, run, stored

from simulator import METRICS, POSTPROCESSORS, frequency_oracles
from simulator._types import FloatArray, IntArray
from simulator.draws import multinomial
from simulator.populations import apportion
from simulator.protocols.oracle import Noise
from simulator.seeding import rng_for

TABLES = Path(__file__).with_name("ldp3_tables.csv")
PROTOCOLS = ("grr", "blh", "olh", "rappor", "oue", "ss")
METHODS = ("base_pos", "norm", "norm_cut", "norm_mul", "norm_sub", "power", "power_ns")
FILES = {
    "adult": ("Adult.csv", "adult_age.csv"),
    "kosarak": ("Kosarak.csv", "kosarak_top128.csv"),
    "bms_pos": ("BMS.csv",),
}
# The paper gives the users of Adult. Those of BMS-POS follow from the length of the platform's file (1,541,848
# characters, 3.10 a line in its first 16,000). Those of Kosarak fit that too (2,506,728 characters) and the errors of
# raw estimates in the authors' toolkit paper: 0.87 to 1.07 million by protocol.
FILE_USERS = {"adult": 45_222, "kosarak": 900_000, "bms_pos": 497_000}
WAYS = ("published", "its platform", "its variance only", "right variance")
WINS, REACHED = "by most wins", "named by 20 repetitions in 5 % of the draws or more"
# The platform numbers the pages of Kosarak as they are first met in its file; so the four most visited are:
FIRST_MET = (12, 5, 10, 0)
PAPER_REPETITIONS, DRAWS, REACH = 20, 4000, 0.05
GAUSSIAN_DOMAIN, CENTRE, EXPONENT = 100, 50, 1.5  # Section 3.1 of the paper
MADE_USERS = {"gaussian": 100_000, "uniform": 100_000, "zipf": 1_000_000}

PLATFORM_METRICS = {"kl": platform.kl, "emd": platform.emd}


class Row(NamedTuple):
    """One row of a published table: a setting, and the winner for each protocol."""

    table: int
    data: str
    epsilon: float
    metric: str
    winners: tuple[str, ...]


class Cell(NamedTuple):
    """What one way of computing says of one cell.

    Attributes
    ----------
    winner, share
        The method that wins most repetitions, and the share of them that it wins.
    chance
        The chance that as many repetitions as the paper has name its winner.
    """

    winner: str
    share: float
    chance: float


def published() -> list[Row]:
    """Return the rows of all tables, in the order of the paper."""
    return [Row(*row[:4], row[4:]) for row in pd.read_csv(TABLES).itertuples(index=False, name=None)]


@lru_cache
def population(data: str, folder: Path | None) -> IntArray | None:
    """Return the true counts ``(k,)`` of a dataset; None where its file is not to be had."""
    kind, _, figure = data.partition(" ")
    if kind in MADE_USERS:
        return multinomial(MADE_USERS[kind], _chances(kind, int(figure)), rng_for(0, "ldp3", "population", data))
    if folder is None or kind not in FILES:
        return None
    own, *ours = (folder / name for name in FILES[kind])
    if own.is_file():
        shares = np.bincount(np.loadtxt(own, dtype=np.int64)).astype(np.float64)
    elif any(path.is_file() for path in ours):
        shares = stored(str(ours[0])).counts.astype(np.float64)
        if kind == "kosarak":
            shares = shares[_order_of_first_meeting(shares)]
    else:
        return None
    return apportion(shares / shares.sum(), FILE_USERS[kind])


def _order_of_first_meeting(shares: FloatArray) -> IntArray:
    """Return an order in which a file with these shares may show its categories first, with the four of `FIRST_MET`."""
    popular = np.argsort(-shares, kind="stable")
    met = rng_for(0, "ldp3", "order").exponential(1 / np.maximum(shares, 1e-9))
    rest = [int(at) for at in np.argsort(met) if at not in popular[: len(FIRST_MET)]]
    known = dict(zip(FIRST_MET, popular, strict=False))
    return np.array([int(known[at]) if at in known else rest.pop(0) for at in range(len(shares))])


def _chances(kind: str, figure: int) -> FloatArray:
    if kind == "zipf":
        weights = np.arange(1, figure + 1) ** -EXPONENT
    elif kind == "uniform":
        weights = np.ones(figure)
    else:
        weights = np.exp(-(((np.arange(GAUSSIAN_DOMAIN) - CENTRE) / figure) ** 2) / 2)
    return weights / weights.sum()


@lru_cache(maxsize=8)
def _estimates(protocol: str, epsilon: float, data: str, folder: Path | None, repetitions: int) -> FloatArray:
    counts = population(data, folder)
    oracle = frequency_oracles()[protocol](len(counts), epsilon)
    rng = rng_for(0, "ldp3", "collect", data, repr(epsilon), protocol)
    support = np.stack([oracle.sample_support(counts, rng) for _ in range(repetitions)])
    return oracle.estimate(support, int(counts.sum()))


def cell(row: Row, protocol: str, folder: Path | None, repetitions: int) -> dict[str, Cell]:
    """Return what each of the last three `WAYS` says of the cell of a protocol."""
    counts = population(row.data, folder)
    n = int(counts.sum())
    estimate = _estimates(protocol, row.epsilon, row.data, folder, repetitions)
    right = frequency_oracles()[protocol](len(counts), row.epsilon).noise(n)
    wrong = replace(right, variance_at_zero=platform.variance(protocol, row.epsilon, counts))
    processed, wrongly = ({name: POSTPROCESSORS[name](estimate, noise) for name in METHODS} for noise in (right, wrong))
    rng = rng_for(0, "ldp3", "repetitions", row.data, repr(row.epsilon), row.metric, protocol)
    usual, result = METRICS[row.metric], {}
    for way, results, measure in (
        (WAYS[1], wrongly | _by_platform(estimate, wrong, wrongly), PLATFORM_METRICS.get(row.metric, usual)),
        (WAYS[2], wrongly, usual),
        (WAYS[3], processed, usual),
    ):
        errors = np.stack([measure(results[name], counts / n) for name in METHODS])
        wins = np.bincount(errors.argmin(axis=0), minlength=len(METHODS))
        best = int(wins.argmax())
        named = multinomial(np.full(DRAWS, PAPER_REPETITIONS), wins / repetitions, rng).argmax(axis=1)
        chance = float((named == METHODS.index(row.winners[PROTOCOLS.index(protocol)])).mean())
        result[way] = Cell(METHODS[best], float(wins[best] / repetitions), chance)
    return result


def _by_platform(estimate: FloatArray, noise: Noise, processed: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the results of the methods that the platform computes in its own way; processed: those of all methods."""
    power = platform.power(estimate, noise.n, noise.variance_at_zero)
    return {
        "norm_cut": platform.norm_cut(estimate),
        "norm_sub": platform.norm_sub(estimate, processed["norm_sub"]),
        "power": power,
        "power_ns": platform.norm_sub(power, POSTPROCESSORS["norm_sub"](power, noise)),
    }


def _title(method: str) -> str:
    return POSTPROCESSORS[method].title.replace(" (CLS)", "")


def compare(
    folder: Annotated[Path | None, typer.Option("--data", help="folder of the files for tables 1 and 4")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=1, help="collections per cell (the paper: 20)")] = 100,
) -> None:
    """Print each table, cell by cell, and in how many cells each way of computing has the published winner."""
    agree: Counter[tuple[int, str, str]] = Counter()
    cells: Counter[int] = Counter()
    left_out = dict.fromkeys(row.data for row in published() if population(row.data, folder) is None)
    for row in published():
        if row.data in left_out:
            continue
        if row.table not in cells:
            typer.echo(f"\n### Table {row.table}\n\n{head('data, ε, metric', 'computed', *PROTOCOLS)}")
        cells[row.table] += len(PROTOCOLS)
        typer.echo(line(f"{row.data}, {row.epsilon:g}, {row.metric}", WAYS[0], *map(_title, row.winners)))
        found = [cell(row, protocol, folder, repetitions) for protocol in PROTOCOLS]
        for way in WAYS[1:]:
            shown = []
            for one, name in zip((cell[way] for cell in found), row.winners, strict=True):
                text = f"{_title(one.winner)} {100 * one.share:.0f}"
                shown.append(f"**{text}**" if one.winner == name else text)
                agree[row.table, way, WINS] += one.winner == name
                agree[row.table, way, REACHED] += one.chance >= REACH
            typer.echo(line("", way, *shown))
    typer.echo(f"\n### Cells with the published winner\n\n{head('table', *(f'{way}:' for way in WAYS[1:]))}")
    for (number, of), rule in product(cells.items(), (WINS, REACHED)):
        typer.echo(line(f"{number}, {rule}", *(f"{agree[number, way, rule]} of {of}" for way in WAYS[1:])))
    if left_out:
        typer.echo(f"\nLeft out, as --data has no file of it: {', '.join(left_out)}.")
    typer.echo(f"\n{repetitions} collections per cell; {footer()}")


if __name__ == "__main__":
    run(compare)
