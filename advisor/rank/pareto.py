"""The pairs that no other beats in error, attack success and report size at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.rank.result import Ranking, Recommendation
from simulator.ranking import AS_GOOD, Cost, preference


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


def pareto(advice: Ranking) -> Frontier:
    """Return the frontier of mean error, attack success and bits per report.

    A pair is dominated where another is as good in all three and better in one. Errors within 1 % of the lowest are as
    good as it, so the first row is that of the ranking (`simulator.ranking.preference`).

    Examples
    --------
    >>> from advisor import advise
    >>> frontier = pareto(advise(1.0, k=64))
    >>> len(frontier.rows) + len(frontier.dominated) == len(frontier.advice.recommendations)
    True
    """
    ranked = sorted(advice.recommendations, key=_order)
    rows: list[Recommendation] = []
    dominated = []
    for row in ranked:  # what dominates a row is there before it
        better = next((other for other in rows if _dominates(other, row)), None)
        if better is None:
            rows.append(row)
        else:
            dominated.append((row, better))
    return Frontier(advice, tuple(rows), tuple(dominated))


def _costs(row: Recommendation) -> Cost:
    # Errors over the lowest one, as those are of the same repetitions.
    ratio = math.inf if row.ratio_to_best is None else row.ratio_to_best
    return max(ratio, AS_GOOD), *row.cost


def _order(row: Recommendation) -> tuple[bool, Cost, float]:
    return preference(math.inf if row.ratio_to_best is None else row.ratio_to_best, row.cost)


def _dominates(one: Recommendation, other: Recommendation) -> bool:
    costs, others = _costs(one), _costs(other)
    better = costs != others or _order(one) < _order(other)
    return better and all(a <= b for a, b in zip(costs, others, strict=True))
