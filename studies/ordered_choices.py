"""``python studies/ordered_choices.py FILES...``: what is ranked first on ordered domains, judged by other repetitions.

For every histogram given and every named shape, budget and number of users: the pairs race as they do for a user who
asks for one metric, with a user's number of repetitions, and the pair that is listed first is compared with ``ss`` and
``wavelet_eb`` in fresh repetitions of another seed. So nothing that chose also judges, and each ratio has a standard
error; what is over a limit by chance is not over it by three of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import typer
from ordered_domains import CATEGORICAL, CHALLENGERS, EPSILONS, MENU, PUBLISHED, USERS, populations

from advisor.errors import InputError
from advisor.question.question import MAX_REPETITIONS, REPETITIONS
from simulator import METRICS, POSTPROCESSORS
from simulator._types import FloatArray
from simulator.benchmark import Experiment, simulate
from simulator.domain import ORDERED
from simulator.populations import apportion
from simulator.race import race
from simulator.ranking import Pair, rank

PAIRS = tuple(dict.fromkeys((CATEGORICAL, ("oue", "wavelet_eb"), *PUBLISHED, *CHALLENGERS)))
LIMITS = {"emd": 1.5, "l1": 1.05, "l2": 1.05}  # over which a setting is counted
SURE = 3.0  # standard errors

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Judged(NamedTuple):
    """The error of the pair that is listed first over that of the categorical one, in one setting."""

    metric: str
    setting: str
    pair: Pair
    value: float
    error: float  # standard error of the value

    @property
    def text(self) -> str:
        """The ratio and where it is."""
        return f"{self.value:.2f} ± {self.error:.2f} ({' + '.join(self.pair)}; {self.setting})"


def experiment_of(
    truth: FloatArray, epsilon: float, n: int, metric: str, seed: int, pairs: Sequence[Pair]
) -> Experiment:
    """Return what is simulated."""
    return Experiment(
        counts=apportion(truth, n),
        oracles={name: MENU[name](len(truth), epsilon) for name in dict.fromkeys(name for name, _ in pairs)},
        methods=POSTPROCESSORS,
        metrics={metric: METRICS[metric]},
        pairs=tuple(pairs),
        seed=seed,
        domain=ORDERED,
    )


def first_listed(truth: FloatArray, epsilon: float, n: int, metric: str) -> Pair:
    """Return the pair that a user sees first."""
    experiment = experiment_of(truth, epsilon, n, metric, 0, PAIRS)
    runs = race(experiment, [metric], repetitions=REPETITIONS, max_repetitions=MAX_REPETITIONS)
    return rank(runs.of(metric), {name: one.cost for name, one in experiment.oracles.items()})[0].pair


def ratio(truth: FloatArray, epsilon: float, n: int, metric: str, pair: Pair, repetitions: int) -> tuple[float, float]:
    """Return the error of a pair over that of the categorical one, and the standard error of the paired quotient."""
    if pair == CATEGORICAL:
        return 1.0, 0.0
    runs = simulate(experiment_of(truth, epsilon, n, metric, 1, (pair, CATEGORICAL)), 0, repetitions)
    own, other = runs.of(metric)[pair], runs.of(metric)[CATEGORICAL]
    value = float(own.mean() / other.mean())
    return value, float((own - value * other).std(ddof=1) / other.mean() / math.sqrt(repetitions))


@app.command()
def judge(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the named shapes")] = None,
    repetitions: Annotated[int, typer.Option("--reps", min=2, help="fresh collections per setting")] = 100,
    domains: Annotated[str, typer.Option("--k", help="domain sizes of the named shapes, comma-separated")] = "64",
) -> None:
    """Print one row per metric: geometric mean, worst, and how many settings are over the limit, and surely so."""
    found: list[Judged] = []
    for name, _, truth in populations(files or [], [int(size) for size in domains.split(",") if size]):
        typer.echo(f"{name}: k = {len(truth)}", err=True)
        for epsilon, n, metric in product(EPSILONS, USERS, LIMITS):
            pair = first_listed(truth, epsilon, n, metric)
            judged = ratio(truth, epsilon, n, metric, pair, repetitions)
            found.append(Judged(metric, f"{name}, eps {epsilon:g}, n {n}", pair, *judged))
            typer.echo(f"{metric}: {found[-1].text}", err=True)
    typer.echo(
        "| metric | settings | mean | limit | over it | by 3 standard errors | worst |\n|---|--:|--:|--:|--:|--:|---|"
    )
    for metric, limit in LIMITS.items():
        own = [one for one in found if one.metric == metric]
        over = [one for one in own if one.value > limit]
        sure = [one for one in over if one.value - SURE * one.error > limit]
        mean = np.exp(np.mean([math.log(one.value) for one in own]))
        worst = max(own, key=lambda one: one.value)
        counts = f"{len(own)} | {mean:.2f} | {limit:g} | {len(over)} | {len(sure)}"
        typer.echo(f"| {metric} | {counts} | {worst.text} |")
    for one in sorted((one for one in found if one.value > LIMITS[one.metric]), key=lambda one: -one.value):
        typer.echo(f"* {one.metric}: {one.text}")


if __name__ == "__main__":
    try:
        app(prog_name="python studies/ordered_choices.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
