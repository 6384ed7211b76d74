"""Trade-offs of a choice: accuracy per category against the whole distribution, or a metric against another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.answers.rank.result import Ranking, Recommendation, SingleCategories
from simulator import METRICS
from simulator.ranking import NOTHING, PRACTICAL_RATIO, Pair, Ratio, RatioOf, preference

CLEARLY = 1.05  # times the lowest error, from which on a pair gives something up
NEAR = 1.25  # times the lowest errors of all metrics, up to which one pair is good at all of them


class Compromise(NamedTuple):
    """The pair with the smallest maximum, over several metrics, of the ratio to the lowest error."""

    protocol: str
    method: str
    ratios: tuple[tuple[str, float], ...]  # each metric, with the error divided by the lowest error
    first: bool  # whether it is the first of all rankings
    in_first_tier: bool  # whether it is in the first tier of all

    @property
    def worst(self) -> tuple[str, float]:
        """The metric with the largest ratio, and this ratio."""
        return max(self.ratios, key=lambda item: item[1])


def best_for_single_categories(
    metric: str, first: Pair, errors: Mapping[Pair, NDArray[np.float64]], ratio: RatioOf
) -> SingleCategories | None:
    """Return the pair with the lowest simulated error per category, if the first pair of a ranking is proven worse.

    None for metrics that do not measure the whole distribution.

    ratio: function that compares two blocks of errors.
    """
    if not METRICS[metric].ordered_only:
        return None
    # Pairs that are bad by the metric have fewer repetitions: only repetitions of all pairs are compared.
    shared = min(map(len, errors.values()))
    best = min(errors, key=lambda pair: float(errors[pair][:shared].mean()))
    return _given_up(best, ratio(errors[first], errors[best]))


def predicted_for_single_categories(metric: str, rows: Sequence[Recommendation]) -> SingleCategories | None:
    """Return the pair for single categories, by predicted errors."""
    errors = {row.pair: row.mean_absolute_error for row in rows if row.mean_absolute_error}
    error_of_best = rows[0].mean_absolute_error
    if not METRICS[metric].ordered_only or not errors or not error_of_best:
        return None
    best, lowest = min(errors.items(), key=lambda item: item[1])
    return _given_up(best, Ratio(error_of_best / lowest, error_of_best / lowest, error_of_best / lowest))


def _given_up(best: Pair, ratio: Ratio) -> SingleCategories | None:
    clear = CLEARLY < ratio.value < 1 / NOTHING and ratio.low > 1
    return SingleCategories(*best, *ratio) if clear else None


def compromise(rankings: Sequence[Ranking]) -> Compromise | None:
    """Return the pair that is good for several metrics; None for one metric, or if no pair has all errors."""
    tables = [
        {row.pair: row for row in ranking.recommendations if row.ratio_to_best is not None} for ranking in rankings
    ]
    common = [pair for pair in tables[0] if all(pair in table for table in tables)]
    if len(rankings) < 2 or not common:
        return None
    metrics = [ranking.metric for ranking in rankings]

    def of(pair: Pair) -> Compromise:
        rows = [table[pair] for table in tables]
        ratios = tuple((metric, row.ratio_to_best or 0.0) for metric, row in zip(metrics, rows, strict=True))
        first = all(ranking.best.pair == pair for ranking in rankings)
        return Compromise(*pair, ratios, first, all(row.tier == 1 for row in rows))

    def order(one: Compromise) -> tuple[bool, bool, float, float]:
        return not one.first, not one.in_first_tier, one.worst[1], sum(ratio for _, ratio in one.ratios)

    return min(map(of, common), key=order)


@dataclass(frozen=True)
class Frontier:
    """The Pareto frontier of an advice.

    Attributes
    ----------
    advice
        The ranking.
    rows
        Pairs that are not dominated: the answer of the ranking first, then by rising error.
    dominated
        The other pairs, each with the first pair that dominates it.
    """

    advice: Ranking
    rows: tuple[Recommendation, ...]
    dominated: tuple[tuple[Recommendation, Recommendation], ...]

    @property
    def drawn(self) -> tuple[Recommendation, ...]:
        """The rows that a picture can show: those with a finite error."""
        return tuple(row for row in self.rows if row.error < math.inf)


def frontier_of(advice: Ranking) -> Frontier:
    """Return the frontier of an advice: see `advisor.pareto`."""
    ratios = {row: math.inf if row.ratio_to_best is None else row.ratio_to_best for row in advice.recommendations}
    keys = {row: preference(ratio, advice.request.cost(row.protocol)) for row, ratio in ratios.items()}

    def dominates(first: Recommendation, other: Recommendation) -> bool:
        costs, others = ((max(ratios[row], PRACTICAL_RATIO), *_costs(row)) for row in (first, other))
        better = other is not ranked[0] and (costs != others or place[first] < place[other])
        return better and all(a <= b for a, b in zip(costs, others, strict=True))

    ranked = sorted(ratios, key=lambda row: (row is not advice.recommendations[0], keys[row]))
    place = {row: at for at, row in enumerate(ranked)}
    rows = [row for row in ranked if not any(dominates(other, row) for other in ranked)]
    beaten = ((row, next((other for other in rows if dominates(other, row)), None)) for row in ranked)
    return Frontier(advice, tuple(rows), tuple((row, better) for row, better in beaten if better is not None))


def _costs(row: Recommendation) -> tuple[float, float]:
    return row.report_bits, round(row.attack_success, 9)
