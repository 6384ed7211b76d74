"""``python studies/ordered_domains.py FILES...``: protocols made for ordered domains against others.

For every histogram given and every named shape, budget and number of users: the error of pairs for ordered domains over
that of the best pair of single categories (``ss`` with ``wavelet_eb``), and over that of whichever published pair turns
out best in that very setting, a choice nobody can make beforehand. ``chosen`` is the pair that half of the repetitions
rank first, judged on the other half.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import product
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
from simulator.protocols.ordered import ORDERED_PROTOCOLS
from simulator.ranking import Pair

CATEGORICAL: Pair = ("ss", "wavelet_eb")
PUBLISHED: tuple[Pair, ...] = (("sw", "em"), ("sw", "ems"), ("haar_hrr", "iso_cdf"), ("tree", "iso_cdf"))
CHALLENGERS: tuple[Pair, ...] = (
    ("tree", "tree_eb"), ("tree_half", "tree_eb"), ("ss", "tree_eb"), ("haar_hrr", "tree_eb"), ("sw", "em_stopped"),
)  # fmt: skip
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
    setting: str


def populations(files: Iterable[str], domains: Iterable[int]) -> Iterator[tuple[str, bool, FloatArray]]:
    """Yield (name, whether it is a file, frequencies) of all populations."""
    for path in files:
        read = read_histogram(path)
        domain = build_domain(read.labels, read.counts, from_histogram=read.from_histogram)
        yield path, True, domain.counts / domain.counts.sum()
    for name, k in product((name for name, shape in SHAPES.items() if shape.ordered), domains):
        yield f"{name} {k}", False, frequencies(name, k)


def ratios(truth: FloatArray, epsilon: float, n: int, repetitions: int, *, published: bool = True) -> Iterator[Ratio]:
    """Yield what every challenger's error is over that of the others, in one setting."""
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
                    yield Ratio(key, name, against, float(own.mean()) / base, f"eps {epsilon:g}, n {n}")


@app.command()
def compare(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="collections per setting")] = 20,
    domains: Annotated[str, typer.Option("--k", help="domain sizes of the named shapes, comma-separated")] = "",
    published: Annotated[bool, typer.Option(help="also run square wave with EM and EMS, which takes long")] = True,
) -> None:
    """Print Markdown tables of error ratios: geometric mean and worst over all settings."""
    sizes = [int(size) for size in domains.split(",") if size] or list(SHAPE_DOMAINS)
    found: dict[tuple[bool, str, str, str], list[tuple[float, str]]] = {}
    for name, is_file, truth in populations(files or [], sizes):
        typer.echo(f"{name}: k = {len(truth)}", err=True)
        for epsilon, n in product(EPSILONS, USERS):
            for ratio in ratios(truth, epsilon, n, repetitions, published=published):
                key = (is_file, ratio.against, ratio.pair, ratio.metric)
                found.setdefault(key, []).append((ratio.value, f"{name}, {ratio.setting}"))
    for is_file, against in product((True, False), ("categorical", "published")):
        rows = list(dict.fromkeys(pair for file, other, pair, _ in found if (file, other) == (is_file, against)))
        if not rows:
            continue
        where = "the given histograms" if is_file else "named shapes"
        base = " + ".join(CATEGORICAL) if against == "categorical" else "the best published pair in hindsight"
        typer.echo(f"\nOn {where}, error over that of {base} (geometric mean, worst):\n")
        typer.echo(f"| pair | {' | '.join(METRIC_NAMES)} | worst emd |\n|---|{'--:|' * len(METRIC_NAMES)}---|")
        for pair in rows:
            cells = [found[is_file, against, pair, metric] for metric in METRIC_NAMES]
            figures = [np.array([value for value, _ in cell]) for cell in cells]
            text = " | ".join(f"{np.exp(np.log(each).mean()):.2f}, {each.max():.2f}" for each in figures)
            typer.echo(f"| {pair} | {text} | {max(cells[0])[1]} |")


if __name__ == "__main__":
    try:
        app(prog_name="python studies/ordered_domains.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
