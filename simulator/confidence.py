"""How sure a choice is when the truth is known only through an estimate: populations, not collections, are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.methods.blend import POSTERIOR_MEDIAN, UNIFORM, parts_of
from simulator.ranking import Pair

# Metrics that few values, or sums of values, decide
POOLED = frozenset({"emd", "topk", "set", "range", "mean", "quantiles", "ks"})
RANGE = (0.025, 0.975)
ROOT = 2  # of distances: what populations are averaged by


class Belief(NamedTuple):
    """How far populations drawn from an estimate are to be believed.

    They are draws from models that are never quite right: rougher than smooth truths, and too sure of each other
    where nothing but the estimate tells how the frequencies are spread.
    """

    power: float  # exponent of the share of populations a pair wins: 1 takes shares as they are, less levels them
    doubt: float  # added to all shares together before
    # logarithms of the odds in favour of what has the lowest mean error: a method, or a blend of two; a blend with the
    # uniform guess; the posterior median, which is tried on the populations that it is made of
    lead: float
    lead_of_uniform: float
    lead_of_median: float
    # lower, upper: by what the range of errors is stretched from the mean to either end, on a log scale
    lower: float
    upper: float


# By whether the domain is ordered and whether the metric is pooled; printed by ``python studies/fit_beliefs.py FILES``,
# with half of the public histograms. Without an order they are of an earlier fit, to one of every seven settings, and
# ranges there, and at the lower end of what is not pooled, of one to shapes alone: the new ones hold 95 to 99 % on
# histograms, and for l1, l2 and kl 91 to 94 % on families that they are not fitted to.
BELIEFS = {
    (True, False): Belief(
        power=0.999, doubt=0.0300, lead=0.680, lead_of_uniform=-0.773, lead_of_median=0.513, lower=2.77, upper=1.14
    ),
    (True, True): Belief(
        power=1.02, doubt=0.0666, lead=1.06, lead_of_uniform=-0.966, lead_of_median=0.348, lower=1.00, upper=1.08
    ),
    (False, False): Belief(
        power=0.867, doubt=0.0300, lead=0.744, lead_of_uniform=-0.000967, lead_of_median=-0.220, lower=3.50, upper=1.43
    ),
    (False, True): Belief(
        power=0.746, doubt=0.0300, lead=1.12, lead_of_uniform=-0.0410, lead_of_median=0.0, lower=1.17, upper=1.23
    ),
}

# Where nobody has counted how often populations come true: their range as it is, and no probabilities.
BOOTSTRAP, CURVES = "bootstrap", "curves"  # the surrogates that make such populations
UNFITTED = Belief(power=1.0, doubt=0.0, lead=0.0, lead_of_uniform=0.0, lead_of_median=0.0, lower=1.0, upper=1.0)


def belief_in(metric: str, *, ordered: bool, surrogate: str | None = None) -> Belief:
    """Return how far populations of a surrogate are to be believed for a metric, on a domain with or without order."""
    return UNFITTED if surrogate in (BOOTSTRAP, CURVES) else BELIEFS[ordered, metric in POOLED]


def ranking_root(degree: int) -> int:
    """Return the root of errors that is averaged over populations, given `Metric.degree`.

    The square root of a distance, and the fourth root of a squared error: halfway between errors, which the populations
    that are hard for every method decide, and ratios of errors, which the easy ones do.
    """
    return ROOT * degree


def population_errors(errors: FloatArray, populations: int, root: int = 1) -> FloatArray:
    """Return the mean error for each population, and of that a root.

    errors: ``(repetitions,)`` errors; repetition r is of population ``r mod populations``. Either at most one
        repetition a population, or equally many for all.
    root: see `ranking_root`.

    Raises ValueError if the populations have different numbers of repetitions, above one.
    """
    if len(errors) > populations:
        if len(errors) % populations:
            raise ValueError(f"{len(errors)} repetitions cannot be shared evenly by {populations} populations")
        errors = errors.reshape(-1, populations).mean(axis=0)
    result: FloatArray = np.maximum(errors, 0.0) ** (1 / root)
    return result


def population_range(errors: FloatArray, populations: int, belief: Belief, root: int = 1) -> tuple[float, float]:
    """Return the 95 % range of a mean error over populations, with what they get wrong.

    errors, populations, root: as for `population_errors`; the range is that of the errors themselves, not of their
        roots.
    belief: by how much it is wider than the middle 95 % of the populations.
    """
    middle, low, high = middle_and_range(errors, populations, root)
    if not low:
        return 0.0, high
    return middle * (low / middle) ** belief.lower, middle * (high / middle) ** belief.upper


def middle_and_range(errors: FloatArray, populations: int, root: int = 1) -> tuple[float, float, float]:
    """Return the mean error over populations, as it is ranked, and what the middle 95 % of them have."""
    roots = population_errors(errors, populations, root)
    mean = float(roots.mean())
    low, high = np.quantile(roots, RANGE).tolist()
    return mean**root, min(low, mean) ** root, max(high, mean) ** root


def lead_name(method: str) -> str:
    """Return which number of a `Belief` is the lead of a method or a combination."""
    if method == POSTERIOR_MEDIAN:
        return "lead_of_median"
    return "lead_of_uniform" if UNIFORM in parts_of(method) else "lead"


def probability_best(win_shares: Mapping[Pair, float], leader: Pair, belief: Belief) -> dict[Pair, float]:
    """Return for each pair the probability that it has the lowest error, from the share of populations it wins.

    win_shares: share of the populations won; the shares sum to 1.
    leader: the pair with the lowest mean error.
    belief: how shares become probabilities.
    """
    odds = {pair: (share + belief.doubt / len(win_shares)) ** belief.power for pair, share in win_shares.items()}
    odds[leader] *= math.exp(getattr(belief, lead_name(leader[1])))
    total = math.fsum(odds.values())
    return {pair: value / total for pair, value in odds.items()}
