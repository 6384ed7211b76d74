"""How many users, or which ε, to tell a small frequency from 0: by formula, then settled by simulation.

The raw estimate of the value is above the threshold that one in 20 collections passes with any of the k categories that
nobody holds (`simulator.detection`), with probability 0.8. For normal estimates that is the case where

    frequency = threshold + z(0.8) sd(frequency),

and n or ε is found by bisection. Simulation settles what is not normal about it. Where supports are few, their exact
law takes the place of the normal one. Power is a sawtooth over n there, as the threshold is a whole number: the answer
is the least n from which on the power holds, and nothing is left to simulate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.answers.plan.result import Curve, PlanRow, settled_row
from advisor.question.plan import PlanQuestion
from advisor.question.rules import ROUNDING
from simulator import frequency_oracles
from simulator.crossing import crossing
from simulator.detection import POWER, few_supports, least_users, smallest_detectable, threshold
from simulator.detection import power as detection_power
from simulator.ranking import preference
from simulator.seeding import rng_for

PRECISION = 0.02  # relative standard error of the miss rate: 0.4 points of power
CELLS = 20_000_000  # categories x repetitions that are simulated for one place, at most
MOST = 10_000  # what the precision takes for one value that is missed in 0.2 of the runs
SETTLED = 3  # protocols that are settled where none was named, at most: the formula may be wrong about the first
HALVINGS = 60


def detection_rows(question: PlanQuestion, *, instant: bool = False) -> tuple[float | None, tuple[PlanRow, ...], Curve]:
    """Return the answer by formula, what each protocol needs (the best, and those named, simulated), and the curve."""
    rows = [_by_formula(question, name) for name in question.protocols]
    rows = _ranked(question, rows)
    first = rows[0].value
    if not instant:
        rows = _settled(question, rows)
    curve = () if rows[0].value is None else _curve(question, rows[0].protocol, rows[0].value)
    return first, tuple(rows), curve


def _settled(question: PlanQuestion, rows: list[PlanRow]) -> list[PlanRow]:
    """Return the rows settled: all that were named, else the first until no formula says that another needs less."""
    if question.restricted:
        return _ranked(question, [settle(question, row) for row in rows])
    done: list[PlanRow] = []
    while rows and len(done) < SETTLED and (not done or _need(rows[0]) < min(map(_need, done))):
        done.append(settle(question, rows[0]))
        rows = rows[1:]
    return [*_ranked(question, done), *rows]


def _ranked(question: PlanQuestion, rows: list[PlanRow]) -> list[PlanRow]:
    """Return the rows, least need first, behind the one to use: what it detects there decides, as errors do."""
    by_need = sorted(rows, key=_need)
    value = by_need[0].value
    if value is None or by_need[0].met_at_once:
        return by_need
    oracles = {row.protocol: question.oracle(row.protocol, value) for row in rows}
    least = {name: smallest_detectable(oracle, question.users(value)) for name, oracle in oracles.items()}
    lowest = min(least.values())
    best = min(oracles, key=lambda name: preference(least[name] / lowest, oracles[name].cost))
    return sorted(by_need, key=lambda row: row.protocol != best)


def _need(row: PlanRow) -> tuple[bool, float]:
    return row.value is None, row.value or 0.0


def _exact(question: PlanQuestion, protocol: str, value: float) -> bool:
    """Return whether the formula gives the answer itself: a number of users that the budget does not depend on."""
    if question.n is not None or question.shuffled is not None:
        return False
    return few_supports(question.oracle(protocol, value), round(value)) is not None


def _power(question: PlanQuestion, protocol: str, x: float) -> float:
    """Return the power by formula with the unknown at x."""
    oracle = frequency_oracles()[protocol](question.frequencies.k, question.budget(protocol, x, near=True))
    return detection_power(oracle, question.users(x), question.target)


def _by_formula(question: PlanQuestion, protocol: str) -> PlanRow:
    low, high = question.range
    if question.n is None:
        low = max(low, math.ceil(1 / question.target - ROUNDING))  # a frequency below one user is none
    power = partial(_power, question, protocol)
    value: float | None = high
    if power(high) < POWER:
        value = None
    elif power(low) >= POWER:
        value = low
    else:
        left, right = math.log(low), math.log(high)
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            left, right = (left, middle) if power(math.exp(middle)) >= POWER else (middle, right)
        value = math.ceil(math.exp(right) - 1e-6) if question.n is None else math.exp(right)
    if value is not None and question.n is None and question.shuffled is None:
        value = float(least_users(question.oracle(protocol, value), question.target, round(value)))
    at = high if value is None else value
    return PlanRow(protocol, None, value, value, value, power(at), None, None, 0, "formula", met_at_once=value == low)


def miss_rates(
    protocol: str, k: int, epsilon: float, n: int, frequency: float, seed: int, first: int, repetitions: int
) -> NDArray[np.float64]:
    """Return for each repetition the share of values of that frequency which the test does not tell from 0.

    As many values as fit have the frequency (at least one, at most half of the domain and half of the users); the
    others share the rest evenly.
    """
    oracle = frequency_oracles()[protocol](k, epsilon)
    users = max(1, round(n * frequency))
    small = max(1, min(k // 2, int(n / 2 / users)))
    counts = np.full(k, users, dtype=np.int64)
    rest, others = n - small * users, k - small
    counts[small:] = rest // others
    counts[small : small + rest % others] += 1
    least = threshold(oracle, n)
    rates = np.empty(repetitions)
    for place in range(repetitions):
        support = oracle.sample_support(counts, rng_for(seed, "detect", protocol, first + place))
        rates[place] = (oracle.estimate(support, n)[:small] <= least).mean()
    return rates


def settle(question: PlanQuestion, row: PlanRow) -> PlanRow:
    """Return a row of the formula settled by simulation; one out of reach, or of an exact law, is left as it is."""
    if row.value is None or _exact(question, row.protocol, row.value):
        return row
    k, low, high = question.frequencies.k, *question.range

    def measure(x: float, first: int, repetitions: int) -> NDArray[np.float64]:
        epsilon, n = question.budget(row.protocol, x), question.users(x)
        return miss_rates(row.protocol, k, epsilon, n, question.target, question.seed, first, repetitions)

    # A frequency below one user is none.
    least = max(low, 1 / question.target) if question.n is None else low
    place = crossing(
        measure,
        1 - POWER,
        start=max(row.value, least),
        low=least,
        high=high,
        whole=question.n is None,
        precision=PRECISION,
        first=min(200, max(2, CELLS // k)),
        most=max(2, min(MOST, CELLS // k)),
    )
    low, high = 1 - min(1.0, place.error_high), 1 - place.error_low
    return settled_row(row.protocol, None, replace(place, error=1 - place.error, error_low=low, error_high=high))


def _curve(question: PlanQuestion, protocol: str, value: float) -> Curve:
    low, high = question.range
    xs = np.geomspace(max(low, value / 30), min(high, value * 30), 41).tolist()
    return tuple((x, _power(question, protocol, x), False) for x in xs)
