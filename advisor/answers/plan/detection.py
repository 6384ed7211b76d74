"""Number of users, or ε, to detect a small frequency, by formula.

The threshold is exceeded in one of 20 collections by any of the k categories if no user holds them
(`simulator.detection`). The raw estimate of the value must exceed it with probability 0.8. For normal estimates, this
holds if

    frequency = threshold + z(0.8) sd(frequency),

and n or ε is where that power is reached. If supports are few, their exact law replaces the normal law. The power is
then a sawtooth over n, as the threshold is a whole number. The answer is the least n from which on the power holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from advisor.answers.plan.result import Curve, PlanRow, Point
from advisor.question.plan import PlanQuestion
from advisor.question.rules import ROUNDING
from simulator.detection import POWER, few_supports, least_users, power, smallest_detectable
from simulator.ranking import preference

HALVINGS, SHUFFLED_HALVINGS = 60, 16  # of the range, on a scale of ratios: a shuffled budget takes a tenth of a second


def detection_rows(question: PlanQuestion) -> tuple[tuple[PlanRow, ...], Curve]:
    """Return the need of each protocol, the one to use first, and the power of that one around the answer."""
    rows = _ranked(question, [_by_formula(question, name) for name in question.protocols])
    return tuple(rows), () if rows[0].value is None else _curve(question, rows[0].protocol, rows[0].value)


def _ranked(question: PlanQuestion, rows: list[PlanRow]) -> list[PlanRow]:
    """Return the rows by need after the row to use: what it detects there decides, as errors do."""
    by_need = sorted(rows, key=lambda row: (row.value is None, row.value or 0.0))
    value = by_need[0].value
    if value is None or by_need[0].met_at_once:
        return by_need
    oracles = {row.protocol: question.oracle(row.protocol, value) for row in rows}
    least = {name: smallest_detectable(oracle, question.users(value)) for name, oracle in oracles.items()}
    lowest = min(least.values())
    best = min(oracles, key=lambda name: preference(least[name] / lowest, oracles[name].cost))
    return sorted(by_need, key=lambda row: row.protocol != best)


def _power(question: PlanQuestion, protocol: str, x: float) -> float:
    """Return the power with the unknown at x."""
    return power(question.oracle(protocol, x), question.users(x), question.target)


def _by_formula(question: PlanQuestion, protocol: str) -> PlanRow:
    low, high = question.range
    if question.n is None:
        low = max(low, math.ceil(1 / question.target - ROUNDING))  # a frequency below one user is 0
    power_at = partial(_power, question, protocol)
    value: float | None = high
    if power_at(high) < POWER:
        value = None
    elif power_at(low) >= POWER:
        value = low
    else:
        left, right = math.log(low), math.log(high)
        for _ in range(HALVINGS if question.shuffled is None else SHUFFLED_HALVINGS):
            middle = (left + right) / 2
            left, right = (left, middle) if power_at(math.exp(middle)) >= POWER else (middle, right)
        value = math.ceil(math.exp(right) - 1e-6) if question.n is None else math.exp(right)
    if value is not None and question.shuffled is None:
        oracle = question.oracle(protocol, value)
        if question.n is None:
            value = float(least_users(oracle, question.target, round(value)))
        elif value > low and few_supports(oracle, question.n) is not None:
            value = _least_budget(power_at, value)
    at = high if value is None else value
    return PlanRow(
        protocol, None, value, value, value, power_at(at), None, None, 0, "formula", met_at_once=value == low
    )


def _least_budget(power_at: Callable[[float], float], enough: float) -> float:
    """Return the least budget of three digits with the power wanted, at most 30 % below one that is enough.

    The threshold on few supports is a whole number: power falls at each of its steps, and comes up again.
    """
    step = 10.0 ** (math.floor(math.log10(enough)) - 2)
    steps = range(round(0.7 * enough / step), math.ceil(enough / step) + 1)
    return next((at * step for at in steps if power_at(at * step) >= POWER), enough)


def _curve(question: PlanQuestion, protocol: str, value: float) -> Curve:
    low, high = question.range
    xs = np.geomspace(max(low, value / 30), min(high, value * 30), 41).tolist()
    powers = [_power(question, protocol, x) for x in xs]
    return tuple(Point(x, value, simulated=False, low=value, high=value) for x, value in zip(xs, powers, strict=True))
