"""``python studies/compare_methods.py FILES...``: the adaptive methods against the best published one in hindsight.

For every histogram given and every named shape, budget, number of users and protocol, the error of `eb_ns` and
`wavelet_eb` over that of whichever of the ten published methods turns out best in that very setting: a choice nobody
can make beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Annotated

import numpy as np
import typer
from footer import footer

from advisor.errors import InputError
from advisor.inputs.domain import build_domain
from advisor.inputs.histogram import read_histogram
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.benchmark import Experiment, simulate
from simulator.populations import SHAPES, apportion, frequencies

PUBLISHED = ("none", "base_pos", "base_cut", "norm", "norm_mul", "norm_sub", "norm_cut", "mle_apx", "power", "power_ns")
CHALLENGERS = ("eb_ns", "wavelet_eb")
METRIC_NAMES = ("l1", "l2", "kl", "emd")
EPSILONS, USERS, ORACLES = (0.5, 1.0, 2.0), (10**4, 10**5, 10**6), ("oue", "grr")
SHAPE_DOMAINS = (64, 256)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def populations(files: Iterable[str]) -> Iterator[tuple[str, bool, bool, FloatArray]]:
    """Yield (name, whether it is a file, whether it is ordered, frequencies) of all populations."""
    for path in files:
        read = read_histogram(path)
        domain = build_domain(read.labels, read.counts, from_histogram=read.from_histogram)
        yield path, True, domain.ordered, domain.counts / domain.counts.sum()
    for name, k in product(SHAPES, SHAPE_DOMAINS):
        yield f"{name} {k}", False, SHAPES[name].ordered, frequencies(name, k)


def ratios(truth: FloatArray, ordered: bool, repetitions: int) -> Iterator[tuple[str, str, float]]:
    """Yield (challenger, metric, error over that of the best published method) for every setting of one population."""
    challengers = [name for name in CHALLENGERS if ordered or not POSTPROCESSORS[name].uses_order]
    names = [name for name in METRIC_NAMES if ordered or not METRICS[name].ordered_only]
    for epsilon, n, protocol in product(EPSILONS, USERS, ORACLES):
        experiment = Experiment(
            counts=apportion(truth, n),
            oracles={protocol: PROTOCOLS[protocol](len(truth), epsilon)},
            methods=POSTPROCESSORS,
            metrics={name: METRICS[name] for name in names},
            pairs=tuple((protocol, method) for method in (*PUBLISHED, *challengers)),
        )
        runs = simulate(experiment, 0, repetitions)
        for name in names:
            means = {method: float(errors.mean()) for (_, method), errors in runs.of(name).items()}
            best = min(means[method] for method in PUBLISHED)
            yield from ((method, name, means[method] / best) for method in challengers if best > 0)


@app.command()
def compare(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="collections per setting")] = 20,
) -> None:
    """Print a Markdown table of error ratios: geometric mean, 95th percentile and worst over all settings."""
    found: dict[tuple[bool, str, str], list[float]] = {}
    for name, is_file, ordered, truth in populations(files or []):
        typer.echo(f"{name}: k = {len(truth)}, {'ordered' if ordered else 'unordered'}", err=True)
        for method, metric, ratio in ratios(truth, ordered, repetitions):
            found.setdefault((is_file, method, metric), []).append(ratio)
    typer.echo("| on | method | metric | settings | geometric mean | 95th percentile | worst |")
    typer.echo("|---|---|---|---:|---:|---:|---:|")
    parts = {"files": (True,), "shapes": (False,), "both": (True, False)}
    for (where, kinds), method, metric in product(parts.items(), CHALLENGERS, METRIC_NAMES):
        values = [value for is_file in kinds for value in found.get((is_file, method, metric), [])]
        if values:
            mean, high, worst = np.exp(np.log(values).mean()), np.quantile(values, 0.95), max(values)
            typer.echo(f"| {where} | {method} | {metric} | {len(values)} | {mean:.3f} | {high:.2f} | {worst:.2f} |")
    typer.echo("\n" + footer("0"))


if __name__ == "__main__":
    try:
        app(prog_name="python studies/compare_methods.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
