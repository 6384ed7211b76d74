"""The order that labels have for people: ranges, dates, weekdays, sizes, answers on a scale."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from advisor.inputs.orders.dates import date_fits
from advisor.inputs.orders.fit import Fit
from advisor.inputs.orders.ranges import range_fit
from advisor.inputs.orders.words import word_fits

__all__ = ["Fit", "recognised"]


def recognised(labels: Sequence[str]) -> tuple[Fit, Fit | None] | None:
    """Return the order that labels fit best, and another one that they fit as well and that differs; None if none.

    Best is what leaves the fewest labels without a place; of those the first of ranges, dates and words.

    >>> recognised(["5-9", "10-14", "0-4"])[0].labels, recognised(["apple", "pear"])
    (['0-4', '5-9', '10-14'], None)
    """
    names = list(labels)
    ranges = range_fit(names)
    every = list(chain([] if ranges is None else [ranges], date_fits(names), word_fits(names)))
    if not every:
        return None
    fewest = min(len(one.outside) for one in every)
    first, *others = (one for one in every if len(one.outside) == fewest)
    return first, next((one for one in others if one.labels not in (first.labels, first.labels[::-1])), None)
