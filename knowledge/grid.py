"""Look-up: predicted errors of every (protocol, method) pair for a histogram, from the shipped grid."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowledge.arrays import read_arrays
from knowledge.assumed import AssumedSkew
from knowledge.by_skew import SkewSurface
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
from knowledge.network import Network
from knowledge.profile import Profile
from knowledge.yardstick import log_yardstick
from simulator import POSTPROCESSORS, PROTOCOLS, Noise
from simulator._types import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(__file__).parent / "data"
SKEWS = "skews_"  # begins the names of the arrays of the surface for skews
RANGES = ("low", "high", "spread", "own_spread")  # arrays of a surface that belong to no network
INTERPOLATED, ASYMPTOTIC, EXTRAPOLATED = "interpolated", "asymptotic", "extrapolated"
SHAPE_FEATURES = ("entropy_gap", "zeros", "skew", "neighbours", "log_variation", "log_displacement")
WIDER = {INTERPOLATED: 1.0, ASYMPTOTIC: 2.0, EXTRAPOLATED: 3.0}  # intervals, in those of interpolated figures
INTERVAL = 1.96  # half width of a 95 % interval, in standard deviations
SAME_METHOD = 0.25  # of the interval of a ratio, for one method under two protocols: what it errs by is mostly the same
SLACK = 0.02  # how far outside what was simulated, in shares of that range, still counts as inside


class RangeWarning(UserWarning):
    """A question lies outside what the grid covers: the figures are extrapolated."""


class Row(NamedTuple):
    """Predicted error of one pair.

    Attributes
    ----------
    protocol, method
        The pair.
    error, low, high
        Predicted mean error and its 95 % interval, in the unit of the metric.
    ratio, ratio_low, ratio_high
        Over the error of the best pair, and its 95 % interval; what the two have in common cancels.
    raw_error
        Predicted error of the protocol's raw estimate.
    per_category
        Predicted mean absolute error of a category (frequency), whatever the metric.
    source
        ``interpolated`` between simulated cells, ``asymptotic`` past them, or ``extrapolated``.
    """

    protocol: str
    method: str
    error: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    raw_error: float
    per_category: float
    source: str


class LookUp(NamedTuple):
    """Answer of the grid to one question.

    Attributes
    ----------
    metric, k, epsilon, n, ordered
        The question.
    rows
        Pairs by rising predicted error; pairs that differ by rounding only, in table order.
    warnings
        Why figures are extrapolated.
    unknown
        Methods asked for that the grid has no errors of (those of other packages).
    """

    metric: str
    k: int
    epsilon: float
    n: int
    ordered: bool
    rows: tuple[Row, ...]
    warnings: tuple[RangeWarning, ...]
    unknown: tuple[str, ...]

    @property
    def best(self) -> Row:
        """The pair with the lowest predicted error."""
        return self.rows[0]


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays, which do not compare to one truth
class Grid:
    """The simulated grid, as the surface fitted to it.

    Attributes
    ----------
    network
        Features to log errors in units of the yardstick.
    low, high
        Range of each feature in the simulated cells, ``(F,)``.
    spread, own_spread
        Standard deviation of the predicted log error on cells left out, ``(methods, metrics)``, and of the part of it
        that a method does not share with the others.
    provenance
        How the data was made.
    skews
        The surface for assumed skews; None: their histograms are described like any others.
    """

    network: Network
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    own_spread: FloatArray
    provenance: Mapping[str, Any]
    skews: SkewSurface | None = None

    def log_errors(self, profiles: Sequence[Profile], noises: Sequence[Noise]) -> tuple[FloatArray, FloatArray]:
        """Return log errors ``(profiles, P, methods, metrics)``, and by how much features are out of range ``(P, F)``.

        The largest excess of all profiles counts.
        """
        from knowledge.features import describe  # most questions are of a skew, and need none of it

        description = describe(profiles, noises)
        features = description.features
        inside = np.clip(features, self.low, self.high)
        flat = inside.reshape(-1, features.shape[-1])
        outside = np.abs(features - inside).max(axis=0) / (self.high - self.low)
        logs = self.network(flat).reshape(len(profiles), len(noises), len(METHODS), len(MEASURED))
        logs += log_yardstick(description)
        return logs, outside


Asked = Profile | Sequence[Profile] | AssumedSkew


def first_of(asked: Asked) -> Profile | AssumedSkew:
    """Return what has the domain size and the skew of a question."""
    return asked if isinstance(asked, Profile | AssumedSkew) else asked[0]


def load(folder: Path = DATA) -> Grid:
    """Load a grid from its folder; the shipped one by default. Each folder is read once.

    Raises
    ------
    FileNotFoundError
        If the folder holds no grid.
    """
    return _load(folder)


@lru_cache(maxsize=4)
def _load(folder: Path) -> Grid:
    arrays = read_arrays(folder)
    return to_grid(arrays, json.loads((folder / "provenance.json").read_text(encoding="utf-8")))


def to_grid(arrays: dict[str, NDArray[np.float32]], provenance: Mapping[str, Any]) -> Grid:
    """Return the grid that arrays hold, which are used up."""
    skews = {name.removeprefix(SKEWS): arrays.pop(name) for name in list(arrays) if name.startswith(SKEWS)}
    of_skews = SkewSurface(**_taken(skews), network=Network.from_arrays(skews)) if skews else None
    return Grid(**_taken(arrays), network=Network.from_arrays(arrays), provenance=provenance, skews=of_skews)


def _taken(arrays: dict[str, NDArray[np.float32]]) -> dict[str, FloatArray]:
    """Take what belongs to no network out of the arrays."""
    return {name: arrays.pop(name).astype(np.float64) for name in RANGES}


def noises_of(k: int, epsilon: float, n: int, protocols: Iterable[str] | None = None) -> dict[str, Noise]:
    """Return the noise of protocols by name; of all in the table by default."""
    return {name: PROTOCOLS[name](k, epsilon).noise(n) for name in (PROTOCOLS if protocols is None else protocols)}


def look_up(
    profile: Asked,
    epsilon: float,
    n: int,
    metric: str,
    *,
    ordered: bool = True,
    protocols: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    grid: Grid | None = None,
) -> LookUp:
    """Predict the error of every pair for a histogram, without simulating.

    Parameters
    ----------
    profile
        The histogram; see `knowledge.profile.profile_of`. Several of one k, when it is not known: their log errors are
        averaged, and what they differ by goes into the intervals. Or a skew that is assumed, for several that have it.
    epsilon, n
        Privacy budget of one report, and users who report.
    metric
        One of `knowledge.menu.METRICS`.
    ordered
        Whether the categories have an order.
    protocols, methods
        Restrict the menu; of other packages, protocols are served like any other.
    grid
        Default: the shipped one.

    Raises
    ------
    ValueError
        If the grid does not know the metric, the metric needs an order that the domain has not, or no pair is left.
    """
    k = first_of(profile).k
    return look_up_noises(
        profile,
        noises_of(k, epsilon, n, protocols),
        metric,
        epsilon=epsilon,
        n=n,
        ordered=ordered,
        methods=methods,
        grid=grid,
    )


@dataclass(frozen=True, eq=False, repr=False)  # holds arrays
class Prediction:
    """What the surface says of every method and metric, for one question: made once, asked for several metrics.

    Attributes
    ----------
    k
        Domain size.
    noises
        Noise of each protocol.
    logs
        Log errors ``(profiles, protocols, methods, metrics)``.
    outside
        By how much each feature is out of range, ``(protocols, F)``.
    spread, own_spread
        As those of a `Grid`; of a skew that was learned, with what the learning misses.
    """

    k: int
    noises: Mapping[str, Noise]
    logs: FloatArray
    outside: FloatArray
    spread: FloatArray
    own_spread: FloatArray


def predict(profile: Asked, noises: Mapping[str, Noise], *, grid: Grid | None = None) -> Prediction:
    """Predict the errors of every method for protocols given by their noise; see `look_up`."""
    return predict_several(profile, [noises], grid=grid)[0]


def predict_several(
    profile: Asked, noises: Sequence[Mapping[str, Noise]], *, grid: Grid | None = None
) -> tuple[Prediction, ...]:
    """Predict as `predict` does for several sets of protocols; for a known histogram in a fraction of the time."""
    known = load() if grid is None else grid
    if isinstance(profile, AssumedSkew):
        sets = [_of_skew(known, profile, tuple(by_name.values())) for by_name in noises]
    else:
        profiles = (profile,) if isinstance(profile, Profile) else tuple(profile)
        said = _of_profiles(known, profiles, tuple(noise for by_name in noises for noise in by_name.values()))
        ends = list(accumulate(len(by_name) for by_name in noises))
        parts = [slice(end - len(by_name), end) for by_name, end in zip(noises, ends, strict=True)]
        sets = [said._replace(logs=said.logs[:, part], outside=said.outside[part]) for part in parts]
    return tuple(Prediction(first_of(profile).k, by_name, *said) for by_name, said in zip(noises, sets, strict=True))


class _Said(NamedTuple):
    """What a `Prediction` holds, but for the question."""

    logs: FloatArray
    outside: FloatArray
    spread: FloatArray
    own_spread: FloatArray

    def kept(self) -> _Said:
        """Return this, not to be written to."""
        for array in self:
            array.flags.writeable = False
        return self


@lru_cache(maxsize=64)  # people ask for one metric after another; a prediction serves them all
def _of_profiles(known: Grid, profiles: tuple[Profile, ...], noises: tuple[Noise, ...]) -> _Said:
    return _Said(*known.log_errors(profiles, noises), known.spread, known.own_spread).kept()


@lru_cache(maxsize=64)
def _of_skew(known: Grid, of: AssumedSkew, noises: tuple[Noise, ...]) -> _Said:
    """Return what was learned of a skew, with what that misses in the spreads; if it was not learned, describe."""
    logs = None if known.skews is None else known.skews.log_errors(of, noises)
    if known.skews is None or logs is None:
        return _of_profiles(known, of.profiles(max(noise.n for noise in noises)), noises)
    return _Said(
        logs,
        np.zeros((len(noises), len(known.low))),
        np.hypot(known.spread, known.skews.spread),
        np.hypot(known.own_spread, known.skews.own_spread),
    ).kept()


def look_up_noises(
    profile: Asked,
    noises: Mapping[str, Noise],
    metric: str,
    *,
    epsilon: float,
    n: int,
    ordered: bool = True,
    methods: Iterable[str] | None = None,
    grid: Grid | None = None,
) -> LookUp:
    """Predict the error of every pair as `look_up` does, for protocols given by their noise."""
    _check_metric(metric)
    prediction = predict(profile, noises, grid=grid)
    return rank(prediction, metric, epsilon=epsilon, n=n, ordered=ordered, methods=methods)


def _check_metric(metric: str) -> None:
    if metric not in METRICS:
        raise ValueError(f"the grid knows the metrics {', '.join(METRICS)}, got {metric!r}")


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
    _check_metric(metric)
    wanted = tuple(dict.fromkeys(POSTPROCESSORS if methods is None else methods))
    k, noises, outside = prediction.k, prediction.noises, prediction.outside
    column = MEASURED.index("l1" if metric == "mae" else metric)
    every = prediction.logs[..., column] - (math.log(k) if metric == "mae" else 0.0)
    logs = every.sum(axis=0) / len(every)
    listed = [
        method
        for method in wanted
        if ALIASES.get(method, method) in METHODS and applies(method, metric, ordered=ordered)
    ]
    tests = [POSTPROCESSORS[method].fits for method in listed]
    possible = [[fits is None or fits(noise, k) for fits in tests] for noise in noises.values()]
    in_rows, chosen = np.nonzero(np.array(possible).reshape(len(noises), len(listed)))
    if not len(chosen):
        raise ValueError(f"no method asked for goes with the protocols asked for and the metric {metric}")
    in_logs = np.array([METHODS.index(ALIASES.get(method, method)) for method in listed])
    order = np.argsort(logs[in_rows, in_logs[chosen]], kind="stable")
    in_rows, chosen = in_rows[order], chosen[order]
    places = in_logs[chosen]
    warnings = _warnings(k, epsilon, n)
    sources = _sources(k, outside, warned=bool(warnings))
    ranked = logs[in_rows, places]
    by_shape = every[:, in_rows, places]
    wider = np.array([WIDER[source] for source in sources])[in_rows]
    width = INTERVAL * np.hypot(wider * prediction.spread[places, column], _deviation(by_shape))
    own = prediction.own_spread[places, column]
    apart = INTERVAL * np.hypot(wider * np.hypot(own, own[0]), _deviation(by_shape - by_shape[:, :1]))
    apart[places == places[0]] *= SAME_METHOD
    apart[0] = 0.0
    over = ranked - ranked[0]
    figures = np.exp([ranked, ranked - width, ranked + width, over, over - apart, over + apart])
    protocols, numbers, l1 = list(noises), in_rows.tolist(), prediction.logs[..., MEASURED.index("l1")]
    columns = (
        [protocols[number] for number in numbers],
        [listed[number] for number in chosen.tolist()],
        *figures.tolist(),
        np.exp(logs[:, 0])[in_rows].tolist(),
        (np.exp(l1[:, in_rows, places].sum(axis=0) / len(l1)) / k).tolist(),
        [sources[number] for number in numbers],
    )
    return LookUp(
        metric=metric,
        k=k,
        epsilon=epsilon,
        n=n,
        ordered=ordered,
        rows=tuple(map(Row._make, zip(*columns, strict=True))),
        warnings=warnings,
        unknown=tuple(method for method in wanted if ALIASES.get(method, method) not in METHODS),
    )


def _deviation(values: FloatArray) -> FloatArray:
    """Return the standard deviation over the first axis; `numpy.std` takes three times as long."""
    centred = values - values.sum(axis=0) / len(values)
    centred *= centred
    return np.sqrt(centred.sum(axis=0) / len(values))


def _warnings(k: int, epsilon: float, n: int) -> tuple[RangeWarning, ...]:
    """Return one warning for each part of the question that the grid does not cover."""
    checks = (("epsilon", epsilon, EPSILON), ("k", k, DOMAIN), ("n", n, USERS))
    return tuple(
        RangeWarning(
            f"the grid covers {name} from {low:,g} to {_plain(high)}, got {_plain(value)}: the errors are extrapolated"
        )
        for name, value, (low, high) in checks
        if not low <= value <= high
    )


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _sources(k: int, outside: FloatArray, *, warned: bool) -> list[str]:
    """Return for each protocol how its figures were found, from how far its features ``(P, F)`` are out of range."""
    if warned:
        return [EXTRAPOLATED] * len(outside)
    if k > SIMULATED_DOMAIN:
        return [ASYMPTOTIC] * len(outside)
    beyond = outside > SLACK
    if not beyond.any():
        return [INTERPOLATED] * len(outside)
    from knowledge.features import NAMES  # few questions come here, and none of a skew that was learned

    past = np.logical_or.reduce(beyond, axis=1)
    new_shape = np.logical_or.reduce(beyond[:, [NAMES.index(name) for name in SHAPE_FEATURES]], axis=1)
    return [
        EXTRAPOLATED if new else ASYMPTOTIC if is_past else INTERPOLATED
        for new, is_past in zip(new_shape.tolist(), past.tolist(), strict=True)
    ]
