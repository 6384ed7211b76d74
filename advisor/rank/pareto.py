"""The pairs that no other beats in error, attack success and report size at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from advisor.rank.result import Ranking, Recommendation


@dataclass(frozen=True)
class Frontier:
    """The Pareto frontier of an advice.

    Attributes
    ----------
    advice
        What was ranked.
    rows
        Pairs that are not dominated, by rising error.
    dominated
        The others, each with the pair of the lowest error that dominates it.
    """

    advice: Ranking
    rows: tuple[Recommendation, ...]
    dominated: tuple[tuple[Recommendation, Recommendation], ...]


def pareto(advice: Ranking) -> Frontier:
    """Return the frontier of mean error, attack success and bits per report.

    A pair is dominated where another is as good in all three and better in one.

    Examples
    --------
    >>> from advisor import advise
    >>> frontier = pareto(advise(1.0, k=64))
    >>> len(frontier.rows) + len(frontier.dominated) == len(frontier.advice.recommendations)
    True
    """
    ranked = sorted(advice.recommendations, key=_costs)
    rows: list[Recommendation] = []
    dominated = []
    for row in ranked:  # by rising error, so that what dominates a row is there before it
        better = next((other for other in rows if _dominates(other, row)), None)
        if better is None:
            rows.append(row)
        else:
            dominated.append((row, better))
    return Frontier(advice, tuple(rows), tuple(dominated))


def _costs(row: Recommendation) -> tuple[float, float, float]:
    # Errors over the lowest one, as those are of the same repetitions.
    return math.inf if row.ratio_to_best is None else row.ratio_to_best, row.attack_success, row.report_bits


def _dominates(one: Recommendation, other: Recommendation) -> bool:
    costs, others = _costs(one), _costs(other)
    return costs != others and all(a <= b for a, b in zip(costs, others, strict=True))
