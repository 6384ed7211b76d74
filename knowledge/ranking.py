"""Look-ups: pairs of protocol and method, ranked by their predicted error in one metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from knowledge.describe.features import NAMES
from knowledge.menu import (
    ALIASES,
    DOMAIN,
    EPSILON,
    MEASURED,
    METHODS,
    METRICS,
    SIMULATED_DOMAIN,
    USERS,
    applies,
)
from knowledge.model import Frequencies, Model, Prediction, first_of, noises_of, predict
from simulator import POSTPROCESSORS
from simulator._types import FloatArray, IntArray

INTERPOLATED, ASYMPTOTIC, EXTRAPOLATED = "interpolated", "asymptotic", "extrapolated"
SHAPE_FEATURES = ("entropy_gap", "zeros", "skew", "neighbours", "log_variation", "log_displacement")
WIDER = {INTERPOLATED: 1.0, ASYMPTOTIC: 2.0, EXTRAPOLATED: 3.0}  # intervals, in those of interpolated figures
INTERVAL = 1.96  # half width of a 95 % interval, in standard deviations
SAME_METHOD = 0.25  # of the interval of a ratio, for one method under two protocols: what it errs by is mostly the same
SLACK = 0.02  # how far outside what was simulated, in shares of that range, still counts as inside


class RangeWarning(UserWarning):
    """A question lies outside what was simulated: the figures are extrapolated."""


class Row(NamedTuple):
    """Predicted error of one pair."""

    protocol: str
    method: str
    # error, low, high: predicted mean error and its 95 % interval, in the unit of the metric
    error: float
    low: float
    high: float
    # ratio, ratio_low, ratio_high: over the error of the best pair, and its 95 % interval; what the two have in common
    # cancels
    ratio: float
    ratio_low: float
    ratio_high: float
    raw_error: float  # predicted error of the protocol's raw estimate
    per_category: float  # predicted mean absolute error of a category (frequency), whatever the metric
    origin: str  # ``interpolated``: predicted among simulated cells; ``asymptotic`` past them; or ``extrapolated``


class LookUp(NamedTuple):
    """Answer of the model to one question."""

    # metric, k, epsilon, n, ordered: the question
    metric: str
    k: int
    epsilon: float
    n: int
    ordered: bool
    rows: tuple[Row, ...]  # pairs by rising predicted error; pairs that differ by rounding only, in table order
    warnings: tuple[RangeWarning, ...]  # why figures are extrapolated
    missing: tuple[str, ...]  # methods of the menu that the model does not predict (those of other packages)

    @property
    def best(self) -> Row:
        """The pair with the lowest predicted error."""
        return self.rows[0]


def look_up(
    frequencies: Frequencies,
    epsilon: float,
    n: int,
    metric: str,
    *,
    ordered: bool = True,
    protocols: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    model: Model | None = None,
) -> LookUp:
    """Predict the error of every pair for a histogram, without simulating.

    frequencies: as in `knowledge.model.predict`.
    epsilon, n: privacy budget of one report, and users who report.
    metric: one of `knowledge.menu.METRICS`.
    ordered: whether the categories have an order.
    protocols, methods: restrict the menu; of other packages, protocols are served like any other.
    model: default: the shipped one.

    Raises ValueError if the model does not predict the metric, the metric needs an order that the domain has not, or no
    pair is left.
    """
    prediction = predict(frequencies, noises_of(first_of(frequencies).k, epsilon, n, protocols), model=model)
    return rank(prediction, metric, epsilon=epsilon, n=n, ordered=ordered, methods=methods)


def rank(
    prediction: Prediction,
    metric: str,
    *,
    epsilon: float,
    n: int,
    ordered: bool = True,
    methods: Iterable[str] | None = None,
) -> LookUp:
    """Rank the pairs of a prediction by their error in one metric; see `look_up`."""
    if metric not in METRICS:
        raise ValueError(f"predictions need one of the metrics {', '.join(METRICS)}, got {metric!r}")
    menu = tuple(dict.fromkeys(POSTPROCESSORS if methods is None else methods))
    column = MEASURED.index("l1" if metric == "mae" else metric)
    logs = prediction.logs[..., column] - (math.log(prediction.k) if metric == "mae" else 0.0)
    pairs = _pairs(prediction, [name for name in menu if in_menu(name, metric, ordered=ordered)])
    if not pairs:
        raise ValueError(
            f"metric {metric} needs a method that goes with it and with the protocols, got {', '.join(menu)}"
        )
    protocols, places = (np.array(of) for of in zip(*((row, _place(method)) for row, method in pairs), strict=True))
    order = np.argsort(logs.mean(axis=0)[protocols, places], kind="stable")
    warnings = _warnings(prediction.k, epsilon, n)
    origins = _origins(prediction.k, prediction.outside, warned=bool(warnings))
    return LookUp(
        metric=metric,
        k=prediction.k,
        epsilon=epsilon,
        n=n,
        ordered=ordered,
        rows=_rows(
            prediction, logs, column, [pairs[at] for at in order.tolist()], protocols[order], places[order], origins
        ),
        warnings=warnings,
        missing=tuple(name for name in menu if ALIASES.get(name, name) not in METHODS),
    )


def in_menu(method: str, metric: str, *, ordered: bool) -> bool:
    """Tell whether the model predicts the error of a method in a metric, on a domain with or without an order."""
    return ALIASES.get(method, method) in METHODS and applies(method, metric, ordered=ordered)


def _pairs(prediction: Prediction, methods: Sequence[str]) -> list[tuple[int, str]]:
    """Return the possible pairs: number of the protocol, and method."""
    return [
        (number, method)
        for number, noise in enumerate(prediction.noises.values())
        for method in methods
        if POSTPROCESSORS[method].accepts(noise, prediction.k)
    ]


def _place(method: str) -> int:
    return METHODS.index(ALIASES.get(method, method))


def _rows(
    prediction: Prediction,
    logs: FloatArray,
    column: int,
    pairs: Sequence[tuple[int, str]],
    protocols: IntArray,
    places: IntArray,
    origins: Sequence[str],
) -> tuple[Row, ...]:
    """Return the rows of sorted pairs, from log errors of the metric ``(profiles, protocols, methods)``."""
    model, names = prediction.model, list(prediction.noises)
    by_profile = logs[:, protocols, places]
    errors = by_profile.mean(axis=0)
    ratios = errors - errors[0]
    wider = np.array([WIDER[origin] for origin in origins])[protocols]
    width = INTERVAL * np.hypot(wider * model.spread[places, column], by_profile.std(axis=0))
    own = wider * np.hypot(model.own_spread[places, column], model.own_spread[places[0], column])
    apart = INTERVAL * np.hypot(own, (by_profile - by_profile[:, :1]).std(axis=0))
    apart[places == places[0]] *= SAME_METHOD
    apart[0] = 0.0
    raw = logs.mean(axis=0)[protocols, METHODS.index("none")]
    l1 = prediction.logs[..., MEASURED.index("l1")].mean(axis=0)[protocols, places] - math.log(prediction.k)
    figures = np.exp([errors, errors - width, errors + width, ratios, ratios - apart, ratios + apart, raw, l1])
    return tuple(
        Row._make((names[number], method, *of_pair, origins[number]))
        for (number, method), of_pair in zip(pairs, figures.T.tolist(), strict=True)
    )


def _warnings(k: int, epsilon: float, n: int) -> tuple[RangeWarning, ...]:
    """Return one warning for each part of the question that the simulated cells do not cover."""
    checks = (("epsilon", epsilon, EPSILON), ("k", k, DOMAIN), ("n", n, USERS))
    return tuple(
        RangeWarning(
            f"predictions cover {name} from {low:,g} to {_plain(high)}, got {_plain(value)}: the errors are "
            "extrapolated"
        )
        for name, value, (low, high) in checks
        if not low <= value <= high
    )


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _origins(k: int, outside: FloatArray, *, warned: bool) -> list[str]:
    """Return for each protocol how its figures were made, from how far its features ``(P, F)`` are out of range."""
    if warned:
        return [EXTRAPOLATED] * len(outside)
    if k > SIMULATED_DOMAIN:
        return [ASYMPTOTIC] * len(outside)
    beyond = outside > SLACK
    shape = [NAMES.index(name) for name in SHAPE_FEATURES]
    return [EXTRAPOLATED if row[shape].any() else ASYMPTOTIC if row.any() else INTERPOLATED for row in beyond]
