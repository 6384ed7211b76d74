"""Look-ups: pairs of protocol and method, ranked by their predicted error in a metric, with the recommended pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from knowledge.describe.features import NAMES
from knowledge.menu import ALIASES, COVERED, DOMAIN, EPSILON, USERS, Labels, applies
from knowledge.model import DATA, Model
from knowledge.policy import FILE, Conditions, Leaf, PolicyCase, leaf_of, tree_for
from knowledge.predict import Frequencies, ModelBlock, PredictedErrors, predicted
from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator._types import FloatArray
from simulator.ranking import MOST, PRACTICAL_RATIO, Cost, Place, places

INTERPOLATED, ASYMPTOTIC, EXTRAPOLATED = "interpolated", "asymptotic", "extrapolated"
SHAPE_FEATURES = ("entropy_gap", "zeros", "skew", "neighbours", "log_variation", "log_displacement")
WIDER = {INTERPOLATED: 1.0, ASYMPTOTIC: 2.0, EXTRAPOLATED: 3.0}  # intervals, in those of interpolated figures
INTERVAL = 1.96  # half width of a 95 % interval, in standard deviations
SAME_METHOD = 0.25  # of the interval of a ratio, for the same method under two protocols: its errors are mostly shared
OVERRULED = 1.1  # over the lowest predicted error: the tree's pair with a higher one is not named
SLACK = 0.02  # tolerance outside the simulated range, as a share of that range


class RangeWarning(UserWarning):
    """A question is outside the simulated range: the figures are extrapolated."""


class LookUpRow(NamedTuple):
    """Predicted error of a pair."""

    protocol: str
    method: str
    # error, low, high: predicted mean error and its 95 % interval, in the unit of the metric
    error: float
    low: float
    high: float
    # ratio, ratio_low, ratio_high: over the error of the best pair, and its 95 % interval; shared errors of the two
    # cancel
    ratio: float
    ratio_low: float
    ratio_high: float
    raw_error: float | None  # predicted error of the protocol's raw estimate, if it has one
    per_category: float  # predicted mean absolute error of a category (frequency), whatever the metric
    by_shape: tuple[float, ...]  # predicted error for each of the histograms asked about
    origin: str  # ``interpolated``: predicted among simulated cells; ``asymptotic`` past them; or ``extrapolated``

    @property
    def pair(self) -> Labels:
        """Protocol and method."""
        return self.protocol, self.method


class LookUp(NamedTuple):
    """Answer of the model to a question."""

    # metric, k, epsilon, n, ordered: the question
    metric: str
    k: int
    epsilon: float
    n: int
    ordered: bool
    rows: tuple[LookUpRow, ...]  # pairs by rising predicted error; pairs that differ by rounding only, in table order
    warnings: tuple[RangeWarning, ...]  # why figures are extrapolated
    missing: tuple[str, ...]  # methods of the menu that the model does not predict (those of other packages)
    # tree, overruled: without data the pair that the decision tree names, where it is there, and whether the model does
    # not tie it with the lowest error, or predicts over 10 % more for it
    tree: Labels | None = None
    overruled: bool = False

    @property
    def best(self) -> LookUpRow:
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
    """Predict the error of each pair for a histogram, without simulating.

    frequencies: as in `knowledge.predict.predicted`.
    epsilon, n: privacy budget per report, and users who report.
    metric: a member of `Provenance.predicted` of the model.
    ordered: whether the categories have an order.
    protocols, methods: restrict the menu; of other packages, protocols are served like any other.
    model: default: the shipped model.
    budgets: of protocols whose budget differs from epsilon.

    Raises ValueError if the model does not predict the metric, the metric needs an order that the domain has not, or no
    pair remains.
    """
    prediction = predicted(frequencies, epsilon, n, protocols, ordered=ordered, model=model, budgets=budgets)
    return rank(prediction, metric, methods)


def rank(prediction: PredictedErrors, metric: str, methods: Iterable[str] | None = None) -> LookUp:
    """Rank the pairs of a prediction by their error in a metric; see `look_up`."""
    if metric not in prediction.metrics:
        raise ValueError(
            f"predictions need one of the metrics {', '.join(prediction.metrics)}, got {metric!r}: give a sample to "
            "simulate"
        )
    ordinary = (name for name, method in POSTPROCESSORS.items() if not method.is_remedy)
    menu = tuple(dict.fromkeys(ordinary if methods is None else methods))
    warnings = range_warnings(prediction.k, prediction.epsilon, prediction.n)
    missing = tuple(name for name in menu if ALIASES.get(name, name) not in COVERED)
    fitting = [name for name in menu if name not in missing and applies(name, metric, ordered=prediction.ordered)]
    parts = _parts(prediction, "l1" if metric == "mae" else metric, fitting, warned=bool(warnings))
    if not parts:
        raise ValueError(
            f"metric {metric} needs a method that goes with it and with the protocols, and is predicted, got "
            f"{', '.join(menu)}: give a sample to simulate"
        )
    rows = _rows(parts, prediction.noises, math.log(prediction.k), per_category=metric == "mae")
    answer = LookUp(
        metric=metric,
        k=prediction.k,
        epsilon=prediction.epsilon,
        n=prediction.n,
        ordered=prediction.ordered,
        rows=rows,
        warnings=warnings,
        missing=missing,
    )
    folder = prediction.models[0].folder
    if prediction.skew is None or not (folder / FILE).exists():  # data have more information than the tree uses
        return answer
    pair = _leaf(answer, prediction.skew, folder)[0].pair
    named = [row for row in rows if row.pair == pair]
    return answer._replace(tree=pair, overruled=_is_overruled(named[0])) if named else answer


def _leaf(answer: LookUp, skew: float, folder: Path) -> tuple[Leaf, Conditions]:
    """Return the leaf of the tree of a metric, and where the figures of the question lie on the way to it.

    Subsets of one value are called randomised response, which is the same channel.
    """
    tree = tree_for(answer.metric, ordered=answer.ordered, folder=folder)
    leaf, conditions = leaf_of(tree, PolicyCase(answer.epsilon, answer.k, answer.n, skew))
    same = PROTOCOLS[leaf.protocol](answer.k, answer.epsilon).same_as
    return replace(leaf, protocol=same or leaf.protocol), conditions


class _Part(NamedTuple):
    """The pairs that a model predicts, with figures of a metric."""

    pairs: tuple[Labels, ...]
    logs: FloatArray  # log errors ``(profiles, pairs)``
    # raw, l1: log error of the raw estimate of each protocol, NaN if there is none, and log error as l1, ``(pairs,)``
    raw: FloatArray
    l1: FloatArray
    # spread, own: standard deviation of the log errors, and of the unshared part within the block, ``(pairs,)``
    spread: FloatArray
    own: FloatArray
    origins: list[str]


def _parts(prediction: PredictedErrors, metric: str, methods: Sequence[str], *, warned: bool) -> list[_Part]:
    """Return the possible pairs, each as predicted by the first model that has the metric."""
    parts: list[_Part] = []
    present: set[Labels] = set()
    for block in prediction.blocks:
        if metric not in block.metrics:
            continue
        pairs = [
            (protocol, method)
            for protocol in dict.fromkeys(protocol for protocol, _ in block.places)
            for method in methods
            if (protocol, ALIASES.get(method, method)) in block.places
            and (protocol, method) not in present
            and (
                protocol not in prediction.noises
                or POSTPROCESSORS[method].accepts(prediction.noises[protocol], prediction.k)
            )
        ]
        if pairs:
            present.update(pairs)
            parts.append(_part(block, metric, tuple(pairs), prediction, warned=warned))
    return parts


def _part(
    block: ModelBlock, metric: str, pairs: tuple[Labels, ...], prediction: PredictedErrors, *, warned: bool
) -> _Part:
    column = block.metrics.index(metric)
    own = [(protocol, ALIASES.get(method, method)) for protocol, method in pairs]
    places = np.array([block.places[pair] for pair in own])
    raw = {protocol: prediction.mean((protocol, "none"), metric) for protocol in dict.fromkeys(p for p, _ in pairs)}
    origins = _origins(prediction.k, block, warned=warned)
    return _Part(
        pairs,
        block.logs[:, places, column],
        np.array([raw[protocol] for protocol, _ in pairs]),
        np.array([prediction.mean(pair, "l1") for pair in own]),
        block.spread[places, column],
        block.own_spread[places, column],
        [
            EXTRAPOLATED if _is_rarely_wrong(prediction.noises.get(protocol)) else origins[at]
            for (protocol, _), at in zip(pairs, block.described[places], strict=True)
        ],
    )


def _rows(
    parts: Sequence[_Part], noises: Mapping[str, Noise], log_k: float, *, per_category: bool
) -> tuple[LookUpRow, ...]:
    """Return the rows of all pairs by rising error; errors over k `per_category`."""
    pairs = [pair for part in parts for pair in part.pairs]
    origins = [origin for part in parts for origin in part.origins]
    by_profile, raw, l1, spread, own = (
        np.concatenate(figures, axis=-1)
        for figures in zip(*((part.logs, part.raw, part.l1, part.spread, part.own) for part in parts), strict=True)
    )
    by_profile = by_profile - log_k * per_category
    order = np.argsort(by_profile.mean(axis=0), kind="stable")
    by_profile, raw, l1 = by_profile[:, order], raw[order] - log_k * per_category, l1[order] - log_k
    spread, own, wider = spread[order], own[order], np.array([WIDER[origin] for origin in origins])[order]
    number = np.repeat(np.arange(len(parts)), [len(part.pairs) for part in parts])[order]
    errors = by_profile.mean(axis=0)
    ratios = errors - errors[0]
    alone = INTERVAL * wider * spread  # half width for one histogram
    width = np.hypot(alone, INTERVAL * by_profile.std(axis=0))
    # No further than the interval of the histogram with the lowest, or the highest error.
    low = np.maximum(errors - width, by_profile.min(axis=0) - alone)
    high = np.minimum(errors + width, by_profile.max(axis=0) + alone)
    # Errors of two models are not shared.
    apart = np.where(number == number[0], np.hypot(own, own[0]), np.hypot(spread, spread[0]))
    apart = INTERVAL * np.hypot(wider * apart, (by_profile - by_profile[:, :1]).std(axis=0))
    sorted_pairs: list[Labels] = [pairs[at] for at in order.tolist()]
    (first, method), *_ = sorted_pairs
    if first in noises:
        apart[[other == method and protocol in noises for protocol, other in sorted_pairs]] *= SAME_METHOD
    apart[0] = 0.0
    figures = np.exp([errors, low, high, ratios, ratios - apart, ratios + apart, raw, l1])
    return tuple(
        LookUpRow(
            *pair,
            error,
            low,
            high,
            ratio,
            ratio_low,
            ratio_high,
            None if math.isnan(raw_error) else raw_error,
            mean_absolute,
            tuple(by_shape),
            origins[at],
        )
        for pair, (error, low, high, ratio, ratio_low, ratio_high, raw_error, mean_absolute), by_shape, at in zip(
            sorted_pairs, figures.T.tolist(), np.exp(by_profile).T.tolist(), order.tolist(), strict=True
        )
    )


def range_warnings(k: int, epsilon: float, n: int) -> tuple[RangeWarning, ...]:
    """Return a warning for each part of the question that the simulated cells do not cover."""
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


def _origins(k: int, block: ModelBlock, *, warned: bool) -> list[str]:
    """Return how figures were made for each row of features ``(P, F)``, from how far they are out of range."""
    if warned:
        return [EXTRAPOLATED] * len(block.outside)
    if k > block.largest:
        return [ASYMPTOTIC] * len(block.outside)
    beyond = block.outside > SLACK
    shape = [NAMES.index(name) for name in SHAPE_FEATURES]
    return [EXTRAPOLATED if row[shape].any() else ASYMPTOTIC if row.any() else INTERPOLATED for row in beyond]


def _is_rarely_wrong(noise: Noise | None) -> bool:
    """Whether less than one report is expected to support a category by chance: models know normal noise alone."""
    return noise is not None and noise.q is not None and noise.n * noise.q < 1


def costs_of(protocols: Iterable[str], k: int, epsilon: float) -> dict[str, Cost]:
    """Return the cost of a report of each protocol."""
    return {name: PROTOCOLS[name](k, epsilon).cost for name in dict.fromkeys(protocols)}


def first_pair(answer: LookUp) -> Labels:
    """Return the pair that a look-up lists first."""
    costs = costs_of((row.protocol for row in answer.rows), answer.k, answer.epsilon)
    return answer.rows[placed(answer, costs)[0].at].pair


def placed(answer: LookUp, costs: Mapping[str, Cost]) -> tuple[Place, ...]:
    """Return the order of the rows of a look-up; see `simulator.ranking.places`.

    A pair is tied if its prediction is within 5 % of the lowest error, or within 25 % and not surely above it. The pair
    that the tree names comes first, unless it is overruled.

    costs: of a report of each protocol.
    """
    rows = answer.rows
    named = [at for at, row in enumerate(rows) if row.pair == answer.tree and not answer.overruled]
    ties = [_is_tied(row) for row in rows]
    return places([row.ratio for row in rows], ties, [costs[row.protocol] for row in rows], *named)


def _is_tied(row: LookUpRow) -> bool:
    return row.ratio < PRACTICAL_RATIO or (row.ratio_low <= 1 and row.ratio <= MOST)


def _is_overruled(row: LookUpRow) -> bool:
    return not _is_tied(row) or row.ratio > OVERRULED


@dataclass(frozen=True)
class TreeReasons:
    """Answer of the decision tree for a look-up."""

    leaf: Leaf
    conditions: Conditions  # where the figures of the question lie on the way to the leaf
    # Predicted error of the leaf's pair over that of the answer's; None where it does not compete
    ratio: float | None

    @property
    def agrees(self) -> bool:
        """Whether the tree's pair is that of the answer, or within 5 % of it."""
        return self.ratio is not None and self.ratio <= PRACTICAL_RATIO


def tree_reasons(answer: LookUp, skew: float, pair: Labels, *, folder: Path = DATA) -> TreeReasons:
    """Compare the recommended pair of a look-up with the tree of its metric, which uses only ε, k, n and skew.

    skew: Zipf-equivalent exponent of the frequencies.

    Raises ValueError if the metric has no tree.
    """
    leaf, conditions = _leaf(answer, skew, folder)
    errors = {row.pair: row.error for row in answer.rows}
    ratio = errors[leaf.pair] / errors[pair] if leaf.pair in errors else None
    return TreeReasons(leaf, conditions, ratio)
