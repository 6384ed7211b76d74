"""``python studies/fit_plausibility.py FILES...``: fit what populations behind an estimate are weighed by.

Ordered truths of the tuning half (`families.half_of`) are collected with random protocols, budgets and numbers of
users; populations are drawn from the models, as for an answer; and a logistic regression tells the truths from the
draws by their traits. Prints the constants of `simulator.surrogate.plausibility`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import typer
from common import Jobs, footer, run
from families import FAMILIES, HALVES, Truth, half_of, truths
from judge_estimates import PROTOCOLS

from simulator import frequency_oracles
from simulator._types import FloatArray
from simulator.populations import SHAPES, apportion
from simulator.seeding import rng_for
from simulator.surrogate import drawn_from_models
from simulator.surrogate.plausibility import LEAST, PlausibilityRatio, products, standing, traits_of

SHAPED = 0.1  # of all truths: named shapes and families; the others are files
EPSILONS, USERS = (0.4, 2.5), (5e3, 2e6)  # from, to
DRAWS = 8  # of each model
SPREAD = 1  # which trait tells how far a population is from even
HELD = 0.99
STRENGTH = 0.02  # of the regression: the inverse of scikit-learn's penalty, where all columns have a spread of 1


class Example(NamedTuple):
    """A truth, which comes first, and the draws from what one estimate says of it."""

    traits: FloatArray  # ``(1 + draws, traits)``
    counts: FloatArray  # what each row counts: 1 for the truth and for all draws together, 0 for what is even


def example(known: Sequence[Truth], place: int) -> Example:
    """Return what is drawn for one collection from one of the truths."""
    rng = rng_for(0, "plausibility", place)
    shapes = [truth for truth in known if truth.family in (*SHAPES, *FAMILIES)]
    files = [truth for truth in known if truth.family not in (*SHAPES, *FAMILIES)]
    among = shapes if not files or rng.random() < SHAPED else files
    truth = among[int(rng.integers(len(among)))]
    k, protocol = len(truth.frequencies), str(rng.choice(PROTOCOLS))
    epsilon, n = (float(low * (high / low) ** rng.random()) for low, high in (EPSILONS, USERS))
    users, oracle = int(n), frequency_oracles()[protocol](k, epsilon)
    estimate = oracle.estimate(oracle.sample_support(apportion(truth.frequencies, users), rng), users)
    noise = oracle.noise(users)
    drawn, logs = drawn_from_models(estimate, noise, ordered=True, each=DRAWS, rng=rng)
    weights = np.exp(logs - logs.max())
    traits = traits_of(np.concatenate([truth.frequencies[None, :], drawn]), estimate, noise)
    uneven = traits[:, SPREAD] >= np.log(2 * LEAST)
    return Example(traits, np.concatenate([[1.0], weights / weights.sum()]) * uneven)


def fit(examples: Sequence[Example]) -> PlausibilityRatio:
    """Return the ratio of the densities of truths and draws."""
    from sklearn.linear_model import LogisticRegression

    counts = np.concatenate([one.counts for one in examples])
    counted = counts > 0
    traits = np.concatenate([one.traits for one in examples])[counted]
    true = np.concatenate([np.arange(len(one.counts)) == 0 for one in examples])[counted]
    low, high = (tuple(row.tolist()) for row in np.quantile(traits, [(1 - HELD) / 2, (1 + HELD) / 2], axis=0))
    within = standing(traits, low, high)
    columns = np.concatenate([within, products(within)], axis=1)
    scale = columns.std(axis=0)
    model = LogisticRegression(C=STRENGTH, max_iter=1000).fit(columns / scale, true, sample_weight=counts[counted])
    linear, *rows = np.split(model.coef_[0] / scale, np.cumsum(np.arange(len(low), 0, -1)[[0, *range(len(low) - 1)]]))
    return PlausibilityRatio(low, high, tuple(linear.tolist()), tuple(tuple(row.tolist()) for row in rows))


def _printed(values: object) -> str:
    if not isinstance(values, tuple):
        return f"{values:.3g}"
    return f"({', '.join(_printed(value) for value in values)}{',' if len(values) == 1 else ''})"


def main(
    files: Annotated[list[str], typer.Argument(help="histograms; those of the tuning half are fitted to")],
    estimates: Annotated[int, typer.Option(min=100, help="collections, each from one truth")] = 4_000,
    jobs: Jobs = 1,
) -> None:
    """Print the constants that tell truths from draws best."""
    from joblib import Parallel, delayed

    known = [truth for truth in truths(files) if truth.ordered and half_of(truth.family) == HALVES[0]]
    typer.echo(f"{len(known)} truths of {len({truth.family for truth in known})} families and files", err=True)
    examples = Parallel(n_jobs=jobs)(delayed(example)(known, place) for place in range(estimates))
    parts = ", ".join(f"{name}={_printed(values)}" for name, values in fit(examples)._asdict().items())
    typer.echo(f"RATIO = Ratio({parts})")
    typer.echo("\n" + footer(), err=True)


if __name__ == "__main__":
    run(main)
