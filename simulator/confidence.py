"""How sure a choice is when the truth is known only through an estimate: populations, not collections, are counted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator._types import FloatArray
from simulator.ranking import Pair

DOUBT = 0.15  # share of the belief kept back for what the populations get wrong
UNSEEN = 0.02  # share for a pair that wins in none of them


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


def probability_best(win_shares: Mapping[Pair, float]) -> dict[Pair, float]:
    """Return for each pair the probability that it has the lowest error, from the share of populations it wins.

    The populations are draws from models that are never quite right: 15 % of the belief is shared evenly by all pairs
    that win anywhere, and 2 % go to the first pair that wins nowhere. Chosen on named shapes, where it makes nine of
    ten mean nine of ten; without it the surest rows promise too much.

    Parameters
    ----------
    win_shares
        Share of the populations won, in rank order; the shares sum to 1.
    """
    winners = [pair for pair, share in win_shares.items() if share > 0]
    unseen = next((pair for pair, share in win_shares.items() if share == 0), None)
    believed = 1 - DOUBT - (0.0 if unseen is None else UNSEEN)
    belief = {
        pair: believed * share + (DOUBT / len(winners) if share > 0 else 0.0) for pair, share in win_shares.items()
    }
    if unseen is not None:
        # Wins shared by many equal pairs may leave each of them less than that: who won somewhere stays ahead.
        belief[unseen] = min(UNSEEN, min(belief[pair] for pair in winners) / 2)
    total = sum(belief.values())
    return {pair: share / total for pair, share in belief.items()}
