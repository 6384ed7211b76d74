"""The combinations that are tried beside the methods alone, on several populations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from simulator.benchmark import Experiment, Runs, simulate
from simulator.confidence import POOLED, population_errors, ranking_root
from simulator.methods import POSTPROCESSORS
from simulator.methods.blend import POSTERIOR_MEDIAN, UNIFORM, blend_name, is_combination, parts_of
from simulator.ranking import Pair

TIMES = ((1, 1), (3, 1), (1, 3))  # how often the two count
PARTNERS = 4  # methods that the leading one is blended with: those that come next
# How many times the error of the posterior median all else must have, for sums and largest values: it is tried on the
# populations that it is made of, and where they are wrong they have such things in common.
MARGIN = 1.2
PROPER = frozenset({"nonnegative", "sums_to_one"})  # what each of them gives


def with_blends(
    experiment: Experiment, runs: Runs, protocol: str, menus: Mapping[str, Iterable[str]], *, jobs: int = 1
) -> tuple[Experiment, Runs]:
    """Return the experiment and the runs with blends of the methods that lead after these first repetitions.

    Where any of several methods may be the best one, a blend of them is often better than each: Bates, Granger, "The
    combination of forecasts", 1969. Where the noise hides the shape, so is one that leans on the uniform guess: James,
    Stein, "Estimation with quadratic loss", 1961.

    runs: repetitions of all methods, at most one of each population.
    protocol: the protocol that was used.
    menus: for each metric the methods that compete.
    """
    names = dict.fromkeys(
        name
        for metric, menu in menus.items()
        for name in candidate_blends({method: _score(experiment, runs, metric, (protocol, method)) for method in menu})
    )
    if not names:
        return experiment, runs
    parts = dict.fromkeys(part for name in names for part in parts_of(name) if part != UNIFORM)
    blends = tuple((protocol, name) for name in names)
    wider = replace(
        experiment,
        methods={**experiment.methods, **{name: POSTPROCESSORS[name] for name in names}},
        pairs=(*experiment.pairs, *blends),
    )
    shared = [(protocol, part) for part in parts]  # their results are blended, and not worked out for each blend
    tried = simulate(wider, runs.first, runs.repetitions, pairs=[*shared, *blends], jobs=jobs)
    return wider, Runs(
        wider.id, runs.metrics, runs.first, {**runs.errors, **{pair: tried.errors[pair] for pair in blends}}
    )


def candidate_blends(scores: Mapping[str, float]) -> list[str]:
    """Return the blends of the leading method with those that come next, and half and half with the uniform guess.

    Methods whose results are no frequencies take no part, nor do those that have no finite error.

    scores: what each method has; less is better.
    """
    proper = [name for name in scores if POSTPROCESSORS[name].gives >= PROPER and math.isfinite(scores[name])]
    if not proper:
        return []
    first, *others = sorted(proper, key=lambda name: scores[name])
    blends = [blend_name({first: one, other: more}) for other in others[:PARTNERS] for one, more in TIMES]
    return [*blends, blend_name({first: 1, UNIFORM: 1})]


def best_combination(
    experiment: Experiment, runs: Runs, protocol: str, metric: str, menu: Iterable[str]
) -> Pair | None:
    """Return the combination with the lowest error for a metric, if that is below what every method has alone.

    For metrics that are sums or few values the posterior median is taken for worse than it seems, by `MARGIN`; it is no
    candidate for them without an order.
    """
    scores = {
        pair: _score(experiment, runs, metric, pair)
        for pair in runs.errors
        if pair[0] == protocol and is_combination(pair[1])
    }
    median = scores.pop((protocol, POSTERIOR_MEDIAN), math.inf)
    if metric not in POOLED:
        scores[protocol, POSTERIOR_MEDIAN] = median
    elif experiment.domain.ordered:
        scores[protocol, POSTERIOR_MEDIAN] = median * MARGIN ** (1 / ranking_root(experiment.metrics[metric].degree))
    first = min(scores, key=lambda pair: scores[pair], default=None)
    alone = min((_score(experiment, runs, metric, (protocol, method)) for method in menu), default=math.inf)
    return first if first is not None and scores[first] < alone else None


def _score(experiment: Experiment, runs: Runs, metric: str, pair: Pair) -> float:
    """Return what pairs are ranked by; infinity where a member of another package fails."""
    root = ranking_root(experiment.metrics[metric].degree)
    score = float(population_errors(runs.column(pair, metric), len(experiment.populations), root).mean())
    return score if math.isfinite(score) else math.inf
