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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, TypeAlias

import ldp3_platform as platform
import numpy as np
import pandas as pd
import typer
from common import Seed, footer, head, line, run, stored, study

from advisor.errors import InputError
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
RULES = {
    "wins": "by most wins",
    "mean": "by lowest mean error",
    "reach": "named by 20 repetitions in 5 % of the draws or more",
}
# The platform numbers the pages of Kosarak as they are first met in its file; so the four most visited are:
FIRST_MET = (12, 5, 10, 0)
PAPER_REPETITIONS, DRAWS, REACH = 20, 4000, 0.05
GAUSSIAN_DOMAIN, CENTRE, EXPONENT = 100, 50, 1.5  # Section 3.1 of the paper
MADE_USERS = {"gaussian": 100_000, "uniform": 100_000, "zipf": 1_000_000}

PLATFORM_METRICS = {"kl": platform.kl, "emd": platform.emd}

Method: TypeAlias = Callable[[FloatArray, Noise], FloatArray]

app = study()


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
    chance
        The chance that as many repetitions as the paper has name its winner.
    """

    winner: str
    share: float
    lowest: str
    chance: float


def published() -> list[Row]:
    """Return the rows of all tables, in the order of the paper."""
    table = pd.read_csv(TABLES)
    settings = table[["table", "data", "epsilon", "metric"]].itertuples(index=False)
    return [
        Row(*setting, tuple(winners))
        for setting, winners in zip(settings, table[list(PROTOCOLS)].to_numpy(), strict=True)
    ]


def population(data: str, seed: int, folder: Path | None) -> IntArray | None:
    """Return the true counts ``(k,)`` of a dataset; None where its file is not to be had."""
    kind, _, figure = data.partition(" ")
    if kind in MADE_USERS:
        return multinomial(MADE_USERS[kind], _chances(kind, int(figure)), rng_for(seed, "ldp3", "population", data))
    if folder is None or kind not in FILES:
        return None
    own, *ours = (folder / name for name in FILES[kind])
    if own.is_file():
        shares = np.bincount(np.loadtxt(own, dtype=np.int64)).astype(np.float64)
    elif any(path.is_file() for path in ours):
        shares = stored(str(ours[0])).counts.astype(np.float64)
        if kind == "kosarak":
            shares = shares[_order_of_first_meeting(shares, seed)]
    else:
        return None
    return apportion(shares / shares.sum(), FILE_USERS[kind])


def _order_of_first_meeting(shares: FloatArray, seed: int) -> IntArray:
    """Return an order in which a file with these shares may show its categories first, with the four of `FIRST_MET`."""
    popular = np.argsort(-shares, kind="stable")
    met = rng_for(seed, "ldp3", "order").exponential(1 / np.maximum(shares, 1e-9))
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
    result: FloatArray = weights / weights.sum()
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
    wrong = replace(right, variance_at_zero=platform.variance(protocol, row.epsilon, counts))
    proper: dict[str, Method] = dict(POSTPROCESSORS)
    rng = rng_for(seed, "ldp3", "repetitions", row.data, repr(row.epsilon), row.metric, protocol)
    usual, result = METRICS[row.metric], {}
    for way, noise, methods, measure in (
        (WAYS[1], wrong, proper | _platform_methods(), PLATFORM_METRICS.get(row.metric, usual)),
        (WAYS[2], wrong, proper, usual),
        (WAYS[3], right, proper, usual),
    ):
        errors = np.stack([measure(methods[name](estimate, noise), counts / n) for name in METHODS])
        wins = np.bincount(errors.argmin(axis=0), minlength=len(METHODS))
        best = int(wins.argmax())
        lowest = METHODS[int(errors.mean(axis=1).argmin())]
        named = multinomial(np.full(DRAWS, PAPER_REPETITIONS), wins / repetitions, rng).argmax(axis=1)
        chance = float((named == METHODS.index(row.winners[PROTOCOLS.index(protocol)])).mean())
        result[way] = Cell(METHODS[best], float(wins[best] / repetitions), lowest, chance)
    return result


def _platform_methods() -> dict[str, Method]:
    """Return the methods that the platform computes in its own way; Power once for both that need it."""
    powered: dict[int, FloatArray] = {}

    def power(estimate: FloatArray, noise: Noise) -> FloatArray:
        if id(estimate) not in powered:
            powered[id(estimate)] = platform.power(estimate, noise.n, noise.variance_at_zero)
        return powered[id(estimate)]

    def norm_sub(estimate: FloatArray, noise: Noise) -> FloatArray:
        return platform.norm_sub(estimate, POSTPROCESSORS["norm_sub"](estimate, noise))

    return {
        "norm_cut": lambda estimate, _: platform.norm_cut(estimate),
        "norm_sub": norm_sub,
        "power": power,
        "power_ns": lambda estimate, noise: norm_sub(power(estimate, noise), noise),
    }


def recomputed(
    repetitions: int, seed: int, folder: Path | None, tables: tuple[int, ...]
) -> Iterator[tuple[Row, list[dict[str, Cell]]]]:
    """Yield the rows whose data are to be had, with the cell of each protocol."""
    for row in published():
        counts = population(row.data, seed, folder) if row.table in tables else None
        if counts is not None:
            yield row, [cell(row, protocol, counts, repetitions, seed) for protocol in PROTOCOLS]


def _title(method: str) -> str:
    return POSTPROCESSORS[method].title.replace(" (CLS)", "")


@app.command()
def compare(
    folder: Annotated[Path | None, typer.Option("--data", help="folder of the files for tables 1 and 4")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=1, help="collections per cell (the paper: 20)")] = 100,
    table: Annotated[list[int] | None, typer.Option(min=1, max=4, help="repeatable (all)")] = None,
    seed: Seed = 0,
) -> None:
    """Print each table, cell by cell, and in how many cells each way of computing has the published winner."""
    if folder is not None:
        names = [name for of_kind in FILES.values() for name in of_kind]
        if not any((folder / name).is_file() for name in names):
            raise InputError(f"--data must be a folder with some of {', '.join(names)}; none is there")
    wanted = tuple(table or (1, 2, 3, 4))
    agree: Counter[tuple[int, str, str]] = Counter()
    cells: Counter[int] = Counter()
    known: set[str] = set()
    for row, found in recomputed(repetitions, seed, folder, wanted):
        if row.table not in cells:
            typer.echo(f"\n### Table {row.table}\n\n{head('data, ε, metric', 'computed', *PROTOCOLS)}")
        cells[row.table] += len(PROTOCOLS)
        known.add(row.data)
        typer.echo(line(f"{row.data}, {row.epsilon:g}, {row.metric}", WAYS[0], *map(_title, row.winners)))
        for way in WAYS[1:]:
            shown = []
            for one, name in zip((cell[way] for cell in found), row.winners, strict=True):
                text = f"{_title(one.winner)} {100 * one.share:.0f}"
                shown.append(f"**{text}**" if one.winner == name else text)
                agree[row.table, way, "wins"] += one.winner == name
                agree[row.table, way, "mean"] += one.lowest == name
                agree[row.table, way, "reach"] += one.chance >= REACH
            typer.echo(line("", way, *shown))
    typer.echo(f"\n### Cells with the published winner\n\n{head('table', *(f'{way}:' for way in WAYS[1:]))}")
    for (number, of), (rule, says) in product(cells.items(), RULES.items()):
        typer.echo(line(f"{number}, {says}", *(f"{agree[number, way, rule]} of {of}" for way in WAYS[1:])))
    left_out = sorted({row.data for row in published() if row.table in wanted} - known)
    if left_out:
        typer.echo(f"\nLeft out, as --data has no file of it: {', '.join(left_out)}.")
    typer.echo(f"\n{repetitions} collections per cell; {footer(seed)}")


if __name__ == "__main__":
    run(app)
