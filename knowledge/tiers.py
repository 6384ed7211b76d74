"""In which order a look-up lists pairs: what to use first, and which are tied with the lowest error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from knowledge.ranking import LookUp
from simulator import PROTOCOLS
from simulator.ranking import PRACTICAL_RATIO, Cost, Place, places

MOST = 1.25  # over the lowest predicted error: more than that is no tie, however unsure the prediction is


def costs_of(protocols: Iterable[str], k: int, epsilon: float) -> dict[str, Cost]:
    """Return what a report of each protocol costs."""
    return {name: PROTOCOLS[name](k, epsilon).cost for name in dict.fromkeys(protocols)}


def first_pair(answer: LookUp) -> tuple[str, str]:
    """Return the pair that a look-up lists first."""
    costs = costs_of((row.protocol for row in answer.rows), answer.k, answer.epsilon)
    first = answer.rows[placed(answer, costs)[0].at]
    return first.protocol, first.method


def placed(answer: LookUp, costs: Mapping[str, Cost]) -> tuple[Place, ...]:
    """Return the order of the rows of a look-up; see `simulator.ranking.places`.

    Tied is what is predicted within 5 % of the lowest error, or within 25 % and not surely above it. The pair that the
    tree names comes first, unless it is overruled.

    costs: of a report of each protocol.
    """
    rows = answer.rows
    named = [at for at, row in enumerate(rows) if (row.protocol, row.method) == answer.tree and not answer.overruled]
    ties = [row.ratio < PRACTICAL_RATIO or (row.ratio_low <= 1 and row.ratio <= MOST) for row in rows]
    return places([row.ratio for row in rows], ties, [costs[row.protocol] for row in rows], *named)
