"""``python studies/ordered_domains.py FILES...``: protocols made for ordered domains against others.

For every histogram given and every named shape, budget and number of users: the error of pairs for ordered domains over
that of the best pair of single categories (``ss`` with ``wavelet_eb``), and over that of whichever published pair turns
out best in that very setting, a choice nobody can make beforehand. ``chosen`` is the pair that half of the repetitions
rank first, judged on the other half.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from advisor.errors import InputError
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import read_histogram
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.benchmark import Experiment, simulate
from simulator.domain import ORDERED
from simulator.methods.ordered import ORDERED_METHODS
from simulator.populations import SHAPES, apportion, frequencies
from simulator.protocols import ORDERED_PROTOCOLS
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
MENU = PROTOCOLS | ORDERED_PROTOCOLS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Ratio(NamedTuple):
    """The error of one pair over that of others in one setting."""

    pair: str
    metric: str
    against: str  # "categorical" or "published"
    value: float
    epsilon: float
    n: int
    population: str
    group: str

    @property
    def setting(self) -> str:
        """What was simulated, in words."""
        return f"{self.population}, eps {self.epsilon:g}, n {self.n}"


def populations(files: Iterable[str], domains: Iterable[int]) -> Iterator[tuple[str, str, FloatArray]]:
    """Yield (name, group, frequencies) of all populations: files are grouped by the folder that holds them."""
    for path in files:
        read = read_histogram(path)
        domain = build_domain(read.labels, read.counts, from_histogram=read.from_histogram)
        yield Path(path).stem, Path(path).absolute().parent.name, domain.counts / domain.counts.sum()
    for name, k in product((name for name, shape in SHAPES.items() if shape.ordered), domains):
        yield f"{name} {k}", "named shapes", frequencies(name, k)


def ratios(
    truth: FloatArray, epsilon: float, n: int, repetitions: int, *, published: bool = True
) -> Iterator[tuple[str, str, str, float]]:
    """Yield (pair, metric, against what, error over that of the others) of every challenger in one setting."""
    rivals = PUBLISHED if published else (("tree", "iso_cdf"), ("haar_hrr", "iso_cdf"))
    pairs = tuple(dict.fromkeys((CATEGORICAL, *rivals, *CHALLENGERS)))
    experiment = Experiment(
        counts=apportion(truth, n),
        oracles={name: MENU[name](len(truth), epsilon) for name in dict.fromkeys(name for name, _ in pairs)},
        methods=POSTPROCESSORS | ORDERED_METHODS,
        metrics={name: METRICS[name] for name in METRIC_NAMES},
        pairs=pairs,
        domain=ORDERED,
    )
    runs, cut = simulate(experiment, 0, repetitions), repetitions // 2
    for name in METRIC_NAMES:
        errors = runs.of(name)
        chosen = min(errors, key=lambda pair: float(errors[pair][:cut].mean()))
        shown = {" + ".join(pair): errors[pair] for pair in pairs} | {"chosen": errors[chosen][cut:]}
        best = min(rivals, key=lambda pair: float(errors[pair].mean()))
        for key, own in shown.items():
            for against, other in (("categorical", errors[CATEGORICAL]), ("published", errors[best])):
                base = float(other[-len(own) :].mean())
                if base > 0:
                    yield key, name, against, float(own.mean()) / base


@app.command()
def compare(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="collections per setting")] = 20,
    domains: Annotated[str, typer.Option("--k", help="domain sizes of the named shapes, comma-separated")] = "",
    published: Annotated[bool, typer.Option(help="also run square wave with EM and EMS, which takes long")] = True,
) -> None:
    """Print Markdown tables of error ratios: geometric mean and worst over all settings, and means by part of them."""
    sizes = [int(size) for size in domains.split(",") if size] or list(SHAPE_DOMAINS)
    found: list[Ratio] = []
    for name, group, truth in populations(files or [], sizes):
        typer.echo(f"{name}: k = {len(truth)}", err=True)
        for epsilon, n in product(EPSILONS, USERS):
            each = ratios(truth, epsilon, n, repetitions, published=published)
            found += [Ratio(*ratio, epsilon, n, name, group) for ratio in each]
    groups = list(dict.fromkeys(ratio.group for ratio in found))
    for against, base in (("categorical", " + ".join(CATEGORICAL)), ("published", BEST)):
        typer.echo(f"\nOn {', '.join(groups)}: error over that of {base} (geometric mean, worst):\n")
        print_errors([ratio for ratio in found if ratio.against == against])
    emd = [ratio for ratio in found if (ratio.against, ratio.metric) == ("published", METRIC_NAMES[0])]
    typer.echo(f"\nemd over that of {BEST}, geometric mean:\n")
    print_means("pair", [*groups, "all"], lambda ratio, column: column in ("all", ratio.group), emd)
    typer.echo("\nThe same of `chosen`, by budget and users:\n")
    chosen = [ratio._replace(pair=f"{ratio.group}, n {ratio.n}") for ratio in emd if ratio.pair == "chosen"]
    print_means("where", [f"eps {epsilon:g}" for epsilon in EPSILONS], _of_budget, chosen)


def _of_budget(ratio: Ratio, column: str) -> bool:
    return column == f"eps {ratio.epsilon:g}"


def print_errors(found: list[Ratio]) -> None:
    """Print the geometric mean and the worst of all metrics for each pair."""
    typer.echo(f"| pair | {' | '.join(METRIC_NAMES)} | worst emd |\n|---|{'--:|' * len(METRIC_NAMES)}---|")
    for pair in dict.fromkeys(ratio.pair for ratio in found):
        cells = [[ratio for ratio in found if (ratio.pair, ratio.metric) == (pair, name)] for name in METRIC_NAMES]
        text = " | ".join(f"{mean(cell):.2f}, {max(ratio.value for ratio in cell):.2f}" for cell in cells)
        typer.echo(f"| {pair} | {text} | {max(cells[0], key=lambda ratio: ratio.value).setting} |")


def print_means(first: str, columns: list[str], belongs: Callable[[Ratio, str], bool], found: list[Ratio]) -> None:
    """Print geometric means for each pair and column."""
    typer.echo(f"| {first} | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
    for pair in dict.fromkeys(ratio.pair for ratio in found):
        own = [ratio for ratio in found if ratio.pair == pair]
        cells = [mean([ratio for ratio in own if belongs(ratio, column)]) for column in columns]
        typer.echo(f"| {pair} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")


def mean(found: list[Ratio]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.log([ratio.value for ratio in found]).mean()))


if __name__ == "__main__":
    try:
        app(prog_name="python studies/ordered_domains.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
