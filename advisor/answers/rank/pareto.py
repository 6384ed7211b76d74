"""The pairs that no other beats in error, attack success and report size at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.answers.rank.result import Ranking, Recommendation
from simulator.ranking import PRACTICAL_RATIO, preference


@dataclass(frozen=True)
class Frontier:
    """The Pareto frontier of an advice.

    Attributes
    ----------
    advice
        What was ranked.
    rows
        Pairs that are not dominated, the answer of the ranking first, then by rising error.
    dominated
        The others, each with the first of the pairs that dominate it.
    """

    advice: Ranking
    rows: tuple[Recommendation, ...]
    dominated: tuple[tuple[Recommendation, Recommendation], ...]


def frontier_of(advice: Ranking) -> Frontier:
    """Return the frontier of an advice: see `advisor.pareto`."""
    ratios = {row: math.inf if row.ratio_to_best is None else row.ratio_to_best for row in advice.recommendations}
    keys = {row: preference(ratio, advice.request.cost(row.protocol)) for row, ratio in ratios.items()}

    def dominates(one: Recommendation, other: Recommendation) -> bool:
        costs, others = ((max(ratios[row], PRACTICAL_RATIO), *_costs(row)) for row in (one, other))
        better = other is not ranked[0] and (costs != others or place[one] < place[other])
        return better and all(a <= b for a, b in zip(costs, others, strict=True))

    ranked = sorted(ratios, key=lambda row: (row is not advice.recommendations[0], keys[row]))
    place = {row: at for at, row in enumerate(ranked)}
    rows = [row for row in ranked if not any(dominates(other, row) for other in ranked)]
    beaten = ((row, next((other for other in rows if dominates(other, row)), None)) for row in ranked)
    return Frontier(advice, tuple(rows), tuple((row, better) for row, better in beaten if better is not None))


def _costs(row: Recommendation) -> tuple[float, float]:
    return row.report_bits, round(row.attack_success, 9)
