"""``python studies/fit_beliefs.py [FILES...]``: fit how far populations drawn from an estimate are to be believed.

Choices are made from estimates of the tuning half of `judge_surrogates`, in order and shuffled, and of some more
irregular shapes, at sizes, budgets and numbers of users that it does not judge on; and of the tuning half of histograms
that are given, at their own size. For each kind of domain and metric, the probabilities of being the best are those
that make the truly best methods likeliest, and ranges of errors are stretched until they hold 95 % of the true ones.
Prints the constants of `simulator.confidence`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Annotated

import numpy as np
import typer
from families import FAMILIES, HALVES, Truth, family, half_of, truths
from judge_surrogates import PROTOCOLS, Decision, Setting, decide_all

from knowledge.judging.holdout import holdout
from simulator._types import FloatArray
from simulator.confidence import BELIEFS, POOLED, UNFITTED, Belief, lead_name, probability_best
from simulator.populations import SHAPES, frequencies
from simulator.seeding import rng_for
from simulator.surrogate import DEFAULT

DOMAINS, EPSILONS, USERS = (32, 96, 384), (0.4, 0.8, 1.5, 2.5), (7_000, 50_000, 300_000, 2_000_000)
STARTS = (0, 3)  # which settings are taken of every N
HELD = 0.95
# A pair that wins none of the populations is not impossible. What is fitted would be surer: the likelihood hardly feels
# it. With this much doubt, of what is said to be the best with 95 % in families and files left out, 95 % is.
FITTED_DOUBT, LEAST_DOUBT = 1e-3, 3e-2
EVALUATIONS = 4000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def shapes() -> list[Truth]:
    """Return the tuning half of shapes and families, in order where they have one, and shuffled; irregular ones too."""
    found = []
    for name, k in product([*SHAPES, *FAMILIES], DOMAINS):
        given = frequencies(name, k) if name in SHAPES else family(name, k)
        if SHAPES[name].ordered if name in SHAPES else FAMILIES[name][0]:
            found.append(Truth(f"{name} k={k}", True, given, name))
        found.append(Truth(f"{name} shuffled k={k}", False, rng_for(0, "shuffled", name, k).permutation(given), name))
    more = (Truth(one.name, one.ordered, one.counts / one.counts.sum(), one.name.split()[0]) for one in holdout())
    return [truth for truth in (*found, *more) if half_of(truth.family) == HALVES[0]]


def histograms(files: Iterable[str]) -> list[Truth]:
    """Return the tuning half of the files as they are, and as if their order meant nothing."""
    own: dict[tuple[str, bool], Truth] = {}
    for truth in truths(files):
        if truth.family not in (*SHAPES, *FAMILIES) and half_of(truth.family) == HALVES[0]:
            own.setdefault((truth.family, truth.ordered), truth)  # coarser ones follow
    return list(own.values())


def fit(decisions: Sequence[Decision]) -> Belief:
    """Return the belief that suits decisions of one kind.

    Raises
    ------
    ValueError
        If there are none.
    """
    from scipy.optimize import minimize

    if not decisions:
        raise ValueError("nothing to fit a belief to")

    leads = sorted({lead_name(one.chosen) for one in decisions})  # nothing is known of the others

    def belief(parameters: FloatArray, least_doubt: float) -> Belief:
        power, log_doubt, *fitted = parameters.tolist()
        doubt = max(math.exp(log_doubt), least_doubt)
        return UNFITTED._replace(power=power, doubt=doubt, **dict(zip(leads, fitted, strict=True)))

    def loss(parameters: FloatArray) -> float:
        tried = belief(parameters, FITTED_DOUBT)
        return -float(np.mean([np.log(max(_said(one, tried)[one.best], 1e-12)) for one in decisions]))

    start = np.array([1.0, -3.0, *np.full(len(leads), 0.5)])
    found = minimize(loss, start, method="Nelder-Mead", options={"maxfev": EVALUATIONS}).x
    places = np.array([one.place for one in decisions])
    lower, upper = (max(1.0, float(np.quantile(side, (1 + HELD) / 2, method="higher"))) for side in (-places, places))
    return belief(found, LEAST_DOUBT)._replace(lower=lower, upper=upper)


def _said(decision: Decision, belief: Belief) -> list[float]:
    pairs = [("", str(place)) for place in range(len(decision.shares))]
    pairs[decision.leader] = ("", decision.chosen)
    return list(
        probability_best(dict(zip(pairs, decision.shares, strict=True)), pairs[decision.leader], belief).values()
    )


def fit_all(decisions: Iterable[Decision]) -> dict[tuple[bool, bool], Belief]:
    """Return a belief for each kind of domain (ordered or not) and metric (pooled or not)."""
    made = list(decisions)
    return {kind: fit([one for one in made if (one.ordered, one.metric in POOLED) == kind]) for kind in BELIEFS}


@app.command()
def main(
    files: Annotated[list[str] | None, typer.Argument(help="histograms; those of the tuning half are used")] = None,
    decisions: Annotated[int, typer.Option(min=1, help="estimates per setting")] = 1,
    repetitions: Annotated[int, typer.Option("--reps", min=10, help="collections that tell the truth")] = 100,
    every: Annotated[int, typer.Option(min=1, help="take two of every N settings; of 2 and 3 no multiple")] = 7,
    jobs: Annotated[int, typer.Option(min=1, help="processes; change no number")] = 1,
) -> None:
    """Print the constants that suit the shapes and histograms best."""
    known = [*shapes(), *histograms(files or [])]
    among = enumerate(product(known, EPSILONS, USERS, PROTOCOLS))
    settings = [Setting(*one) for place, one in among if place % every in STARTS]
    made = decide_all(settings, (DEFAULT,), decisions, repetitions, jobs)
    typer.echo(f"{len(settings)} settings, {decisions} estimates each\n\nBELIEFS = {{")
    for kind, belief in fit_all(made).items():
        figures = ", ".join(f"{name}={value:#.3g}" for name, value in belief._asdict().items())
        typer.echo(f"    {kind}: Belief({figures}),")
    typer.echo("}")


if __name__ == "__main__":
    app(prog_name="python studies/fit_beliefs.py")
