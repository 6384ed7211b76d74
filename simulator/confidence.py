"""Uncertainty of errors if the truth is known only through an estimate: over draws of the possible truth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator._types import FloatArray
from simulator.ranking import Pair, Ratio

RANGE = (0.025, 0.975)
# Draws are a little too sure. On a log scale the range of an error is wider than they have it, and its ends further out
# by 5 % at least, that of a ratio is wider by more; on the tuning half they hold in 97 and 96 %.
USUAL, RATIO_WIDER = (1.1, 1.05), 1.2
# Of an estimate that was clipped: what was cut off is known no better than it was undone, which the draws do not see.
# And of a tally: a bootstrap is about the best estimate, not about the truth.
OF_CUT, OF_TALLY = (1.5, 1.1), (2.0, 1.1)
# The share of the draws in which a pair is as good as the best is right up to here, on the tuning half and on tails.
# Pairs with a larger share are so no more often; with an order, draws are smoother than columns that people have.
MOST_SURE, MOST_SURE_ORDERED = 0.75, 0.5
AS_GOOD_AS_BEST = 1.02  # an error within 2 % of the lowest is as good as it


def by_population(errors: FloatArray, populations: int) -> FloatArray:
    """Return the mean error for each population.

    errors: ``(repetitions,)`` errors; repetition r is of population ``r mod populations``. Either at most one
        repetition per population, or equal numbers for all.

    Raises ValueError if the populations have different numbers of repetitions, above 1.
    """
    if len(errors) <= populations:
        return errors
    if len(errors) % populations:
        raise ValueError(f"{len(errors)} repetitions cannot be shared evenly by {populations} populations")
    return errors.reshape(-1, populations).mean(axis=0)


def widened_range(values: FloatArray, widening: tuple[float, float] = USUAL) -> tuple[float, float]:
    """Return the 95 % range of values ``(draws,)`` around their mean, wider than the draws have it.

    widening: `USUAL`, `OF_CUT` or `OF_TALLY`: how much wider on a log scale, and how far the ends are out at least.
    """
    mean = float(values.mean())
    if not mean or not np.isfinite(mean):
        return mean, mean
    low, high = np.quantile(values, RANGE).tolist()
    wider, least = widening
    return mean * min(low / mean, 1.0) ** wider / least, mean * max(high / mean, 1.0) ** wider * least


def ratio_over_truths(errors: FloatArray, reference: FloatArray) -> Ratio:
    """Return mean(errors) / mean(reference), and the 95 % range of the ratio over the possible truths.

    errors, reference: ``(draws,)``, of the same draws.
    """
    mean, base = float(errors.mean()), float(reference.mean())
    if base == 0.0 or not np.isfinite(mean) or not np.isfinite(base):
        value = 1.0 if mean == base else float("inf") if mean > base else 0.0
        return Ratio(value, value, value)
    each = np.divide(errors, reference, out=np.where(errors > 0, np.inf, 1.0), where=reference > 0)
    value = mean / base
    low, high = np.quantile(each, RANGE, method="higher").tolist()
    low, high = value * min(low / value, 1.0) ** RATIO_WIDER if value else 0.0, max(high, value)
    return Ratio(value, low, value * (high / value) ** RATIO_WIDER if value else high)


def probabilities(errors: Mapping[Pair, FloatArray], *, ordered: bool = False) -> dict[Pair, float]:
    """Return for each pair the probability that its error is within 2 % of the lowest: at most 0.75, with an order 0.5.

    If several pairs are as good as the best, all have a high probability: they do not sum to 1.

    errors: for each pair ``(draws,)`` errors, of the same draws.
    """
    lowest = np.min(np.stack(list(errors.values())), axis=0)
    shares = {pair: float((block <= AS_GOOD_AS_BEST * lowest).mean()) for pair, block in errors.items()}
    return {pair: min(share, MOST_SURE_ORDERED if ordered else MOST_SURE) for pair, share in shares.items()}
