"""Small pictures of a row's ratio to the lowest error, in characters and as SVG, on an axis that all rows share."""

from __future__ import annotations

import math

from simulator.ranking import PRACTICAL_RATIO, Ratio

START, END = 0.9, 3.0  # of the logarithmic axis
CELLS = 20  # characters
TICKS = (1, 2, 3)
WIDTH, HEIGHT = 120, 16  # pixels


def place(ratio: float) -> float:
    """Return where a ratio stands on the axis, from 0 to 1.

    >>> place(0.5), round(place(1.0), 2), place(3.0), place(math.inf)
    (0.0, 0.09, 1.0, 1.0)
    """
    return math.log(min(max(ratio, START), END) / START) / math.log(END / START)


def axis_text() -> str:
    """Return the ticks of the axis.

    >>> axis_text()
    '  1×         2×    3×'
    """
    cells = [" "] * (CELLS + 1)
    for tick in TICKS:
        at = _cell(tick)
        cells[at : at + 2] = f"{tick}×"
    return "".join(cells)


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio as a dot, or as an arrow at the end of the axis, on a line that is its interval.

    >>> ratio_text(Ratio(1.2, 0.97, 1.6)), ratio_text(Ratio(5.0, 4.0, 6.0))
    (' ────●────', '                   ▸')
    """
    at, low, high = map(_cell, ratio)
    cells = [" "] * CELLS
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[at] = "●" if ratio.value <= END else "▸"
    return "".join(cells).rstrip()


def ratio_svg(ratio: Ratio) -> str:
    """Return a ratio as a picture in the colour of the text, shaded up to 5 %; a ratio beyond the axis is an arrow."""
    at, low, high, edge = (round(6 + (WIDTH - 12) * place(one), 1) for one in (*ratio, PRACTICAL_RATIO))
    middle = HEIGHT / 2
    dot, arrow = f'<circle cx="{at}" cy="{middle}" r="3.5"/>', f'<path d="M{at - 3} {middle - 4}l7 4l-7 4z"/>'
    return (
        f'<svg class="ratio" width="{WIDTH}" height="{HEIGHT}" role="img" fill="currentColor" '
        f'aria-label="{ratio.value:.2f} times the lowest error"><rect width="{edge}" height="{HEIGHT}" opacity=".15"/>'
        f'<path d="M{low} {middle}H{high}" stroke="currentColor" stroke-width="1.5"/>'
        f"{dot if ratio.value <= END else arrow}</svg>"
    )


def _cell(ratio: float) -> int:
    return round((CELLS - 1) * place(ratio))
