"""Number of users, or ε, to detect a small frequency: by formula, then refined by simulation.

The threshold is exceeded in one of 20 collections by any of the k categories if no user holds them
(`simulator.detection`). The raw estimate of the value must exceed it with probability 0.8. For normal estimates, this
holds if

    frequency = threshold + z(0.8) sd(frequency),

and n or ε is found by bisection. Simulation corrects deviations from the normal law. If supports are few, their exact
law replaces the normal law. The power is then a sawtooth over n, as the threshold is a whole number. The answer is the
least n from which on the power holds, and no simulation is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from advisor.answers.plan.result import Curve, PlanRow, Point, settled_row, value_text
from advisor.question.plan import PlanQuestion
from advisor.question.rules import ROUNDING
from simulator import frequency_oracles
from simulator.crossing import crossing
from simulator.detection import POWER, few_supports, least_users, smallest_detectable, threshold
from simulator.detection import power as detection_power
from simulator.progress import Progress, part, silent
from simulator.ranking import preference
from simulator.seeding import rng_for

PRECISION = 0.02  # relative standard error of the miss rate: 0.4 points of power
CELLS = 20_000_000  # maximum of categories x repetitions simulated for a place
MOST = 10_000  # repetitions that the precision requires for a value that is missed in 0.2 of the runs
PLACES = 8  # at which a protocol is measured until it is settled, hardly ever more
SETTLED = 3  # maximum of protocols simulated if none was named: the formula may be wrong about the first
HALVINGS = 60


def detection_rows(
    question: PlanQuestion, progress: Progress = silent, *, instant: bool = False
) -> tuple[float | None, tuple[PlanRow, ...], Curve]:
    """Return the answer by formula, the need of each protocol (simulated for the best and the named), and the curve."""
    rows = [_by_formula(question, name) for name in question.protocols]
    rows = _ranked(question, rows)
    first = rows[0].value
    if not instant:
        rows = _settled(question, rows, progress)
        progress("settled", 1, 1)
    curve = () if rows[0].value is None else _curve(question, rows[0].protocol, rows[0].value)
    return first, tuple(rows), curve


def _settled(question: PlanQuestion, rows: list[PlanRow], progress: Progress) -> list[PlanRow]:
    """Return rows refined by simulation: all named protocols, else the first until by formula no other needs less."""
    if question.restricted:
        parts = (part(progress, place, len(rows), row.protocol) for place, row in enumerate(rows))
        return _ranked(question, [settle(question, row, of_row) for row, of_row in zip(rows, parts, strict=True)])
    done: list[PlanRow] = []
    while rows and len(done) < SETTLED and (not done or _need(rows[0]) < min(map(_need, done))):
        done.append(settle(question, rows[0], part(progress, len(done), SETTLED, rows[0].protocol)))
        rows = rows[1:]
    settled = {row.protocol: row for row in done}
    twins = [(row, settled.get(_mechanism(question, row) if row.value else "")) for row in rows]
    rows = [replace(twin, protocol=row.protocol) if twin is not None else row for row, twin in twins]
    return [*_ranked(question, done), *rows]


def _mechanism(question: PlanQuestion, row: PlanRow) -> str:
    """Return the protocol whose reports a protocol sends at its need: that of subsets of one value is GRR."""
    return question.oracle(row.protocol, row.value or 0.0).same_as or row.protocol


def _ranked(question: PlanQuestion, rows: list[PlanRow]) -> list[PlanRow]:
    """Return the rows by need after the row to use: what it detects there decides, as errors do."""
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
    """Return whether the formula gives the exact answer, as there are few supports; with a shuffler it does not."""
    if question.shuffled is not None:
        return False
    return few_supports(question.oracle(protocol, value), question.users(value)) is not None


def _power(question: PlanQuestion, protocol: str, x: float) -> float:
    """Return the power by formula with the unknown at x."""
    oracle = frequency_oracles()[protocol](question.frequencies.k, question.budget(protocol, x, near=True))
    return detection_power(oracle, question.users(x), question.target)


def _by_formula(question: PlanQuestion, protocol: str) -> PlanRow:
    low, high = question.range
    if question.n is None:
        low = max(low, math.ceil(1 / question.target - ROUNDING))  # a frequency below one user is 0
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
    elif value not in (None, low) and question.n is not None and _exact(question, protocol, value):
        value = _least_budget(power, value)
    at = high if value is None else value
    return PlanRow(protocol, None, value, value, value, power(at), None, None, 0, "formula", met_at_once=value == low)


def _least_budget(power: Callable[[float], float], enough: float) -> float:
    """Return the least budget of three digits with the power wanted, at most 30 % below one that is enough.

    The threshold on few supports is a whole number: power falls at each of its steps, and comes up again.
    """
    step = 10.0 ** (math.floor(math.log10(enough)) - 2)
    steps = range(round(0.7 * enough / step), math.ceil(enough / step) + 1)
    return next((at * step for at in steps if power(at * step) >= POWER), enough)


def miss_rates(question: PlanQuestion, protocol: str, x: float, first: int, repetitions: int) -> NDArray[np.float64]:
    """Return for each repetition, with the unknown at x, the share of values with the target that go undetected.

    As many values as fit have the frequency (at least one, at most half of the domain and half of the users); the
    other values share the rest evenly.
    """
    k, n = question.frequencies.k, question.users(x)
    oracle = frequency_oracles()[protocol](k, question.budget(protocol, x))
    mechanism = oracle.same_as or protocol
    users = max(1, round(n * question.target))
    small = max(1, min(k // 2, int(n / 2 / users)))
    counts = np.full(k, users, dtype=np.int64)
    rest, others = n - small * users, k - small
    counts[small:] = rest // others
    counts[small : small + rest % others] += 1
    least = threshold(oracle, n)
    rates = np.empty(repetitions)
    for place in range(repetitions):
        support = oracle.sample_support(counts, rng_for(question.simulation.seed, "detect", mechanism, first + place))
        rates[place] = (oracle.estimate(support, n)[:small] <= least).mean()
    return rates


def settle(question: PlanQuestion, row: PlanRow, progress: Progress = silent) -> PlanRow:
    """Return a row refined by simulation; a row out of reach, or with an exact law, is returned unchanged."""
    if row.value is None or _exact(question, row.protocol, row.value):
        return row
    k, low, high = question.frequencies.k, *question.range
    places: set[float] = set()

    def measure(x: float, first: int, repetitions: int) -> NDArray[np.float64]:
        progress(f"{question.sign} = {value_text(question, x)}", min(len(places), PLACES), PLACES)
        places.add(x)
        return miss_rates(question, row.protocol, x, first, repetitions)

    # A frequency below one user is 0.
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
    powers = [_power(question, protocol, x) for x in xs]
    return tuple(Point(x, power, simulated=False, low=power, high=power) for x, power in zip(xs, powers, strict=True))
