"""Look-ups: pairs of protocol and method, ranked by their predicted error in one metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from knowledge.describe.features import NAMES
from knowledge.menu import ALIASES, COVERED, DOMAIN, EPSILON, USERS, Labels, applies
from knowledge.model import Block, Frequencies, Model, Prediction, predicted
from knowledge.policy import FILE, Case, leaf_of, tree_for
from simulator import POSTPROCESSORS, Noise
from simulator._types import FloatArray
from simulator.ranking import PRACTICAL_RATIO

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
    raw_error: float | None  # predicted error of the protocol's raw estimate, if it has one
    per_category: float  # predicted mean absolute error of a category (frequency), whatever the metric
    by_shape: tuple[float, ...]  # predicted error for each of the histograms asked about
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
    # tree, overruled: without data the pair that the decision tree names, where it is there, and whether the model is
    # sure that it is worse than the lowest error by more than 5 %
    tree: Labels | None = None
    overruled: bool = False

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
    budgets: Mapping[str, float] | None = None,
) -> LookUp:
    """Predict the error of every pair for a histogram, without simulating.

    frequencies: as in `knowledge.model.predict`.
    epsilon, n: privacy budget of one report, and users who report.
    metric: one of `Provenance.predicted` of the model.
    ordered: whether the categories have an order.
    protocols, methods: restrict the menu; of other packages, protocols are served like any other.
    model: default: the shipped one.
    budgets: of protocols that have another one than the rest.

    Raises ValueError if the model does not predict the metric, the metric needs an order that the domain has not, or no
    pair is left.
    """
    prediction = predicted(frequencies, epsilon, n, protocols, ordered=ordered, model=model, budgets=budgets)
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
    if metric not in prediction.metrics:
        raise ValueError(
            f"predictions need one of the metrics {', '.join(prediction.metrics)}, got {metric!r}: give a sample to "
            "simulate"
        )
    ordinary = (name for name, method in POSTPROCESSORS.items() if not method.is_remedy)
    menu = tuple(dict.fromkeys(ordinary if methods is None else methods))
    warnings = range_warnings(prediction.k, epsilon, n)
    fitting = [name for name in menu if in_menu(name, metric, ordered=ordered)]
    parts = _parts(prediction, "l1" if metric == "mae" else metric, fitting, warned=bool(warnings))
    if not parts:
        raise ValueError(
            f"metric {metric} needs a method that goes with it and with the protocols, and is predicted, got "
            f"{', '.join(menu)}: give a sample to simulate"
        )
    rows = _rows(parts, prediction.noises, math.log(prediction.k), per_category=metric == "mae")
    named = _by_tree(prediction, metric, rows, Case(epsilon, prediction.k, n, prediction.skew or 0.0), ordered=ordered)
    return LookUp(
        metric=metric,
        k=prediction.k,
        epsilon=epsilon,
        n=n,
        ordered=ordered,
        rows=rows,
        warnings=warnings,
        missing=tuple(name for name in menu if ALIASES.get(name, name) not in COVERED),
        tree=None if named is None else (named.protocol, named.method),
        overruled=named is not None and named.ratio_low > PRACTICAL_RATIO,
    )


def _by_tree(prediction: Prediction, metric: str, rows: Iterable[Row], case: Case, *, ordered: bool) -> Row | None:
    """Return the row of the pair that the tree names; None with data, which say more, and where it is not there."""
    folder = prediction.models[0].folder
    if prediction.skew is None or not (folder / FILE).exists():
        return None
    leaf, _ = leaf_of(tree_for(metric, ordered=ordered, folder=folder), case)
    return next((row for row in rows if (row.protocol, row.method) == leaf.pair), None)


def in_menu(method: str, metric: str, *, ordered: bool) -> bool:
    """Tell whether some model predicts the error of a method in a metric, on a domain with or without an order."""
    return ALIASES.get(method, method) in COVERED and applies(method, metric, ordered=ordered)


class _Part(NamedTuple):
    """The pairs that one model predicts, with figures of one metric."""

    pairs: tuple[Labels, ...]
    logs: FloatArray  # log errors ``(profiles, pairs)``
    # raw, l1: log error of the raw estimate of each protocol, NaN without one, and log error as l1, ``(pairs,)``
    raw: FloatArray
    l1: FloatArray
    # spread, own: standard deviation of the log errors, and of what is not shared within the part, ``(pairs,)``
    spread: FloatArray
    own: FloatArray
    origins: list[str]


def _parts(prediction: Prediction, metric: str, methods: Sequence[str], *, warned: bool) -> list[_Part]:
    """Return the possible pairs, each as predicted by the first model that has the metric."""
    parts: list[_Part] = []
    present: set[Labels] = set()
    for block in prediction.blocks:
        if metric not in block.metrics:
            continue
        pairs = [
            (protocol, method)
            for protocol in block.protocols
            for method in methods
            if (protocol, ALIASES.get(method, method)) in block.places
            and (protocol, method) not in present
            and (protocol not in prediction.noises or _fits(method, prediction, protocol))
        ]
        if pairs:
            present.update(pairs)
            parts.append(_part(block, metric, tuple(pairs), prediction, warned=warned))
    return parts


def _fits(method: str, prediction: Prediction, protocol: str) -> bool:
    return POSTPROCESSORS[method].accepts(prediction.noises[protocol], prediction.k)


def _part(block: Block, metric: str, pairs: tuple[Labels, ...], prediction: Prediction, *, warned: bool) -> _Part:
    column = block.metrics.index(metric)
    own = [(protocol, ALIASES.get(method, method)) for protocol, method in pairs]
    places = np.array([block.places[pair] for pair in own])
    raw = {protocol: prediction.mean((protocol, "none"), metric) for protocol in dict.fromkeys(p for p, _ in pairs)}
    origins = _origins(prediction.k, block, warned=warned)
    l1 = block.means[places, block.metrics.index("l1")]
    first = prediction.blocks[0]
    if block is not first:
        for place, pair in enumerate(own):
            if pair in first.places:  # asked for another metric, the first answers
                l1[place] = first.means[first.places[pair], first.metrics.index("l1")]
    return _Part(
        pairs,
        block.logs[:, places, column],
        np.array([raw[protocol] for protocol, _ in pairs]),
        l1,
        block.spread[places, column],
        block.own_spread[places, column],
        [origins[at] for at in block.described[places]],
    )


def _rows(parts: Sequence[_Part], noises: Mapping[str, Noise], log_k: float, *, per_category: bool) -> tuple[Row, ...]:
    """Return the rows of all pairs by rising error; errors over k `per_category`."""
    pairs = [pair for part in parts for pair in part.pairs]
    origins = [origin for part in parts for origin in part.origins]
    by_profile = np.concatenate([part.logs for part in parts], axis=1) - log_k * per_category
    order = np.argsort(by_profile.mean(axis=0), kind="stable")
    raw, l1, spread, own, wider = (
        np.concatenate(figures)[order]
        for figures in (
            [part.raw - log_k * per_category for part in parts],
            [part.l1 - log_k for part in parts],
            [part.spread for part in parts],
            [part.own for part in parts],
            [[WIDER[origin] for origin in origins]],
        )
    )
    number = np.repeat(np.arange(len(parts)), [len(part.pairs) for part in parts])[order]
    by_profile = by_profile[:, order]
    errors = by_profile.mean(axis=0)
    ratios = errors - errors[0]
    width = INTERVAL * np.hypot(wider * spread, by_profile.std(axis=0))
    # What two models err by is not shared.
    apart = np.where(number == number[0], np.hypot(own, own[0]), np.hypot(spread, spread[0]))
    apart = INTERVAL * np.hypot(wider * apart, (by_profile - by_profile[:, :1]).std(axis=0))
    sorted_pairs = [pairs[at] for at in order.tolist()]
    (first, method), *_ = sorted_pairs
    if first in noises:
        apart[[other == method and protocol in noises for protocol, other in sorted_pairs]] *= SAME_METHOD
    apart[0] = 0.0
    figures = np.exp([errors, errors - width, errors + width, ratios, ratios - apart, ratios + apart, raw, l1])
    each = np.exp(by_profile).T.tolist()
    return tuple(
        Row._make(
            (
                *pair,
                *of_pair[:6],
                None if math.isnan(of_pair[6]) else of_pair[6],
                of_pair[7],
                tuple(shapes),
                origins[at],
            )
        )
        for pair, of_pair, shapes, at in zip(sorted_pairs, figures.T.tolist(), each, order.tolist(), strict=True)
    )


def range_warnings(k: int, epsilon: float, n: int) -> tuple[RangeWarning, ...]:
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


def _origins(k: int, block: Block, *, warned: bool) -> list[str]:
    """Return how figures were made for each row of features ``(P, F)``, from how far they are out of range."""
    if warned:
        return [EXTRAPOLATED] * len(block.outside)
    if k > block.largest:
        return [ASYMPTOTIC] * len(block.outside)
    beyond = block.outside > SLACK
    shape = [NAMES.index(name) for name in SHAPE_FEATURES]
    return [EXTRAPOLATED if row[shape].any() else ASYMPTOTIC if row.any() else INTERPOLATED for row in beyond]
