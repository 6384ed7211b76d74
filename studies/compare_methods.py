"""``python studies/compare_methods.py FILES...``: the adaptive methods against the best published one in hindsight.

For every histogram given and every named shape, budget, number of users and protocol, the error of `eb_ns` and
`wavelet_eb` over that of whichever of the ten published methods turns out best in that very setting: a choice nobody
can make beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import common
import pandas as pd
import typer
from common import PUBLISHED, Files, Repetitions, footer, geometric_mean, head, line, run
from families import NAMED, SHAPE_DOMAINS, populations

from simulator import POSTPROCESSORS
from simulator._types import FloatArray
from simulator.populations import apportion

CHALLENGERS = ("eb_ns", "wavelet_eb")
METRIC_NAMES = ("l1", "l2", "kl", "emd")
EPSILONS, USERS, ORACLES = (0.5, 1.0, 2.0), (10**4, 10**5, 10**6), ("oue", "grr")


def ratios(truth: FloatArray, ordered: bool, repetitions: int) -> Iterator[tuple[str, str, float]]:
    """Yield (challenger, metric, error over that of the best published method) for every setting of one population."""
    challengers = [name for name in CHALLENGERS if ordered or not POSTPROCESSORS[name].uses_order]
    for epsilon, n, protocol in product(EPSILONS, USERS, ORACLES):
        pairs = [(protocol, method) for method in (*PUBLISHED, *challengers)]
        names = common.metrics_for(METRIC_NAMES, ordered=ordered)
        simulated = common.experiment(apportion(truth, n), epsilon, pairs, names)
        for name, errors in common.mean_errors(simulated, repetitions).items():
            best = min(errors[protocol, method] for method in PUBLISHED)
            yield from ((method, name, errors[protocol, method] / best) for method in challengers if best > 0)


def compare(files: Files = None, repetitions: Repetitions = 20) -> None:
    """Print a Markdown table of error ratios: geometric mean, 95th percentile and worst over all settings."""
    among = populations(files or [], SHAPE_DOMAINS)
    made = [(one.family, *row) for one in among for row in ratios(one.frequencies, one.ordered, repetitions)]
    found = pd.DataFrame(made, columns=["family", "method", "metric", "ratio"])
    typer.echo(head("on", "method", "metric", "settings:", "geometric mean:", "95th percentile:", "worst:"))
    for where, part in {"files": found[found.family != NAMED], "both": found}.items():
        for method, metric in product(CHALLENGERS, METRIC_NAMES):
            own = part.ratio[(part.method == method) & (part.metric == metric)]
            if len(own):
                figures = f"{geometric_mean(own):.3f}", f"{own.quantile(0.95):.2f}", f"{own.max():.2f}"
                typer.echo(line(where, method, metric, len(own), *figures))
    typer.echo("\n" + footer())


if __name__ == "__main__":
    run(compare)
