"""``python studies/ordered_domains.py FILES...``: protocols made for ordered domains against others.

For every histogram given and every named shape, budget and number of users: the error of pairs for ordered domains over
that of the best pair of single categories (``ss`` with ``wavelet_eb``), and over that of whichever published pair turns
out best in that very setting, a choice nobody can make beforehand. ``chosen`` is the pair that half of the repetitions
rank first, judged on the other half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import pandas as pd
import typer
from common import Files, Repetitions, experiment, footer, geometric_mean, head, line, run
from families import NAMED, populations

from simulator._types import FloatArray
from simulator.benchmark import simulate
from simulator.populations import apportion
from simulator.ranking import Pair

CATEGORICAL: Pair = ("ss", "wavelet_eb")
PUBLISHED: tuple[Pair, ...] = (("sw", "em"), ("sw", "ems"), ("haar_hrr", "iso_cdf"), ("tree", "iso_cdf"))
CHALLENGERS: tuple[Pair, ...] = (
    ("tree", "tree_eb"),
    ("tree_half", "tree_eb"),
    ("ss", "tree_eb"),
    ("haar_hrr", "tree_eb"),
    ("sw", "em_stopped"),
)
BEST = "the best published pair in hindsight"
METRIC_NAMES = ("emd", "range", "l1", "l2")
EPSILONS, USERS, SHAPE_DOMAINS = (0.5, 1.0, 2.0, 4.0), (10**4, 10**5, 10**6), (64, 256, 512)
COLUMNS = ("pair", "metric", "against", "value", "epsilon", "n", "population", "group")


def ratios(truth: FloatArray, epsilon: float, n: int, repetitions: int) -> Iterator[tuple[str, str, str, float]]:
    """Yield (pair, metric, against what, error over that of the others) of every challenger in one setting."""
    pairs = (CATEGORICAL, *PUBLISHED, *CHALLENGERS)
    asked = experiment(apportion(truth, n), epsilon, pairs, METRIC_NAMES, ordered=True)
    runs, cut = simulate(asked, 0, repetitions), repetitions // 2
    for name in METRIC_NAMES:
        errors = runs.of(name)
        chosen = min(errors, key=lambda pair: float(errors[pair][:cut].mean()))
        shown = {" + ".join(pair): errors[pair] for pair in pairs} | {"chosen": errors[chosen][cut:]}
        best = min(PUBLISHED, key=lambda pair: float(errors[pair].mean()))
        for key, own in shown.items():
            for against, other in (("categorical", errors[CATEGORICAL]), ("published", errors[best])):
                base = float(other[-len(own) :].mean())
                if base > 0:
                    yield key, name, against, float(own.mean()) / base


def compare(files: Files = None, repetitions: Repetitions = 20) -> None:
    """Print Markdown tables of error ratios: geometric mean and worst over all settings, and means by part of them."""
    made = [
        (*row, epsilon, n, truth.name, truth.family)
        for truth in populations(files or [], SHAPE_DOMAINS)
        if truth.ordered or truth.family != NAMED
        for epsilon, n in product(EPSILONS, USERS)
        for row in ratios(truth.frequencies, epsilon, n, repetitions)
    ]
    found = pd.DataFrame(made, columns=list(COLUMNS))
    for against, base in (("categorical", " + ".join(CATEGORICAL)), ("published", BEST)):
        typer.echo(f"\nOn {', '.join(found.group.unique())}: error over that of {base} (geometric mean, worst):\n")
        print_errors(found[found.against == against])
    emd = found[(found.against == "published") & (found.metric == "emd")]
    typer.echo(f"\nemd over that of {BEST}, geometric mean:\n")
    print_means("pair", emd.pair, {name: emd[emd.group == name] for name in emd.group.unique()} | {"all": emd})
    typer.echo("\nThe same of `chosen`, by budget and users:\n")
    chosen = emd[emd.pair == "chosen"]
    chosen = chosen.assign(pair=chosen.group + ", n " + chosen.n.astype(str))
    print_means("where", chosen.pair, {f"eps {eps:g}": chosen[chosen.epsilon == eps] for eps in EPSILONS})
    typer.echo("\n" + footer())


def print_errors(found: pd.DataFrame) -> None:
    """Print the geometric mean and the worst of all metrics for each pair."""
    typer.echo(head("pair", *(f"{name}:" for name in METRIC_NAMES), "worst emd"))
    for pair, own in found.groupby("pair", sort=False):
        cells = [own.value[own.metric == name] for name in METRIC_NAMES]
        worst = own.loc[cells[0].idxmax()]
        shown = (f"{geometric_mean(cell):.2f}, {cell.max():.2f}" for cell in cells)
        typer.echo(line(pair, *shown, f"{worst.population}, eps {worst.epsilon:g}, n {worst.n}"))


def print_means(first: str, rows: pd.Series, columns: Mapping[str, pd.DataFrame]) -> None:
    """Print geometric means for each pair and column."""
    typer.echo(head(first, *(f"{name}:" for name in columns)))
    for pair in rows.unique():
        cells = (geometric_mean(part.value[part.pair == pair]) for part in columns.values())
        typer.echo(line(pair, *(f"{cell:.2f}" for cell in cells)))


if __name__ == "__main__":
    run(compare)
