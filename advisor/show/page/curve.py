"""The curve behind figures that move with two dials: where its lines, bands, ticks and dots stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from advisor.show.model import Explorer
from advisor.show.pictures.style import apart, plain

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 98, 28, 40  # at the right stand the names of the lines
KINDS = ("main", "second", "third")  # of the curves, in their order
NEAR, LINE = 20, 12  # between two labels of the axis, and of two lines, at least


class _Scale:
    """A logarithmic axis from one end of a picture to the other."""

    def __init__(self, values: Iterable[float], start: float, end: float) -> None:
        known = [value for value in values if value > 0]
        low, high = math.log10(min(known)), math.log10(max(known))
        margin = 0.04 * (high - low) or 0.1
        self.low, self.high, self.start, self.end = low - margin, high + margin, start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low) if value > 0 else 0.0
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return powers of ten, with 2 and 5 times them where there are few."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1,) if self.high - self.low > 2.5 else (1, 2, 5)
        ticks = (step * 10.0**power for power in powers for step in steps)
        return [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]


def curve_of(explorer: Explorer) -> dict[str, Any]:
    """Return the curves along the first dial as the page draws them.

    width, height, left, right, bottom: of the picture, and its axes, in pixels. rows, columns: ticks of the axes, each
    with its text; "" for one without a label. shapes: an element, its kind, the value of the second dial, and points of
    each. ends: the value of the second dial at the end of its line, in words, with the height. dots: of the first
    curve, for each value of the second dial and of the first; None where there is none.
    """
    first, second = explorer.dials
    x = _Scale(first.values, LEFT, WIDTH - RIGHT)
    figures = (value for curve in explorer.curves for row in curve.values for value in row if value is not None)
    y = _Scale(figures, HEIGHT - BOTTOM, TOP)
    along = tuple(map(x, first.values))
    dots = [
        [[(a, y(value)) if value else None for a, value in zip(along, row, strict=True)] for row in curve.values]
        for curve in explorer.curves
    ]
    bands = [
        [(a, y(high)) for a, (_, high) in zip(along, row, strict=True)]
        + [(a, y(low)) for a, (low, _) in zip(along[::-1], row[::-1], strict=True)]
        for row in explorer.curves[0].intervals
    ]
    lines = [
        ("polyline", kind, place, run)
        for kind, rows in zip(KINDS, dots, strict=False)
        for place, row in enumerate(rows)
        for known, points in groupby(row, key=bool)
        if known and len(run := [point for point in points if point]) > 1
    ]
    last = sorted((run[-1][1], place) for _, kind, place, run in lines if kind == KINDS[0])
    heights = apart([height for height, _ in last], LINE, HEIGHT - BOTTOM)
    columns: list[tuple[float, str]] = []
    for at, value in zip(along, first.values, strict=True):
        labelled = all(not text or at - before >= NEAR for before, text in columns)
        columns.append((at, plain(value) if labelled else ""))
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "rows": [(y(tick), plain(tick)) for tick in y.ticks()],
        "columns": columns,
        "shapes": [*(("polygon", "band", place, band) for place, band in enumerate(bands)), *lines],
        "ends": [
            (place, height, f"{'n = ' if height == heights[0] else ''}{plain(second.values[place], 3)}")
            for (_, place), height in zip(last, heights, strict=True)
        ],
        "dots": dots[0],
        "own": dots[0][second.at][first.at] or (LEFT, TOP),
        "kinds": KINDS,
    }
