"""``python studies/judge_tallies.py FILES...``: how good a choice from one tally of a square wave or a tree is.

For every histogram given and every named shape and family that has an order, budget and number of users: the truth is
collected once, a method is chosen from that one tally, and its expected error is compared with that of the best method,
which only the truth can tell. So is the error that the answer gives. With trees populations are a bootstrap; with the
square wave they are drawn from the posterior of a curve, and once more made by a bootstrap of ``em_stopped``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np
import typer
from families import Truth, truths
from footer import footer
from judge_samples import LARGEST, METRIC_NAMES, SMALLEST, means

from advisor.errors import InputError
from advisor.question.estimate_request import COLLECTIONS, SIMULATED
from simulator import METRICS, POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray, IntArray
from simulator.benchmark import Experiment, simulate
from simulator.confidence import by_population
from simulator.domain import ORDERED
from simulator.methods import observe, possible
from simulator.methods.observed import Observed
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally
from simulator.seeding import rng_for
from simulator.surrogate import bootstrap_populations, curve_populations

EPSILONS, USERS = (0.5, 1.0, 2.0, 4.0), (10**4, 10**5, 10**6)
KNOWN = 100  # collections that tell the truth

Draw = Callable[[Protocol, Observed, int, np.random.Generator], FloatArray]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def bootstrap(protocol: Protocol, observed: Observed, n: int, rng: np.random.Generator) -> FloatArray:
    """Return populations as an answer has them for trees."""
    return bootstrap_populations(protocol, observed, n, rng=rng, draws=SIMULATED)


def curves(protocol: Protocol, observed: Observed, n: int, rng: np.random.Generator) -> FloatArray:
    """Return populations as an answer has them for the square wave."""
    del protocol, n
    return curve_populations(observed, rng=rng, draws=SIMULATED)


def as_smooth(protocol: Protocol, observed: Observed, n: int, rng: np.random.Generator) -> FloatArray:
    """Return a bootstrap of ``em_stopped``."""
    method = POSTPROCESSORS["em_stopped"]
    users = apportion(method.apply(observed), n)
    tallies = Tally.stack([protocol.sample_tally(users, rng) for _ in range(SIMULATED)])
    return method.apply(observe(protocol, tallies, ORDERED))


POPULATIONS: dict[tuple[str, str], Draw] = {
    ("sw", "curves"): curves,
    ("sw", "bootstrap"): as_smooth,
    ("tree", "bootstrap"): bootstrap,
}


class Chosen(NamedTuple):
    """A method chosen from one tally."""

    made: tuple[str, str]  # protocol, and how populations are made
    metric: str
    ratio: float  # of its error to that of the best method
    predicted: float  # the error that the populations have, over the true one


def experiment_of(protocol: Protocol, populations: IntArray, seed: int) -> Experiment:
    """Return the experiment of all methods for a protocol."""
    n = int(np.atleast_2d(populations)[0].sum())
    methods = {
        name: one
        for name, one in POSTPROCESSORS.items()
        if not one.queries_only and possible(one, protocol, ORDERED, n)
    }
    pairs = tuple((protocol.key, name) for name in methods)
    metrics = {name: METRICS[name] for name in METRIC_NAMES}
    return Experiment(populations, {protocol.key: protocol}, methods, metrics, pairs, seed, ORDERED)


def choices(truth: Truth, epsilon: float, n: int) -> Iterator[Chosen]:
    """Yield what is chosen from one tally of each protocol."""
    counts = apportion(truth.frequencies, n)
    known: dict[str, Mapping[str, dict[str, float]]] = {}
    for (name, made), draw in POPULATIONS.items():
        protocol = PROTOCOLS[name](len(counts), epsilon)
        if name not in known:
            runs = simulate(experiment_of(protocol, counts, 1), 0, KNOWN)
            known[name] = {m: {pair[1]: float(own.mean()) for pair, own in runs.of(m).items()} for m in METRIC_NAMES}
        rng = rng_for(2, "judge", truth.name, name, repr(epsilon), n)
        observed = observe(protocol, protocol.sample_tally(counts, rng), ORDERED)
        drawn = np.stack([apportion(row, n) for row in draw(protocol, observed, n, rng)])
        runs = simulate(experiment_of(protocol, drawn, 2), 0, len(drawn) * COLLECTIONS)
        for metric in METRIC_NAMES:
            scores = {pair[1]: float(by_population(own, len(drawn)).mean()) for pair, own in runs.of(metric).items()}
            true, chosen = known[name][metric], min(scores, key=lambda method: scores[method])
            yield Chosen((name, made), metric, true[chosen] / min(true.values()), scores[chosen] / true[chosen])


@app.command()
def judge(
    files: Annotated[list[str] | None, typer.Argument(help="histograms to judge on, beside the shapes")] = None,
    every: Annotated[int, typer.Option(min=1, help="only every N-th setting")] = 1,
) -> None:
    """Print a Markdown table of geometric means: what the choice costs, and how far off its predicted error is."""
    among = [one for one in truths(files or []) if one.ordered and SMALLEST <= len(one.frequencies) <= LARGEST]
    settings = list(product(among, EPSILONS, USERS))[::every]
    made = [chosen for setting in settings for chosen in choices(*setting)]
    typer.echo(f"{len(settings)} settings; error over that of the best method (worst), predicted over true error\n")
    typer.echo("| protocol | populations | " + " | ".join(f"{name} | predicted" for name in METRIC_NAMES) + " |")
    typer.echo("|---|---|" + "---:|" * 2 * len(METRIC_NAMES))
    for pair in POPULATIONS:
        cells = [
            means([(one.ratio, one.predicted) for one in made if (one.made, one.metric) == (pair, name)])
            for name in METRIC_NAMES
        ]
        typer.echo(f"| {' | '.join(pair)} | {' | '.join(cells)} |")
    typer.echo("\n" + footer("1 and 2 (simulations) and 2 (tallies)"))


if __name__ == "__main__":
    try:
        app(prog_name="python studies/judge_tallies.py")
    except InputError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
