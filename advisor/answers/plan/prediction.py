"""The first answer of a plan, in a moment: the predicted error along the unknown, and where it crosses the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.answers.plan.result import Curve, PlanRow, Point
from advisor.errors import listed
from advisor.question.metric_settings import MetricSettings
from advisor.question.plan import PlanQuestion
from knowledge.describe.profile import profile_of
from knowledge.menu import EPSILON, USERS
from knowledge.predict import Frequencies as Histogram
from knowledge.predict import predicted_metrics, predicted_protocols
from knowledge.ranking import LookUp, first_pair, look_up
from simulator.ranking import Pair

PLACES = 17
STEPS = 3  # look-ups for the pair to name; from one need to the next it hardly ever changes
SLACK = (
    1.1  # what 1 % of error may cost of the unknown; a pair that needs more rises again before it reaches the target
)
ENDS = {"n": USERS, "epsilon": EPSILON}  # of what the model covers


@dataclass(frozen=True, eq=False)
class PlanPrediction:
    """What is predicted along the unknown."""

    xs: NDArray[np.float64]  # values of the unknown that were looked at, rising, ``(places,)``
    # For each pair its predicted error and the ends of the 95 % interval ``(3, places)``
    errors: dict[Pair, NDArray[np.float64]]
    rows: tuple[PlanRow, ...]  # what each pair needs, as predicted
    why_not: str = ""  # why nothing is predicted, if so
    # The pair that a look-up names at the least value that suffices (`simulator.ranking.preference`)
    choice: Pair | None = None

    @property
    def first(self) -> float | None:
        """The first answer: the value by which the choice is predicted to reach the target."""
        return next((row.value for row in self.rows if row.pair == self.choice), None)

    @property
    def ranked(self) -> list[PlanRow]:
        """The choice, then the other rows, least need first."""
        return sorted(self.rows, key=lambda row: (row.pair != self.choice, row.need))

    def curve(self, pair: Pair) -> Curve:
        """Return the predicted errors of a pair."""
        if pair not in self.errors:
            return ()
        return tuple(
            Point(x, error, simulated=False, low=low, high=high)
            for x, error, low, high in zip(self.xs.tolist(), *self.errors[pair].tolist(), strict=True)
        )


def first_answers(
    question: PlanQuestion, assumed: Histogram | None = None, *, least: float | None = None
) -> PlanPrediction:
    """Predict all pairs along the range that the model covers; nothing if the model does not know the metric.

    assumed: substitute for the frequencies; by default their profile.
    least: return only needs, not their intervals, and look no lower than the first place at or below this: a need
        there is given as at most this, not exactly. (Describing a large domain takes long.)
    """
    xs = np.geomspace(*ENDS[question.unknown], PLACES)
    if question.metric not in predicted_metrics(ordered=question.frequencies.ordered):
        return PlanPrediction(xs, {}, (), f"the model does not know the metric {question.metric}")
    usual = MetricSettings().resolved(question.frequencies.k)
    if question.metric_values.of(question.metric) != usual.of(question.metric):
        return PlanPrediction(xs, {}, (), f"the model knows {question.metric} in its usual setting only")
    protocols = tuple(name for name in question.protocols if name in predicted_protocols())
    if not protocols:
        return PlanPrediction(xs, {}, (), f"the model does not know {listed(question.protocols)}")
    figures: dict[Pair, list[tuple[float, float, float]]] = {}

    def asked(x: float) -> LookUp:
        n = question.users(x)
        described = profile_of(question.frequencies.weights, n) if fixed is None else fixed
        budgets = {name: question.budget(name, x, near=True) for name in protocols} if question.shuffled else None
        epsilon = question.budget(protocols[0], x) if budgets is None else min(budgets.values())
        return look_up(
            described,
            epsilon,
            n,
            question.metric,
            ordered=question.frequencies.ordered,
            protocols=protocols,
            methods=question.methods,
            budgets=budgets,
        )

    fixed = assumed
    if assumed is None and question.n is not None:
        fixed = profile_of(question.frequencies.weights, question.n)
    missed: set[Pair] = set()  # pairs that missed the target somewhere: the last such place decides what they need
    places = 0
    for x in xs[::-1].tolist():
        try:
            answer = asked(x)
        except ValueError as error:
            return PlanPrediction(xs, {}, (), str(error))
        for row in answer.rows:
            figures.setdefault(row.pair, []).append((row.error, row.low, row.high))
        missed |= {row.pair for row in answer.rows if row.error > question.target}
        places += 1
        if least is not None and (missed >= figures.keys() or x <= least):
            break
    xs = xs[-places:]
    last = [row.pair for row in answer.rows]
    errors = {pair: np.array(figures[pair][::-1]).T for pair in last if len(figures[pair]) == places}
    whole = question.n is None
    rows = [_row(pair, xs, values, question.target, whole=whole) for pair, values in errors.items()]
    return PlanPrediction(xs, errors, tuple(rows), choice=_choice({row.pair: row for row in rows}, asked))


def _choice(rows: Mapping[Pair, PlanRow], look_up: Callable[[float], LookUp]) -> Pair | None:
    """Return the pair that a look-up names at the pair's need; otherwise the pair with the least need."""
    least = min(rows.values(), key=lambda row: row.need, default=None)
    if least is None or least.value is None:
        return None if least is None else least.pair
    choice, at = least.pair, least.value
    for _ in range(STEPS):
        pair = first_pair(look_up(at))
        if pair == choice or pair not in rows or (value := rows[pair].value) is None or value > SLACK * at:
            break
        choice, at = pair, value
    return choice


def _row(pair: Pair, xs: NDArray[np.float64], errors: NDArray[np.float64], target: float, *, whole: bool) -> PlanRow:
    value, low, high = (crossed(xs, curve, target) for curve in errors)
    if whole and value is not None:
        value = float(math.ceil(value))
    reached = value is not None
    met_at_once = reached and not (errors[0] > target).any()
    figures: tuple[float | None, ...] = (target, None, None)
    if met_at_once or not reached:  # what is predicted at that end
        figures = tuple(float(figure) for figure in errors[:, 0 if met_at_once else -1])
    error, error_low, error_high = figures
    return PlanRow(
        protocol=pair[0],
        method=pair[1],
        value=value,
        low=low if reached else None,
        high=(high if high is not None else math.inf) if reached else None,
        error=error,
        error_low=error_low,
        error_high=error_high,
        repetitions=0,
        source="grid",
        met_at_once=met_at_once,
    )


def crossed(xs: NDArray[np.float64], errors: NDArray[np.float64], target: float) -> float | None:
    """Return the x from which on the error stays at or below the target, on straight lines between logarithms.

    >>> crossed(np.array([1.0, 100.0]), np.array([1.0, 0.1]), 0.5 ** 0.5 * 0.1 ** 0.5 * 2 ** 0.5)
    10.0
    """
    above = np.flatnonzero(errors > target)
    if not above.size:
        return float(xs[0])
    last = int(above[-1])
    if last == len(xs) - 1:
        return None
    (u, v), (a, b) = np.log(xs[last : last + 2]), np.log(np.maximum(errors[last : last + 2], 1e-300))
    return round(float(np.exp(u + (v - u) * (a - math.log(target)) / (a - b))), 6)
