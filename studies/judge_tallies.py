"""``python studies/judge_tallies.py FILES...``: how good a choice from one tally of a square wave or a tree is.

For every histogram given and every named shape and family that has an order, budget and number of users: the truth is
collected once, a method is chosen from that one tally, and its expected error is compared with that of the best method,
which only the truth can tell. So is the error that the answer gives. With trees populations are a bootstrap; with the
square wave they are drawn from the posterior of a curve, and once more made by a bootstrap of ``em_stopped``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import typer
from common import Every, Files, experiment, footer, mean_errors, possible_pairs, run
from families import Truth
from judge_samples import METRIC_NAMES, Chosen, middling, print_choices

from advisor.question.estimate_request import COLLECTIONS, SIMULATED
from simulator import POSTPROCESSORS, PROTOCOLS
from simulator._types import FloatArray
from simulator.domain import ORDERED
from simulator.methods import observe
from simulator.methods.observed import Observed
from simulator.populations import apportion
from simulator.protocols.protocol import Protocol, Tally
from simulator.ranking import Pair
from simulator.seeding import rng_for
from simulator.surrogate import bootstrap_populations, curve_populations

EPSILONS, USERS = (0.5, 1.0, 2.0, 4.0), (10**4, 10**5, 10**6)
KNOWN = 100  # collections that tell the truth
POPULATIONS = (("sw", "curves"), ("sw", "bootstrap"), ("tree", "bootstrap"))  # protocol, and how they are drawn


def populations(how: str, protocol: Protocol, observed: Observed, n: int, rng: np.random.Generator) -> FloatArray:
    """Return populations that may be behind a tally: as an answer has them, or for the square wave by a bootstrap."""
    if how == "curves":
        return curve_populations(observed, rng=rng, draws=SIMULATED)
    if protocol.key == "tree":
        return bootstrap_populations(protocol, observed, n, rng=rng, draws=SIMULATED)
    method = POSTPROCESSORS["em_stopped"]
    users = apportion(method.apply(observed), n)
    tallies = Tally.stack([protocol.sample_tally(users, rng) for _ in range(SIMULATED)])
    return method.apply(observe(protocol, tallies, ORDERED))


def choices(truth: Truth, epsilon: float, n: int) -> Iterator[Chosen]:
    """Yield what is chosen from one tally of each protocol."""
    counts, true_errors = apportion(truth.frequencies, n), dict[str, dict[str, dict[Pair, float]]]()
    for name, how in POPULATIONS:
        protocol = PROTOCOLS[name](len(counts), epsilon)
        pairs = possible_pairs(name, len(counts), epsilon, n, ordered=True)
        if name not in true_errors:
            alone = experiment(counts, epsilon, pairs, METRIC_NAMES, ordered=True, seed=1)
            true_errors[name] = mean_errors(alone, KNOWN)
        rng = rng_for(2, "judge", truth.name, name, repr(epsilon), n)
        observed = observe(protocol, protocol.sample_tally(counts, rng), ORDERED)
        drawn = np.stack([apportion(row, n) for row in populations(how, protocol, observed, n, rng)])
        asked = experiment(drawn, epsilon, pairs, METRIC_NAMES, ordered=True, seed=2)
        for metric, scores in mean_errors(asked, len(drawn) * COLLECTIONS).items():
            true, chosen = true_errors[name][metric], min(scores, key=lambda pair: scores[pair])
            yield Chosen((name, how), metric, true[chosen] / min(true.values()), scores[chosen] / true[chosen])


def judge(files: Files = None, every: Every = 1) -> None:
    """Print a Markdown table of geometric means: what the choice costs, and how far off its predicted error is."""
    settings = list(product(middling(files), EPSILONS, USERS))[::every]
    made = [chosen for setting in settings for chosen in choices(*setting)]
    typer.echo(f"{len(settings)} settings; error over that of the best method (worst), predicted over true error\n")
    print_choices(("protocol", "populations"), made)
    typer.echo("\n" + footer("1 and 2 (simulations) and 2 (tallies)"))


if __name__ == "__main__":
    run(judge)
