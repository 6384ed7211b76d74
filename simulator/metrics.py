"""Error metrics: estimates ``(..., k)`` against the true frequencies ``(k,)``, with an error per estimate."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from simulator._types import FloatArray, IntArray
from simulator.methods.simplex import shares
from simulator.places import Places
from simulator.seeding import rng_for
from simulator.transport import differences, transports

KL_MIX = 1e-4
TOP_SHARE = 0.05
DECILES = np.arange(1, 10) / 10
ROUNDING = 1e-10  # tolerance of a running sum against a level, less than the share of a single user
SET_SHARE = 0.1
Sets: TypeAlias = tuple[tuple[int, ...], ...] | None  # the places of the members of each
CLIPPED_SETS, CLIPPED_RANGES = 256, 1024  # sampled queries that measure the effect of clipping each answer


@dataclass(frozen=True)
class Metric:
    """An error metric; lower is better and 0 is perfect. All that follows its function is given by keyword.

    Attributes
    ----------
    name, title
        Key in the table, and the metric in words.
    function
        ``function(estimate (..., k), truth (k,), **options) -> (...)``.
    unit
        Unit of the error, for people.
    ordered_only
        Whether the metric needs an ordered domain.
    clipped
        For query metrics: the same error with query answers below 0 replaced by 0 (the `post_pos` method).
    options
        Settings passed on to the functions; see `with_options`.
    aliases
        Other names, in small letters without hyphens and underscores.
    degree
        How the error grows with the distance between estimate and truth: 1 for a distance, 2 for squared errors and
        for divergences, which are squares of a distance near 0.
    same_order_as
        Another metric that orders estimates alike, as this one is a multiple or a root of it: ``"all"`` omits this
        metric.
    """

    name: str
    title: str
    function: Callable[..., FloatArray]
    _: KW_ONLY
    unit: str
    ordered_only: bool = False
    clipped: Callable[..., FloatArray] | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    degree: int = 1
    same_order_as: str = ""
    aliases: tuple[str, ...] = ()

    def __call__(self, estimate: FloatArray, truth: FloatArray) -> FloatArray:
        """Return the error of each estimate ``(..., k)`` against `truth` ``(k,)``."""
        return self.function(estimate, truth, **_accepted(self.function, self.options))

    def clipped_error(self, estimate: FloatArray, truth: FloatArray) -> FloatArray:
        """Return the error when negative query answers are replaced by 0.

        Raises
        ------
        ValueError
            If the metric asks no queries.
        """
        if self.clipped is None:
            raise ValueError(f"metric {self.name} has no query answers to clip")
        return self.clipped(estimate, truth, **_accepted(self.clipped, self.options))

    def with_options(self, **options: Any) -> Metric:
        """Return the metric with those of the `options` it knows.

        These are ``mix``, ``top_values``, ``set_share``, ``sets``, ``seed``, and ``ground``, a `Places`.
        """
        accepted = _accepted(self.function, options)
        if self.clipped is not None:
            accepted |= _accepted(self.clipped, options)
        return replace(self, options={**self.options, **accepted})

    @property
    def takes_ground(self) -> bool:
        """Whether there is a ground distance that the error can be measured with, by the option ``ground``."""
        return "ground" in _parameters(self.function)

    @property
    def by_rows(self) -> bool:
        """Whether each estimate ``(..., k)`` can be compared with a separate truth in one call."""
        return self.function in _BY_ROWS and "ground" not in self.options


def _accepted(function: Callable[..., FloatArray], options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if name in _parameters(function)}


@lru_cache(maxsize=64)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def l1(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the sum of absolute errors (frequency)."""
    return np.abs(estimate - truth).sum(axis=-1)


def mae(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the mean absolute error (frequency per category). The LDP3 tables print this under the name l1."""
    return np.abs(estimate - truth).mean(axis=-1)


def tv(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the total variation distance, which is half of `l1` (frequency)."""
    return l1(estimate, truth) / 2


def mse(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the mean squared error (frequency squared)."""
    return ((estimate - truth) ** 2).mean(axis=-1)


def l2(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the Euclidean distance (frequency)."""
    return np.sqrt(((estimate - truth) ** 2).sum(axis=-1))


def kl(estimate: FloatArray, truth: FloatArray, mix: float = KL_MIX) -> FloatArray:
    """Return the Kullback-Leibler divergence of the truth from the repaired estimate (nats).

    Estimates have zeros and may not sum to 1, so they are clipped at 0, renormalised, and mixed with the uniform
    distribution at weight `mix`. Leaving the zeros out instead would reward zeroing; at weight 0 they cost infinitely
    much.
    """
    return _divergence(truth, _repaired(estimate, mix))


def js(estimate: FloatArray, truth: FloatArray, mix: float = KL_MIX) -> FloatArray:
    """Return the Jensen-Shannon divergence from the repaired estimate (nats, at most ln 2); repair as in `kl`."""
    repaired = _repaired(estimate, mix)
    middle = (repaired + truth) / 2
    return (_divergence(np.broadcast_to(truth, repaired.shape), middle) + _divergence(repaired, middle)) / 2


def _repaired(estimate: FloatArray, mix: float) -> FloatArray:
    return (1 - mix) * shares(np.maximum(estimate, 0.0)) + mix / estimate.shape[-1]


def _divergence(a: FloatArray, b: FloatArray) -> FloatArray:
    occurs = np.broadcast_to(a > 0, np.broadcast_shapes(a.shape, b.shape))
    ratio = np.divide(a, b, out=np.full(occurs.shape, np.inf), where=b > 0)  # infinite only where b is 0 but a is not
    total = (a * np.log(ratio, out=np.zeros(occurs.shape), where=occurs)).sum(axis=-1)
    return np.maximum(total, 0.0)  # rounding can leave -1e-17 for equal distributions


def emd(estimate: FloatArray, truth: FloatArray, ground: Places | None = None) -> FloatArray:
    """Return the earth mover's distance: of categories in a row (bins), or of places (unit of their `ground` distance).

    In a row the sum of absolute differences of the two running sums, which is a defined penalty where the estimate does
    not sum to 1; of places within proven bounds, see `simulator.transport.transport`.
    """
    if ground is not None:
        return _transported(estimate, truth, ground)[0]
    return np.abs(np.cumsum(estimate - truth, axis=-1)).sum(axis=-1)


def emd_slack(estimate: FloatArray, truth: FloatArray, ground: Places) -> FloatArray:
    """Return how far off, relatively, `emd` of places can be at most."""
    return _transported(estimate, truth, ground)[1]


def _transported(estimate: FloatArray, truth: FloatArray, ground: Places) -> FloatArray:
    """Return the distances of estimates ``(..., k)``, and how far off each can be: ``(2, ...)``."""
    rows = differences(estimate, truth)
    return _transports(rows.tobytes(), ground).reshape(2, *np.shape(estimate)[:-1])


@lru_cache(maxsize=16)  # so that the slack of a block of estimates costs nothing once the distances are known
def _transports(rows: bytes, ground: Places) -> FloatArray:
    value, _, high = transports(np.frombuffer(rows, dtype=np.float64).reshape(-1, ground.k), ground)
    return np.stack([value, np.divide(high, value, out=np.ones(len(value)), where=value > 0) - 1])


def ks(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the Kolmogorov-Smirnov distance: the largest absolute difference of the two running sums (frequency).

    Of an estimate that does not sum to 1, the missing or excess total counts too, as in `emd`.
    """
    return np.abs(np.cumsum(estimate - truth, axis=-1)).max(axis=-1)


def mean_error(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the absolute error of the mean, category v having the value v (bins).

    The estimated mean is the sum of v times the estimate, as it stands: where the estimate does not sum to 1, nothing
    is rescaled, as in `emd` and `range`. Its error then depends on which category has the value 0: the first.
    """
    return np.abs(((estimate - truth) * np.arange(truth.shape[-1])).sum(axis=-1))


def quantile_error(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the mean absolute error of the nine deciles (bins).

    The estimated quantile of a level is the first category at which the running sum reaches it, even if negative
    estimates take the sum below it again, and the last category if the sum never does. Nothing is rescaled. If the
    running sum of the truth meets a level exactly, the truth has several quantiles: all categories from that which
    reaches it to the first that exceeds it. The error is then the distance to the nearest of them.
    """
    last = truth.shape[-1] - 1
    reached = np.maximum.accumulate(np.cumsum(estimate, axis=-1), axis=-1).reshape(-1, last + 1)
    own = np.array([row.searchsorted(DECILES - ROUNDING) for row in reached], dtype=np.int64)
    quantiles = np.minimum(own, last).reshape(*estimate.shape[:-1], len(DECILES))
    true = np.cumsum(truth)
    low, high = (np.minimum(true.searchsorted(DECILES + slack), last) for slack in (-ROUNDING, ROUNDING))
    return np.abs(quantiles - np.clip(quantiles, low, high)).mean(axis=-1)


def topk(estimate: FloatArray, truth: FloatArray, top_values: int | None = None) -> FloatArray:
    """Return the mean squared error over the `top_values` most frequent values (default 5 %, at least 1).

    The frequent-value task of Wang et al., Section V-E; ties of the true frequencies go to the earlier category.

    Raises ValueError if `top_values` is below 1 or above k.
    """
    top = np.argsort(-truth, kind="stable")[: _top_size(truth.shape[-1], top_values)]
    return mse(_chosen(estimate, top), truth[top])


def hotspots(estimate: FloatArray, truth: FloatArray, top_values: int | None = None) -> FloatArray:
    """Return the share of the `top_values` most frequent values that the largest estimates miss (default 5 %).

    A value is found if it is among as many largest estimates; of those that tie for the last places, a share, as if
    they were drawn at random. Of true frequencies that tie for the last place, any counts.

    Raises ValueError as `topk`.
    """
    k, size = truth.shape[-1], _top_size(truth.shape[-1], top_values)
    missed, least = truth < np.sort(truth)[-size], np.partition(estimate, k - size, axis=-1)[..., k - size, None]
    above, tied = estimate > least, estimate == least
    drawn = (size - above.sum(axis=-1)) / tied.sum(axis=-1)  # share of those that tie
    return ((above & missed).sum(axis=-1) + drawn * (tied & missed).sum(axis=-1)) / size


def _top_size(k: int, top_values: int | None) -> int:
    size = max(1, round(TOP_SHARE * k)) if top_values is None else top_values
    if not 1 <= size <= k:
        raise ValueError(f"top_values must be between 1 and k={k}, got {size}")
    return size


def set_error(estimate: FloatArray, truth: FloatArray, set_share: float = SET_SHARE) -> FloatArray:
    """Return the mean squared error of the summed frequency of a random subset (frequency squared).

    The set-value task of Wang et al., Section V-D, for subsets of the share `set_share` of the domain. The mean over
    all subsets of m values has a closed form in the sum and the sum of squares of the errors; nothing is sampled.
    """
    k, size = truth.shape[-1], _set_size(truth.shape[-1], set_share)
    error = estimate - truth
    pairs = (size - 1) / (k - 1)
    squares, total = (error**2).sum(axis=-1), error.sum(axis=-1)
    return size / k * ((1 - pairs) * squares + pairs * total**2)


def set_error_clipped(
    estimate: FloatArray, truth: FloatArray, set_share: float = SET_SHARE, seed: int = 0
) -> FloatArray:
    """Return `set_error` with negative answers replaced by 0: the closed form times the share left by clipping.

    The rest is measured on 256 subsets drawn from the named stream of `seed`, the same for all estimates.
    """
    k = truth.shape[-1]
    clipped, plain = np.zeros(estimate.shape[:-1]), np.zeros(estimate.shape[:-1])
    for subset in _random_subsets(k, _set_size(k, set_share), seed):
        answer, target = _chosen(estimate, subset).sum(axis=-1), truth[subset].sum()
        clipped += (np.maximum(answer, 0.0) - target) ** 2
        plain += (answer - target) ** 2
    return set_error(estimate, truth, set_share) * _left_of(clipped, plain)


def _left_of(clipped: FloatArray, plain: FloatArray) -> FloatArray:
    """Return the ratio of two sums of errors over sampled queries, 1 where there is no error to clip."""
    return np.divide(clipped, plain, out=np.ones(np.shape(plain)), where=plain > 0)


def _set_size(k: int, share: float) -> int:
    return min(k, max(1, round(share * k)))


@lru_cache(maxsize=8)
def _random_subsets(k: int, size: int, seed: int) -> IntArray:
    rng = rng_for(seed, "queries", "set", k, size)
    return np.stack([rng.choice(k, size, replace=False, shuffle=False) for _ in range(CLIPPED_SETS)])


def sets_error(estimate: FloatArray, truth: FloatArray, sets: Sets = None) -> FloatArray:
    """Return the mean squared error of the summed frequencies of some sets (frequency squared).

    The fixed set queries of Wang et al., Section V-D.

    sets: the places of the members of each; None for each category alone.
    """
    return mse(_sums(estimate, sets), _sums(truth, sets))


def sets_error_clipped(estimate: FloatArray, truth: FloatArray, sets: Sets = None) -> FloatArray:
    """Return `sets_error` with negative answers replaced by 0."""
    return mse(np.maximum(_sums(estimate, sets), 0.0), _sums(truth, sets))


def _sums(values: FloatArray, sets: Sets) -> FloatArray:
    if sets is None:
        return values
    starts = np.cumsum([0, *map(len, sets[:-1])])
    return np.add.reduceat(_chosen(values, np.concatenate(sets)), starts, axis=-1)


def range_error(estimate: FloatArray, truth: FloatArray, ground: Places | None = None) -> FloatArray:
    """Return the mean absolute error of the frequency of a range, over all k (k + 1) / 2 ranges (frequency).

    The error of a range is a difference of two of the k + 1 running sums of the errors, and the mean absolute
    difference of all pairs follows from a sort. Of places (`ground`) the ranges are all axis-parallel rectangles of the
    grid: those of each band of rows.
    """
    rows, columns = (1, truth.shape[-1]) if ground is None else (ground.rows, ground.columns)
    error = (estimate - truth).reshape(*estimate.shape[:-1], rows, columns)
    error = error if rows <= columns else np.swapaxes(error, -1, -2)  # fewer bands, of longer rows
    sums = np.swapaxes(_running(np.swapaxes(error, -1, -2)), -1, -2)
    bands, points = error.shape[-2], error.shape[-1] + 1
    weights = 2.0 * np.arange(points) - (points - 1)
    total = np.zeros(estimate.shape[:-1])
    for first in range(bands):
        falling = np.sort(_running(sums[..., first + 1 :, :] - sums[..., first : first + 1, :]), axis=-1)
        total = total + (falling * weights).sum(axis=-1).sum(axis=-1)
    return total / (points * (points - 1) / 2 * (bands * (bands + 1) / 2))


def range_error_clipped(
    estimate: FloatArray, truth: FloatArray, seed: int = 0, ground: Places | None = None
) -> FloatArray:
    """Return `range_error` with negative answers replaced by 0: the exact mean times the share left by clipping.

    The rest is measured on 1,024 ranges drawn from the named stream of `seed`, the same for all estimates.

    Raises ValueError for places on a grid.
    """
    if ground is not None and 1 not in (ground.rows, ground.columns):
        raise ValueError("the answers for rectangles are not clipped: ask for ranges, without a ground")
    points = truth.shape[-1] + 1
    ends = np.sort(_random_ends(points, seed), axis=0)
    answer, target = (_chosen(sums, ends[1]) - _chosen(sums, ends[0]) for sums in (_running(estimate), _running(truth)))
    clipped, plain = np.abs(np.maximum(answer, 0.0) - target), np.abs(answer - target)
    return range_error(estimate, truth) * _left_of(clipped.sum(axis=-1), plain.sum(axis=-1))


@lru_cache(maxsize=8)
def _random_ends(points: int, seed: int) -> IntArray:
    rng = rng_for(seed, "queries", "range", points)
    first = rng.integers(0, points, size=CLIPPED_RANGES)
    return np.stack([first, (first + rng.integers(1, points, size=CLIPPED_RANGES)) % points])


def _chosen(values: FloatArray, places: IntArray) -> FloatArray:
    """Pick categories. Indexing would lay the result out by batch size, and sums over it would change their digits."""
    return np.take(values, places, axis=-1)


def _running(values: FloatArray) -> FloatArray:
    """Return running sums with the empty sum in front, ``(..., k + 1)``."""
    start = np.zeros((*values.shape[:-1], 1))
    return np.concatenate([start, np.cumsum(values, axis=-1)], axis=-1)


# Functions that take a truth of ``(..., k)``: all but those that need the same truth for all rows.
_BY_ROWS = frozenset([l1, mae, tv, mse, l2, kl, js, emd, set_error, sets_error, range_error, mean_error, ks])

_bins = partial(Metric, unit="bins", ordered_only=True)
_squared = partial(Metric, unit="frequency²", degree=2)

_QUANTILES = ("quantile", "decile", "deciles", "median", "percentile", "percentiles")
_ALL = [
    Metric("l1", "sum of absolute errors", l1, unit="frequency"),
    Metric(
        "mae",
        "mean absolute error",
        mae,
        unit="frequency per category",
        same_order_as="l1",
        aliases=("meanabsoluteerror",),
    ),
    Metric("tv", "total variation distance", tv, unit="frequency", same_order_as="l1", aliases=("totalvariation",)),
    _squared("mse", "mean squared error", mse),
    Metric("l2", "Euclidean distance", l2, unit="frequency", same_order_as="mse"),
    Metric("kl", "Kullback-Leibler divergence", kl, unit="nats", degree=2, aliases=("kld",)),
    Metric("js", "Jensen-Shannon divergence", js, unit="nats", degree=2, aliases=("jensenshannon",)),
    _bins("emd", "earth mover's distance", emd, aliases=("wasserstein", "earthmover")),
    _squared("topk", "mean squared error of the most frequent values", topk, aliases=("top",)),
    Metric("hotspots", "share of the most frequent values that are missed", hotspots, unit="share"),
    _squared("set", "mean squared error of random subsets", set_error, clipped=set_error_clipped),
    _squared(
        "sets",
        "mean squared error of given sets",
        sets_error,
        clipped=sets_error_clipped,
        same_order_as="mse",
        aliases=("fixedset", "fixedsets"),
    ),
    Metric(
        "range",
        "mean absolute error of random ranges",
        range_error,
        unit="frequency",
        ordered_only=True,
        clipped=range_error_clipped,
        aliases=("ranges", "rectangle", "rectangles"),
    ),
    _bins("mean", "absolute error of the mean", mean_error, aliases=("average", "meanerror")),
    _bins("quantiles", "mean absolute error of the nine deciles", quantile_error, aliases=_QUANTILES),
    _bins("ks", "Kolmogorov-Smirnov distance", ks, unit="frequency", aliases=("kolmogorov", "kolmogorovsmirnov")),
]

EMD_SLACK = _bins("emd_slack", "largest relative error of the earth mover's distance", emd_slack, unit="")

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
