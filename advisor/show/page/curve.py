"""The curve behind figures that move with two dials: where its lines, ticks and dots stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby

from advisor.show.model import Explorer

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 26, 40
KINDS = ("main", "second", "third")  # of the curves, in their order
NEAR = 28  # between two labels of the axis, at least


class _Scale:
    """A logarithmic axis from one end of a picture to the other."""

    def __init__(self, values: Iterable[float], start: float, end: float) -> None:
        known = [value for value in values if value > 0]
        low, high = math.log10(min(known)), math.log10(max(known))
        margin = 0.04 * (high - low) or 0.1
        self.low, self.high, self.start, self.end = low - margin, high + margin, start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return powers of ten, with 2 and 5 times them where there are few."""
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1,) if self.high - self.low > 2.5 else (1, 2, 5)
        ticks = (step * 10.0**power for power in powers for step in steps)
        return [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]


def curve_of(explorer: Explorer) -> dict[str, object]:
    """Return the curves along the first dial as the page draws them.

    width, height, left, right, bottom: of the picture, and its axes, in pixels. rows, columns: ticks of the axes, each
    with its figure; None for one without a label. lines: a kind, the value of the second dial, and points of each.
    dots: of the first curve, for each value of the second dial and of the first; None where there is none.
    """
    values = explorer.dials[0].values
    x = _Scale(values, LEFT, WIDTH - RIGHT)
    figures = (value for curve in explorer.curves for row in curve.values for value in row if value is not None)
    y = _Scale(figures, HEIGHT - BOTTOM, TOP)
    along = tuple(map(x, values))
    dots = [
        [[(a, y(value)) if value else None for a, value in zip(along, row, strict=True)] for row in curve.values]
        for curve in explorer.curves
    ]
    columns: list[tuple[float, float | None]] = []
    last = -math.inf
    for at, value in zip(along, values, strict=True):
        labelled = at - last >= NEAR
        columns.append((at, value if labelled else None))
        last = at if labelled else last
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "rows": [(y(tick), tick) for tick in y.ticks()],
        "columns": columns,
        "lines": [
            (kind, second, run)
            for kind, rows in zip(KINDS, dots, strict=False)
            for second, row in enumerate(rows)
            for known, points in groupby(row, key=bool)
            if known and len(run := list(points)) > 1
        ],
        "dots": dots[0],
        "own": dots[0][explorer.dials[1].at][explorer.dials[0].at] or (LEFT, TOP),
        "kinds": KINDS,
    }
