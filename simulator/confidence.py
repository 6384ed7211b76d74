"""How sure a choice is when the truth is known only through an estimate: populations, not collections, are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simulator._types import FloatArray
from simulator.ranking import Pair

POOLED = frozenset({"emd", "topk", "set", "range"})  # metrics that few values, or sums of values, decide
RANGE = (0.025, 0.975)


class Belief(NamedTuple):
    """How far populations drawn from an estimate are to be believed.

    They are draws from models that are never quite right: rougher than smooth truths, and too sure of each other
    where nothing but the estimate tells how the frequencies are spread.

    Attributes
    ----------
    power
        Exponent of the share of populations a pair wins: 1 takes shares as they are, less levels them.
    doubt
        Added to all shares together before.
    lead
        Logarithm of the odds in favour of the pair with the lowest mean error.
    lower, upper
        By what the range of errors is stretched from the mean to either end, on a log scale.
    """

    power: float
    doubt: float
    lead: float
    lower: float
    upper: float


# By whether the domain is ordered and whether the metric is pooled; printed by ``python -m advisor.fit_beliefs``.
BELIEFS = {
    (True, False): Belief(power=0.615, doubt=0.00127, lead=0.367, lower=4.36, upper=1.12),
    (True, True): Belief(power=0.646, doubt=0.0523, lead=1.16, lower=1.00, upper=1.37),
    (False, False): Belief(power=0.608, doubt=0.00343, lead=-0.268, lower=4.18, upper=2.19),
    (False, True): Belief(power=0.696, doubt=0.0602, lead=0.929, lower=1.48, upper=2.30),
}


def belief_in(metric: str, *, ordered: bool) -> Belief:
    """Return how far populations are to be believed for a metric, on a domain with or without an order."""
    return BELIEFS[ordered, metric in POOLED]


def population_errors(errors: FloatArray, populations: int, degree: int = 1) -> FloatArray:
    """Return the mean error for each population, brought to the scale of a distance.

    Parameters
    ----------
    errors
        ``(repetitions,)`` errors; repetition r is of population ``r mod populations``. Either at most one repetition a
        population, or equally many for all.
    degree
        `Metric.degree`: the error of a squared metric counts by its root, so that a population that is hard for every
        method does not drown all others.

    Raises
    ------
    ValueError
        If the populations have different numbers of repetitions, above one.
    """
    if len(errors) > populations:
        if len(errors) % populations:
            raise ValueError(f"{len(errors)} repetitions cannot be shared evenly by {populations} populations")
        errors = errors.reshape(-1, populations).mean(axis=0)
    result: FloatArray = np.maximum(errors, 0.0) ** (1 / degree)
    return result


def population_range(errors: FloatArray, populations: int, belief: Belief, degree: int = 1) -> tuple[float, float]:
    """Return the 95 % range of a mean error over populations, with what they get wrong.

    Parameters
    ----------
    errors, populations, degree
        As for `population_errors`; the range is that of the errors themselves, not of their roots.
    belief
        By how much it is wider than the middle 95 % of the populations.
    """
    middle, low, high = middle_and_range(errors, populations, degree)
    if not low:
        return 0.0, high
    return middle * (low / middle) ** belief.lower, middle * (high / middle) ** belief.upper


def middle_and_range(errors: FloatArray, populations: int, degree: int = 1) -> tuple[float, float, float]:
    """Return the mean error over populations, as it is ranked, and what the middle 95 % of them have."""
    distances = population_errors(errors, populations, degree)
    mean = float(distances.mean())
    low, high = np.quantile(distances, RANGE).tolist()
    return mean**degree, min(low, mean) ** degree, max(high, mean) ** degree


def probability_best(win_shares: Mapping[Pair, float], leader: Pair, belief: Belief) -> dict[Pair, float]:
    """Return for each pair the probability that it has the lowest error, from the share of populations it wins.

    Parameters
    ----------
    win_shares
        Share of the populations won; the shares sum to 1.
    leader
        The pair with the lowest mean error.
    belief
        How shares become probabilities.
    """
    odds = {
        pair: (share + belief.doubt / len(win_shares)) ** belief.power * math.exp(belief.lead * (pair == leader))
        for pair, share in win_shares.items()
    }
    total = math.fsum(odds.values())
    return {pair: value / total for pair, value in odds.items()}
