"""``python studies/ordered_choices.py FILES...``: what is ranked first on ordered domains, judged by other repetitions.

For every histogram given, budget and number of users: the pairs race as they do for a user who
asks for one metric, with a user's number of repetitions, and the pair that is listed first is compared with ``ss`` and
``wavelet_eb`` in fresh repetitions of another seed. So nothing that chose also judges, and each ratio has a standard
error; what is over a limit by chance is not over it by three of them.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated

import pandas as pd
import typer
from common import Repetitions, experiment, footer, geometric_mean, head, line, run
from families import populations
from ordered_domains import CATEGORICAL, CHALLENGERS, EPSILONS, PUBLISHED, USERS

from advisor.question.ranking import REPETITIONS
from simulator._types import FloatArray
from simulator.benchmark import simulate
from simulator.populations import apportion
from simulator.race import race
from simulator.ranking import Pair, rank

PAIRS = (CATEGORICAL, ("oue", "wavelet_eb"), *PUBLISHED, *CHALLENGERS)
LIMITS = {"emd": 1.5, "l1": 1.05, "l2": 1.05}  # over which a setting is counted
SURE = 3.0  # standard errors


def first_listed(truth: FloatArray, epsilon: float, n: int, metric: str) -> Pair:
    """Return the pair that a user sees first."""
    asked = experiment(apportion(truth, n), epsilon, PAIRS, [metric], ordered=True)
    first, most = REPETITIONS
    runs = race(asked, [metric], repetitions=first, max_repetitions=most)
    return rank(runs.of(metric), {name: one.cost for name, one in asked.oracles.items()})[0].pair


def ratio(truth: FloatArray, epsilon: float, n: int, metric: str, pair: Pair, repetitions: int) -> tuple[float, float]:
    """Return the error of a pair over that of the categorical one, and the standard error of the paired quotient."""
    if pair == CATEGORICAL:
        return 1.0, 0.0
    asked = experiment(apportion(truth, n), epsilon, (pair, CATEGORICAL), [metric], ordered=True, seed=1)
    errors = simulate(asked, 0, repetitions).of(metric)
    own, other = errors[pair], errors[CATEGORICAL]
    value = float(own.mean() / other.mean())
    return value, float((own - value * other).std(ddof=1) / other.mean() / math.sqrt(repetitions))


def judge(
    files: Annotated[list[str], typer.Argument(help="histograms in order")], repetitions: Repetitions = 100
) -> None:
    """Print one row per metric: geometric mean, worst, and how many settings are over the limit, and surely so."""
    made = []
    for truth in populations(files):
        for epsilon, n, metric in product(EPSILONS, USERS, LIMITS):
            pair = first_listed(truth.frequencies, epsilon, n, metric)
            value, error = ratio(truth.frequencies, epsilon, n, metric, pair, repetitions)
            where = f"{' + '.join(pair)}; {truth.name}, eps {epsilon:g}, n {n}"
            made.append((metric, value, value - SURE * error, f"{value:.2f} ± {error:.2f} ({where})"))
            typer.echo(f"{metric}: {made[-1][-1]}", err=True)
    found = pd.DataFrame(made, columns=["metric", "value", "least", "text"])
    typer.echo(head("metric", "settings:", "mean:", "limit:", "over it:", "by 3 standard errors:", "worst"))
    for metric, limit in LIMITS.items():
        own = found[found.metric == metric]
        over = (own.value > limit).sum(), (own.least > limit).sum()
        mean, worst = f"{geometric_mean(own.value):.2f}", own.text[own.value.idxmax()]
        typer.echo(line(metric, len(own), mean, f"{limit:g}", *over, worst))
    typer.echo("\n" + footer("0 (races) and 1 (fresh collections)"))


if __name__ == "__main__":
    run(judge)
