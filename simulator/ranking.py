"""From errors of repetitions to a ranking: paired ratios, their intervals, ties called ties."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from simulator._types import FloatArray

Pair: TypeAlias = tuple[str, str]
Cost: TypeAlias = tuple[float | str, ...]  # of a report: bits, work of the server, success of an attack, protocol

SQUARED = "frequency²"  # unit of metrics that are means of squares
PRACTICAL_RATIO = 1.05  # a smaller disadvantage is no reason to prefer another pair
DIGITS = 6  # of a ratio; larger errors differ only by rounding
MOST = 1.25  # over the lowest error: pairs with a higher one are not named, however uncertain it is
AS_GOOD = 1.01  # errors within 1 % of each other are called equal
CONFIDENCE = 0.95
LEAST_SKEW = 1e-6  # of a mean, below which the correction of its interval is rounding
FLOOR = 1e-9  # errors below it are rounding; of squared ones their roots
# Units of metrics whose small values are squares: those of frequencies, and divergences, of which 1e-16 are rounding
FLOORS = {SQUARED: FLOOR**2, "nats": 1e-14}
SHOWN = 6  # repetitions with an error, none without: less than one in 20 such runs are chance
NOTHING = 1e-12  # of another error: an error below it is 0 but for rounding, and nothing is divided by it
SAME = 1e-9  # relative difference up to which two errors are the same but for rounding


def without_rounding(errors: FloatArray, unit: str) -> FloatArray:
    """Return errors, with 0 for errors below the floor of the metric's unit.

    >>> without_rounding(np.array([1e-10, 1e-15]), "frequency"), without_rounding(np.array([1e-10, 1e-15]), "nats")
    (array([0., 0.]), array([1.e-10, 0.e+00]))
    """
    return np.where(errors < FLOORS.get(unit, FLOOR), 0.0, errors)


class Ratio(NamedTuple):
    """Ratio of two mean errors and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_tie(self) -> bool:
        """Whether the interval includes 1, or the ratio is under 1.05."""
        return self.low <= 1 or self.value < PRACTICAL_RATIO

    @property
    def is_racing(self) -> bool:
        """Whether a 5 % disadvantage is not proven."""
        return self.low <= PRACTICAL_RATIO

    @property
    def is_open(self) -> bool:
        """Whether the interval includes both 1 and a 5 % disadvantage, so that more repetitions could still decide."""
        return self.low <= 1 and self.high > PRACTICAL_RATIO

    @property
    def figures(self) -> tuple[float | None, float | None, float | None]:
        """What is shown of it: None for what is infinite, and for all where the reference is `NOTHING`."""
        value, low, high = (figure if math.isfinite(figure) else None for figure in self)
        return (None, None, None) if self.value > 1 / NOTHING else (value, low, high)


def quotient(error: float | None, reference: float | None) -> float | None:
    """Return an error over another one; None if either is missing, or the other one is `NOTHING`.

    >>> quotient(1.0, 0.5), quotient(1.0, 1e-13), quotient(0.0, 0.0)
    (2.0, None, None)
    """
    return None if error is None or not reference or reference < NOTHING * error else error / reference


def preference(ratio: float, cost: Cost) -> tuple[bool, Cost, float]:
    """Return the sort key for the choice of a pair: the same rule wherever pairs are compared.

    Within 5 % of the lowest error the cheapest report comes first, then the lower error; beyond, the lower error. A
    smaller difference is no reason to prefer a pair: another seed would pick another pair.

    ratio: error over the lowest error.

    >>> sorted([(1.0, (64,)), (1.04, (7,)), (1.06, (1,))], key=lambda pair: preference(*pair))
    [(1.04, (7,)), (1.0, (64,)), (1.06, (1,))]
    """
    rounded = round(ratio, DIGITS)
    return (False, cost, rounded) if ratio <= PRACTICAL_RATIO else (True, (), rounded)


def preferred(ratios: Mapping[Pair, Ratio], costs: Mapping[str, Cost], variances: Mapping[str, float]) -> Pair:
    """Return the pair to name among simulated ones: of the most precise reports still in the race the cheapest.

    Of the pairs whose disadvantage of 5 % is not proven and whose error is at most a quarter above the lowest, those
    count whose raw estimate has a mean variance within 5 % of the least. That variance is exact, so another seed names
    the same protocol, as a rule; errors alone change places from seed to seed. They decide where there is no such
    variance: pairs within 5 % of the lowest error count.

    ratios: over the lowest error.
    costs, variances: of a report, and of the raw estimate of protocols that have one.
    """
    leader = min(ratios, key=lambda pair: ratios[pair].value)
    racing = [pair for pair, ratio in ratios.items() if ratio.is_racing and ratio.value <= MOST]
    known = variances if leader[0] in variances else {}
    least = min((known[protocol] for protocol, _ in racing if protocol in known), default=math.inf)
    precision = {pair: known[pair[0]] / least if pair[0] in known else ratios[pair].value for pair in racing}
    near = [pair for pair in racing if round(precision[pair], DIGITS) <= PRACTICAL_RATIO]
    return min(near, key=lambda pair: (costs[pair[0]], round(ratios[pair].value, DIGITS)))


class Place(NamedTuple):
    """Position of a pair among several."""

    at: int  # its place among the pairs that were given
    rank: int  # 1 for all that are tied with the lowest error, else 1 and the number of lower errors
    tied: bool  # whether it shares rank 1 with others


def places(
    ratios: Sequence[float], ties: Sequence[bool], costs: Sequence[Cost], named: int | None = None
) -> tuple[Place, ...]:
    """Return the pairs in display order: the recommended pair, then by rising error.

    ratios, ties, costs: of each pair the error over the lowest error, whether it is tied with the lowest, and the cost.
    named: the recommended pair, if chosen by another rule.

    >>> [place.at for place in places([1.0, 1.2, 1.03], [True, False, True], [(9,), (9,), (8,)])]
    [2, 0, 1]
    """
    by_error = sorted(range(len(ratios)), key=lambda index: (round(ratios[index], DIGITS), index))
    chosen = named
    if chosen is None:
        chosen = min(by_error, key=lambda index: (not ties[index], *preference(ratios[index], costs[index])))
    several = sum(ties) > 1
    rising = [round(ratios[index], DIGITS) for index in by_error]
    standing = [
        Place(index, 1 if ties[index] else 1 + bisect_left(rising, ratio), ties[index] and several)
        for index, ratio in zip(by_error, rising, strict=True)
    ]
    return tuple(sorted(standing, key=lambda place: place.at != chosen))


class Contenders(NamedTuple):
    """Pairs still in the race for the first rank (no proven 5 % disadvantage), and pairs still undecided."""

    racing: frozenset[Pair]
    open: frozenset[Pair]


class MeanError(NamedTuple):
    """Mean error over repetitions and its 95 % interval; infinite where a repetition has no finite error."""

    error: float
    low: float
    high: float
    # standard_error, spread: of the mean, and from run to run
    standard_error: float
    spread: float


class Standing(NamedTuple):
    """A pair in a ranking."""

    pair: Pair  # (protocol, method)
    # rank, tied: see `Place`
    rank: int
    tied: bool
    repetitions: int  # repetitions behind the figures
    # error, low, high: mean error and its 95 % interval
    error: float
    low: float
    high: float
    # standard_error, spread: standard error of the mean, and standard deviation from run to run
    standard_error: float
    spread: float
    # mean error over that of the pair with the lowest, paired repetition by repetition; infinite if that is `NOTHING`
    ratio: Ratio
    # Share of all repetitions in which the pair had the lowest error; pairs that had dropped out do not win
    win_share: float


@lru_cache(maxsize=512)
def t_quantile(repetitions: int) -> float:
    """Return the two-sided quantile of Student's t for the 95 % interval of the mean of n repetitions."""
    from scipy.special import stdtrit  # imported when used: advice without simulation needs no scipy

    return float(stdtrit(repetitions - 1, (1 + CONFIDENCE) / 2))


def mean_error(errors: FloatArray, lowest: FloatArray | None = None) -> MeanError:
    """Return the mean of ``(repetitions,)`` errors, at least two, with its interval.

    A t interval, corrected for the skewness of the errors (Hall, "On the removal of skewness by transformation", J. R.
    Stat. Soc. B 1992): squared errors of a category are so skewed that a plain interval covers the mean of 20 in 89 of
    100 cases.

    lowest: errors of the leading pair over as many repetitions or more. The mean of fewer is scaled by how easy these
        were for it; its variance is that of a ratio estimate with double sampling (Cochran, "Sampling Techniques",
        section 12.9): what the leading pair explains is averaged over all repetitions, the rest over these.
    """
    repetitions, share, first = len(errors), 1.0, np.zeros(len(errors))
    if lowest is not None and repetitions < len(lowest):
        before, whole = _mean(lowest[:repetitions]), _mean(lowest)
        if before and math.isfinite(whole):
            share, first = repetitions / len(lowest), lowest[:repetitions] / before
            errors = errors * (whole / before)
    error = _mean(errors)
    if math.isinf(error):
        return MeanError(error, error, error, error, error)
    spread = float(errors.std(ddof=1))
    unexplained = float((errors - error * first).std(ddof=1))
    standard_error = math.sqrt((share * spread**2 + (1 - share) * unexplained**2) / repetitions)
    quantile = t_quantile(repetitions)
    below, above = (_unskewed(sign * quantile, errors) * standard_error for sign in (1, -1))
    return MeanError(error, max(0.0, error - below), error - above, standard_error, spread)


def _unskewed(quantile: float, errors: FloatArray) -> float:
    """Return which standardised mean of such errors has the probability of a symmetric quantile."""
    spread = float(errors.std())
    skew = float((((errors - errors.mean()) / spread) ** 3).mean()) / math.sqrt(len(errors)) if spread else 0.0
    if abs(skew) < LEAST_SKEW:
        return quantile
    return 3 / skew * (math.cbrt(1 + skew * (quantile - skew / 6)) - 1)


def _mean(errors: FloatArray) -> float:
    """Return the mean, infinite if any error is not finite: nothing is worse than that."""
    return float(errors.mean()) if np.isfinite(errors).all() else math.inf


def paired_ratio(errors: FloatArray, reference: FloatArray) -> Ratio:
    """Return mean(errors) / mean(reference) over the repetitions both have, with a 95 % delta-method interval.

    The standard error is that of ``errors - ratio * reference``, so noise that the two share cancels. Where the
    reference has no error at all, the ratio is 1 if neither has the other, and infinite otherwise; likewise where an
    error is not finite. Five repetitions with an error, or fewer, may be chance (sign test): the interval includes 1.
    """
    size = min(len(errors), len(reference))
    a, b = errors[:size], reference[:size]
    mean, base = _mean(a), _mean(b)
    if base == 0.0 or math.isinf(mean) or math.isinf(base):
        value = 1.0 if mean == base else math.inf if mean > base else 0.0
        shown = math.isinf(mean) or np.count_nonzero(a) >= SHOWN
        return Ratio(value, value if shown else 1.0, value)
    value = mean / base
    reach = t_quantile(size) * float((a - value * b).std(ddof=1)) / math.sqrt(size) / base
    return Ratio(value, max(0.0, value - reach), value + reach)


RatioOf: TypeAlias = Callable[[FloatArray, FloatArray], Ratio]


def leading(errors: Mapping[Pair, FloatArray]) -> Pair:
    """Return the pair with the lowest mean error of those that have most repetitions.

    Those with fewer were proven to be worse than a leader: the mean of the repetitions they have may be lower only
    because these were easy for all.
    """
    longest = max(map(len, errors.values()))
    return min((pair for pair, block in errors.items() if len(block) == longest), key=lambda pair: _mean(errors[pair]))


def contenders(errors: Mapping[Pair, FloatArray], ratio: RatioOf = paired_ratio) -> Contenders:
    """Return which pairs may still belong to the first rank, and for which more repetitions could decide."""
    if not errors:
        return Contenders(frozenset(), frozenset())
    leader = leading(errors)
    ratios = {pair: ratio(block, errors[leader]) for pair, block in errors.items()}
    return Contenders(
        frozenset(pair for pair, found in ratios.items() if found.is_racing),
        frozenset(pair for pair, found in ratios.items() if found.is_open),
    )


def rank(
    errors: Mapping[Pair, FloatArray],
    cost: Mapping[str, Cost],
    ratio: RatioOf = paired_ratio,
    variances: Mapping[str, float] | None = None,
) -> tuple[Standing, ...]:
    """Rank pairs by mean error: the recommended pair first, then by rising error.

    A pair is tied with the lowest error if it is within 5 % of it, or its paired 95 % interval includes 1; so is the
    recommended pair, see `preferred`. Errors are compared over the repetitions that both have, never over different
    ones; a mean of fewer repetitions is scaled by
    how easy these were for the lowest error. A pair without a finite mean error is worse than any pair with a finite
    mean error.

    errors: for each pair ``(repetitions,)`` errors in a metric, at least two.
    cost: of a report, by protocol.
    ratio: how two blocks of errors are compared.
    variances: mean variance of the raw estimate, by protocol; without those that have none.
    """
    if not errors:
        return ()
    leader, wins = leading(errors), win_shares(errors)
    lowest = errors[leader]
    ratios = {pair: ratio(block, lowest) for pair, block in errors.items()}
    named = preferred(ratios, cost, variances or {})
    # Where nothing can be divided by the lowest error, the errors themselves order the others.
    pairs = sorted(errors, key=lambda pair: _mean(errors[pair]) if math.isinf(ratios[pair].value) else 0.0)
    order = places(
        [ratios[pair].value for pair in pairs],
        [pair in (leader, named) or ratios[pair].is_tie for pair in pairs],
        [cost[pair[0]] for pair in pairs],
        pairs.index(named),
    )
    if any(1 / NOTHING < ratio.value < math.inf for ratio in ratios.values()):
        none = Ratio(math.inf, math.inf, math.inf)
        ratios = {pair: one if round(one.value, DIGITS) <= 1 else none for pair, one in ratios.items()}
    return tuple(
        Standing(
            pair,
            rank=place.rank,
            tied=place.tied,
            repetitions=len(errors[pair]),
            **mean_error(errors[pair], lowest)._asdict(),
            ratio=ratios[pair],
            win_share=wins[pair],
        )
        for place in order
        for pair in [pairs[place.at]]
    )


def win_shares(errors: Mapping[Pair, FloatArray]) -> dict[Pair, float]:
    """Return the share of repetitions that each pair won; pairs that differ by rounding only split the win."""
    longest = max(map(len, errors.values()))
    table = np.full((len(errors), longest), np.inf)
    for row, block in zip(table, errors.values(), strict=True):
        row[: len(block)] = np.where(np.isfinite(block), block, np.inf)
    lowest = table.min(axis=0)
    won = table <= lowest + SAME * np.abs(lowest)
    shares = (won / won.sum(axis=0)).mean(axis=1)
    return {pair: float(share) for pair, share in zip(errors, shares, strict=True)}
