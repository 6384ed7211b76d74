"""In which order a look-up lists pairs: tiers that the prediction tells apart, and what comes first in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from simulator.ranking import PRACTICAL_RATIO

if TYPE_CHECKING:
    from knowledge.grid import Row

Option = TypeVar("Option")
SAME = 1.02  # predicted errors within 2 % of the lowest are as good as equal: the shorter report comes first

# The method of the pair that is best for all questions together on the shapes of `knowledge.unseen`. The lowest of many
# predictions that are within 5 % of each other is hardly ever the lowest error; this method is at least never far off.
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
}


def first(errors: Mapping[Option, float], bits: Mapping[Option, int], steady: Collection[Option]) -> Option:
    """Return which option is listed first.

    Of those with the steady method if one is predicted within 5 % of the lowest error, else of all: the shortest report
    of those within 2 % of the lowest.

    Parameters
    ----------
    errors, bits
        Predicted error of each option, and the size of its report.
    steady
        The options with the method of `STEADY`.
    """
    return _leading(errors, bits, steady)[0]


def _leading(errors: Mapping[Option, float], bits: Mapping[Option, int], steady: Collection[Option]) -> list[Option]:
    """Return the options that are as good as the first one, in the order of the list."""
    near = [option for option in steady if errors[option] < PRACTICAL_RATIO * min(errors.values())]
    pool = near or list(errors)
    lowest = min(errors[option] for option in pool)
    leading = [option for option in pool if errors[option] < SAME * lowest]
    return sorted(leading, key=lambda option: (bits[option], errors[option]))


def tiers(rows: Sequence[Row], bits: Mapping[str, int], metric: str) -> list[list[Row]]:
    """Split rows where the prediction tells them apart from the lowest error by 5 %; the rest in the same way again.

    Parameters
    ----------
    rows
        By rising error.
    bits
        Size of a report of each protocol.
    metric
        What the errors are of.
    """
    split: list[list[Row]] = []
    left = list(rows)
    while left:
        leader = left[0]
        apart = [
            row.ratio / leader.ratio >= PRACTICAL_RATIO and row.ratio_low / leader.ratio > 1 and row is not leader
            for row in left
        ]
        split.append([row for row, is_apart in zip(left, apart, strict=True) if not is_apart])
        left = [row for row, is_apart in zip(left, apart, strict=True) if is_apart]
    leading = _leading(
        {row: row.error for row in rows},
        {row: bits[row.protocol] for row in rows},
        [row for row in rows if row.method == STEADY[metric]],
    )
    split[0] = [*leading, *(row for row in split[0] if row not in set(leading))]
    return split
