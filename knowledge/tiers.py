"""In which order a look-up lists pairs: tiers that the prediction tells apart, and what comes first in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from knowledge.ranking import LookUp, Row
from simulator import PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO, Cost, preference

MOST = 1.25  # over the lowest predicted error of a tier: more than that is no tie, however unsure the prediction is


def costs_of(protocols: Iterable[str], k: int, epsilon: float) -> dict[str, Cost]:
    """Return what a report of each protocol costs."""
    return {name: PROTOCOLS[name](k, epsilon).cost for name in dict.fromkeys(protocols)}


def first_pair(answer: LookUp) -> tuple[str, str]:
    """Return the pair that a look-up lists first."""
    costs = costs_of((row.protocol for row in answer.rows), answer.k, answer.epsilon)
    first = min(answer.rows, key=_order(costs))
    return first.protocol, first.method


def tiers(rows: Sequence[Row], costs: Mapping[str, Cost]) -> list[list[Row]]:
    """Split rows where the prediction tells them apart from the lowest error by 5 %; the rest in the same way again.

    A tie is what is predicted within 5 % of the lowest error of a tier, or within 25 % and not surely above it. In a
    tier `simulator.ranking.preference` decides.

    rows: by rising error.
    costs: of a report of each protocol.
    """
    split: list[list[Row]] = []
    left = list(rows)
    while left:
        lowest = left[0].ratio
        tied = {id(row) for row in left if _ties(row, lowest)}
        near = [row for row in left if id(row) in tied]
        split.append(sorted(near, key=_order(costs, lowest)))
        left = [row for row in left if id(row) not in tied]
    return split


def _order(costs: Mapping[str, Cost], lowest: float = 1.0) -> Callable[[Row], tuple[object, ...]]:
    """Return the sort key of the rows of a tier; what is the same protocol by two names differs by rounding alone."""
    table = {name: place for place, name in enumerate(PROTOCOLS)}
    return lambda row: (
        *preference(row.ratio / lowest, costs[row.protocol]),
        table.get(row.protocol, len(table)),
    )


def _ties(row: Row, lowest: float) -> bool:
    return row.ratio < PRACTICAL_RATIO * lowest or (row.ratio_low <= lowest and row.ratio <= MOST * lowest)
