"""In which order a look-up lists pairs: tiers that the prediction tells apart, and what comes first in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from knowledge.describe.noises import cancelling
from knowledge.ranking import Row
from simulator import Noise
from simulator.ranking import PRACTICAL_RATIO

SAME = 1.01  # noise, or predicted errors, within 1 % of the lowest are as good as equal: the shorter report comes first
DOUBT = 0.5  # standard deviations of the ratio of two predictions that do not count as a difference
MOST = 1.25  # over the lowest predicted error: more than that is never listed first, whatever speaks for it
DEVIATIONS = 1.96  # between a ratio and the end of its 95 % interval
ADDED_UP = frozenset(
    {"emd", "range", "set", "mean", "quantiles", "ks"}
)  # metrics of sums, where it matters whether noise cancels

# The method of the pair that is best for all questions together on the shapes of `knowledge.judging.holdout`. The
# lowest of many predictions within 5 % of each other is hardly ever the lowest error; this one is never far off.
STEADY = {
    "l1": "eb_ns",
    "mae": "eb_ns",
    "mse": "eb_ns",
    "l2": "eb_ns",
    "kl": "eb_ns",
    "js": "eb_ns",
    "emd": "wavelet_eb",
    "topk": "base_pos",
    "set": "eb_ns",
    "range": "wavelet_eb",
    "mean": "wavelet_eb",
    "quantiles": "wavelet_eb",
    "ks": "wavelet_eb",
}


def tiers(rows: Sequence[Row], bits: Mapping[str, int], noises: Mapping[str, Noise], metric: str) -> list[list[Row]]:
    """Split rows where the prediction tells them apart from the lowest error by 5 %; the rest in the same way again.

    The same method is no worse under a protocol that makes no more noise, unless it is predicted to be by 5 % for sure.

    The first tier begins with the steady method, unless another is predicted to be better by 5 % and by half the
    standard deviation of that ratio, or some protocols have no noise of one scale: with the protocols that make the
    least noise, the shortest report first.
    Otherwise it begins with what is predicted within 1 % of the lowest error, in the same order.

    rows: by rising error.
    bits, noises: size of a report of each protocol, and noise of those that have one of one scale.
    metric: what the errors are of.
    """
    split: list[list[Row]] = []
    left = list(rows)
    while left:
        near, left = _parted(left, noises, metric)
        split.append(near)
    leading = _leading(rows, bits, noises, metric)
    first = set(map(id, leading))
    others = [[row for row in tier if id(row) not in first] for tier in split]
    return [[*leading, *others[0]], *(tier for tier in others[1:] if tier)]


def _parted(rows: Sequence[Row], noises: Mapping[str, Noise], metric: str) -> tuple[list[Row], list[Row]]:
    """Return the rows that the prediction does not tell apart from the first, and the others."""
    leader = rows[0]
    lowest, method, noise = leader.ratio, leader.method, noises.get(leader.protocol)
    limit = PRACTICAL_RATIO * lowest
    near: list[Row] = []
    others: list[Row] = []
    for row in rows:
        if (
            row.ratio < limit
            or row.ratio_low <= lowest
            or (row.method == method and row.ratio_low <= limit and _as_quiet(noises.get(row.protocol), noise, metric))
        ):
            near.append(row)
        else:
            others.append(row)
    return near, others


def _leading(rows: Sequence[Row], bits: Mapping[str, int], noises: Mapping[str, Noise], metric: str) -> list[Row]:
    possible = (row for row in rows if row.ratio < MOST and row.ratio_low <= PRACTICAL_RATIO)
    alike = all(row.protocol in noises for row in rows)
    steady = [row for row in possible if row.method == STEADY[metric]] if alike else []
    if any(map(_no_worse, steady)):
        # What one method errs by under two protocols, the formulas of their noise tell better than the prediction.
        own = [noises[row.protocol] for row in steady]
        least = min(own, key=lambda noise: (noise.variance_at_zero, noise.variance_slope, -cancelling(noise)))
        leading = [row for row in steady if _as_quiet(noises[row.protocol], least, metric)]
    else:
        leading = [row for row in rows if row.ratio < SAME]
    return sorted(leading, key=lambda row: (bits[row.protocol], row.error))


def _no_worse(row: Row) -> bool:
    """Tell whether the prediction is too close to the lowest error, or too unsure, to call the pair worse."""
    deviation = math.log(row.ratio / row.ratio_low) / DEVIATIONS
    return math.log(row.ratio) < max(math.log(PRACTICAL_RATIO), DOUBT * deviation)


def _as_quiet(noise: Noise | None, other: Noise | None, metric: str) -> bool:
    """Tell whether the sd is within 1 % of the other's, of rare values and of one that all hold, or below it.

    Not where one has no noise of one scale.
    """
    if noise is None or other is None:
        return False
    ends = [(one.variance_at_zero, one.variance_at_zero + one.variance_slope) for one in (noise, other)]
    if any(own > SAME**2 * most for own, most in zip(*ends, strict=True)):
        return False
    return metric not in ADDED_UP or cancelling(noise) > cancelling(other) - (SAME - 1)
