"""The first answer of a plan, in a moment: the grid's error along the unknown, and where it crosses the target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from advisor.plans.question import PlanRow, Question
from advisor.question.request import metric_settings
from knowledge import grid
from knowledge.menu import EPSILON, METRICS, USERS
from knowledge.profile import profile_of
from simulator.ranking import Pair

PLACES = 17
ENDS = {"n": USERS, "epsilon": EPSILON}  # of what the grid covers


@dataclass(frozen=True, eq=False)
class Guessed:
    """What the grid says along the unknown.

    Attributes
    ----------
    xs
        Values of the unknown, rising, ``(places,)``.
    errors
        For each pair its predicted error and the ends of the 95 % interval ``(3, places)``.
    rows
        What each pair needs, by the grid.
    why_not
        Why the grid says nothing, if so.
    """

    xs: NDArray[np.float64]
    errors: dict[Pair, NDArray[np.float64]]
    rows: tuple[PlanRow, ...]
    why_not: str = ""

    @property
    def first(self) -> float | None:
        """The first answer: the least value by which any pair is predicted to reach the target."""
        return min((row.value for row in self.rows if row.value is not None), default=None)

    def curve(self, pair: Pair) -> tuple[tuple[float, float, bool], ...]:
        """Return (x, predicted error, False) of a pair."""
        if pair not in self.errors:
            return ()
        return tuple(
            (x, error, False) for x, error in zip(self.xs.tolist(), self.errors[pair][0].tolist(), strict=True)
        )


def first_answers(question: Question) -> Guessed:
    """Look every pair up along the range that the grid covers; nothing where it does not know the metric."""
    xs = np.geomspace(*ENDS[question.unknown], PLACES)
    if question.metric not in METRICS:
        return Guessed(xs, {}, (), f"it does not know the metric {question.metric}")
    usual = metric_settings({}, question.known.k)
    if question.metric in ("topk", "set", "kl", "js") and question.metric_options != usual:
        return Guessed(xs, {}, (), f"it knows {question.metric} in its usual setting only")
    figures: dict[Pair, list[tuple[float, float, float]]] = {}
    profile = None
    for x in xs.tolist():
        epsilon, n = question.at(x)
        if profile is None or question.n is None:
            profile = profile_of(question.known.weights, n)
        try:
            found = grid.look_up(
                profile, epsilon, n, question.metric,
                ordered=question.known.ordered, protocols=question.protocols, methods=question.methods,
            )  # fmt: skip
        except ValueError as error:
            return Guessed(xs, {}, (), str(error))
        for row in found.rows:
            figures.setdefault((row.protocol, row.method), []).append((row.error, row.low, row.high))
    errors = {pair: np.array(values).T for pair, values in figures.items() if len(values) == len(xs)}
    whole = question.n is None
    rows = (_row(pair, xs, values, question.target, whole=whole) for pair, values in errors.items())
    return Guessed(xs, errors, tuple(rows))


def _row(pair: Pair, xs: NDArray[np.float64], errors: NDArray[np.float64], target: float, *, whole: bool) -> PlanRow:
    value, low, high = (crossed(xs, curve, target) for curve in errors)
    if whole and value is not None:
        value = float(math.ceil(value))
    reached = value is not None
    met_at_once = reached and not (errors[0] > target).any()
    figures: tuple[float | None, ...] = (target, None, None)
    if met_at_once or not reached:  # what is predicted at that end of the grid
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
